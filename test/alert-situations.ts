/** What makes each alert fire, and a like situation in which it is silent: series of Prometheus, one value a minute. */
import type { ReasonCode } from "../src/api/reasons.ts";

export interface Situation {
  /** Series → values, in promtool's notation. */
  readonly fires: Readonly<Record<string, string>>;
  readonly silent: Readonly<Record<string, string>>;
  /** When to look; longer than the alert's own wait. */
  readonly at: string;
  /** Labels of the alert beside its severity. */
  readonly labels?: Readonly<Record<string, string>>;
}

const calls = (code: string): string =>
  `csi_sidecar_operations_seconds_count{driver_name="d",grpc_status_code="${code}"}`;
const leader = (name: string): string => `leader_election_master_status{name="${name}"}`;
const rejections = (type: string): string =>
  `apiserver_admission_webhook_rejection_count{name="snapshot.webhook-validation.storage.sigs.k8s.io",error_type="${type}"}`;
const about = (component: string, reason: ReasonCode): string => `{component="${component}",reason="${reason}"}`;
const waiting = (...of: Parameters<typeof about>): string => `snapkeep_waiting_objects${about(...of)}`;
const longestWait = (...of: Parameters<typeof about>): string => `snapkeep_longest_wait_seconds${about(...of)}`;
const expiry = "snapshot_webhook_certificate_expiry_timestamp_seconds";
const [snapshotter, provisioner] = ["external-snapshotter-leader-directory-snapkeep-dev", "directory-snapkeep-dev"].map(
  leader,
) as [string, string];

export const situations: Readonly<Record<string, Situation>> = {
  SnapshotNotReady: {
    fires: { snapshot_controller_oldest_unready_snapshot_seconds: "850+60x10" },
    silent: { snapshot_controller_oldest_unready_snapshot_seconds: "0+60x10" },
    at: "5m",
  },
  SnapshotDeletionStuck: {
    fires: { snapshot_controller_stuck_deletions: "1x10" },
    silent: { snapshot_controller_stuck_deletions: "0x10" },
    at: "5m",
  },
  SnapshotErrors: {
    fires: {
      snapshot_controller_operation_errors_total: "0+2x40",
      snapshot_controller_operation_total_seconds_count: "0+1x40",
    },
    silent: {
      snapshot_controller_operation_errors_total: "0+1x40",
      snapshot_controller_operation_total_seconds_count: "0+10x40",
    },
    at: "30m",
  },
  InvalidSnapshotObjects: {
    fires: { 'snapshot_controller_invalid_objects{kind="VolumeSnapshot"}': "1x30" },
    silent: { 'snapshot_controller_invalid_objects{kind="VolumeSnapshot"}': "0x30" },
    at: "20m",
  },
  SnapshotControllerHasNoLeader: {
    fires: { [leader("snapshot-controller-leader")]: "0x10" },
    silent: { [leader("snapshot-controller-leader")]: "1x10" },
    at: "5m",
  },
  ObjectsWait: {
    fires: {
      [waiting("csi-snapshotter", "DriverFailed")]: "3x10",
      [longestWait("csi-snapshotter", "DriverFailed")]: "850+60x10",
    },
    silent: {
      // New objects all the time, none of them for long; and one that waits for nobody but a pod.
      [waiting("csi-snapshotter", "DriverFailed")]: "3x10",
      [longestWait("csi-snapshotter", "DriverFailed")]: "60x10",
      [waiting("csi-provisioner", "WaitsForNode")]: "1x10",
      [longestWait("csi-provisioner", "WaitsForNode")]: "86400+60x10",
      // What is over is shown as 0.
      [waiting("snapshot-controller", "ClaimNotFound")]: "0x10",
      [longestWait("snapshot-controller", "ClaimNotFound")]: "0x10",
    },
    at: "5m",
    labels: { component: "csi-snapshotter", reason: "DriverFailed" },
  },
  SidecarHasNoLeader: {
    fires: { [snapshotter]: "1x10", [provisioner]: "0x10" },
    silent: { [snapshotter]: "1x10", [provisioner]: "1x10" },
    at: "5m",
  },
  DriverErrors: {
    fires: { [calls("Internal")]: "0+2x40", [calls("OK")]: "0+1x40" },
    silent: { [calls("Internal")]: "0+1x40", [calls("OK")]: "0+10x40" },
    at: "30m",
    labels: { driver_name: "d" },
  },
  WebhookFailures: {
    fires: { [rejections("calling_webhook_error")]: "0+1x40" },
    silent: { [rejections("no_error")]: "0+1x40" },
    at: "20m",
  },
  WebhookUnavailable: { fires: { up: "1x10" }, silent: { [expiry]: "9999999999x10" }, at: "8m" },
  WebhookCertificateExpires: { fires: { [expiry]: "1000000x30" }, silent: { [expiry]: "9999999x30" }, at: "15m" },
};
