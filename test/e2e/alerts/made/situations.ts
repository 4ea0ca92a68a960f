/** What really happens in a cluster for each alert to fire: our processes on a real control plane, and what goes wrong with them. */
import assert from "node:assert/strict";
import { draftOf } from "../../../../src/api/builders.ts";
import { snapshotCrds } from "../../../../src/api/crds/index.ts";
import { shareConfiguration } from "../../../../src/api/manifests/webhook-configurations.ts";
import { Fault } from "../../../../src/base/fault.ts";
import { shareVolume } from "../../../shared-resource-objects.ts";
import { type Connection, connect } from "../../harness/client.ts";
import { claimDrafts, startComponent } from "../../harness/components.ts";
import { type ControlPlane, startControlPlane } from "../../harness/control-plane.ts";
import { installCrds } from "../../harness/crds.ts";
import type { Daemon } from "../../harness/instance.ts";
import { type OddDriver, startOddDriver } from "../../harness/odd-driver.ts";
import { freePort } from "../../harness/ports.ts";
import { installShares } from "../../harness/share-driver.ts";
import { until } from "../../harness/until.ts";
import { createTestWebhook, type TestWebhook } from "../../harness/webhook.ts";
import { type ShareVolumes, startShareVolumes } from "./share-volumes.ts";

const driverName = "directory.snapkeep.dev";
const snapshots = "/apis/snapshot.storage.k8s.io/v1beta1";
const shares = "/apis/sharedresource.openshift.io/v1alpha1";
const home = "default";
/** The controller counts a deletion as stuck after ten minutes: its clock is ahead by eleven. */
const ahead = "--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+660000";

export interface Cluster {
  readonly plane: ControlPlane;
  /** Where metrics are scraped. */
  readonly targets: readonly string[];
  /** Something goes on all the time: a snapshot is taken and deleted, a class is judged. */
  beBusy(): Promise<void>;
  /** Name of an alert → what makes it fire. Those of the second step end processes. */
  readonly troubles: readonly [Troubles, Troubles];
  stop(): Promise<void>;
}
type Troubles = readonly { readonly alerts: readonly string[]; readonly what: string; make(): Promise<unknown> }[];

export async function startCluster(): Promise<Cluster> {
  const plane = await startControlPlane();
  const connection = await connect(plane.kubeconfig);
  const driver = await startOddDriver(plane.instance.folder, { driver: driverName });
  const must = async (method: string, path: string, body?: object): Promise<string> => {
    const { status, text } = await plane.request(method, path, body);
    assert.ok(status >= 200 && status < 300, `${method} ${path}: ${status} ${text}`);
    return text;
  };
  await prepare(plane, connection, driver, must);
  const webhook = await createTestWebhook(plane);
  const ports = await Promise.all(Array.from({ length: 4 }, freePort));
  const [controllerPort, snapshotterPort, provisionerPort, sharePort] = ports;
  const endpoint = (port = 0): string => `--http-endpoint=127.0.0.1:${port}`;
  const sidecar = `--csi-address=${driver.socket}`;
  await webhook.start();
  await webhook.configure("shares", "Ignore");
  const volumes = await startShareVolumes(plane, home);
  const daemons: readonly Daemon[] = [
    await startComponent(plane, "snapshot-controller", [endpoint(controllerPort)], {
      environment: { NODE_OPTIONS: ahead },
    }),
    await startComponent(plane, "csi-snapshotter", [sidecar, endpoint(snapshotterPort)]),
    await startComponent(plane, "csi-provisioner", [sidecar, endpoint(provisionerPort)]),
    await startComponent(plane, "shared-resource-controller", [endpoint(sharePort)]),
  ];
  let taken = 0;
  const take = async (claim: string): Promise<string> => {
    const metadata = { name: `s-${++taken}` };
    const spec = { volumeSnapshotClassName: "plain", source: { persistentVolumeClaimName: claim } };
    await must("POST", `${snapshots}/namespaces/${home}/volumesnapshots`, {
      ...snapshotOf("VolumeSnapshot"),
      metadata,
      spec,
    });
    return metadata.name;
  };
  return {
    plane,
    targets: [...ports.map((port) => `127.0.0.1:${port}`), new URL(webhook.metricsUrl).host, volumes.target],
    beBusy: async () => {
      const path = `${snapshots}/namespaces/${home}/volumesnapshots/${await take("good")}`;
      await until({ what: "the snapshot is ready" }, async () =>
        JSON.parse(await must("GET", path)).status?.readyToUse === true ? true : undefined,
      );
      await must("DELETE", path);
    },
    troubles: [failing({ plane, driver, webhook, volumes, must, take }), ending(daemons, webhook, must)],
    stop: async () => {
      connection.close();
      await driver.close();
      plane.stop();
    },
  };
}

type Must = (method: string, path: string, body?: object) => Promise<string>;
const snapshotOf = (kind: string) => ({ apiVersion: "snapshot.storage.k8s.io/v1beta1", kind });

/** With CRDs of the first phase, which let invalid objects in. */
async function prepare(plane: ControlPlane, { client }: Connection, driver: OddDriver, must: Must): Promise<void> {
  await installShares(plane);
  await installCrds(client, snapshotCrds(1));
  await until({ what: "snapshots are served" }, async () =>
    (await plane.request("GET", `${snapshots}/volumesnapshotclasses`)).status === 200 ? true : undefined,
  );
  await must("POST", `${snapshots}/volumesnapshotclasses`, {
    ...snapshotOf("VolumeSnapshotClass"),
    metadata: { name: "plain" },
    driver: driver.driver,
    deletionPolicy: "Delete",
  });
  for (const name of ["good", "bad"]) {
    const { volume, claim } = claimDrafts({ namespace: home, driver: driver.driver }, name, name);
    await client.create("PersistentVolume", volume);
    await client.create("PersistentVolumeClaim", claim);
  }
  const lists = { "openshift-grave": `${home}:missing`, "openshift-grave.severity": "critical" };
  await client.create(
    "ConfigMap",
    draftOf("ConfigMap", { namespace: home, name: "ocp-sharedsecret-list" }, { data: lists } as never),
  );
}

interface Stage {
  readonly plane: ControlPlane;
  readonly driver: OddDriver;
  readonly webhook: TestWebhook;
  readonly volumes: ShareVolumes;
  readonly must: Must;
  take(claim: string): Promise<string>;
}

function failing({ plane, driver, webhook, volumes, must, take }: Stage): Troubles {
  const share = (name: string) =>
    must("POST", `${shares}/sharedsecrets`, {
      apiVersion: "sharedresource.openshift.io/v1alpha1",
      kind: "SharedSecret",
      metadata: { name },
      spec: { secretRef: { namespace: home, name: "missing" } },
    });
  return [
    {
      alerts: ["SnapshotNotReady (warning)", "SnapshotErrors (warning)", "DriverErrors (warning)"],
      what: "the driver refuses every snapshot of a claim, ten times",
      make: async () => {
        driver.bars.set("bad", new Fault("Internal", "no space"));
        for (let n = 0; n < 10; n += 1) await take("bad");
      },
    },
    {
      alerts: ["SnapshotDeletionStuck (warning)"],
      what: "the driver refuses to delete a snapshot for more than ten minutes",
      make: async () => {
        const path = `${snapshots}/namespaces/${home}/volumesnapshots/${await take("good")}`;
        await until({ what: "the snapshot is ready" }, async () =>
          JSON.parse(await must("GET", path)).status?.readyToUse === true ? true : undefined,
        );
        driver.refusals.delete.push(...Array.from({ length: 1_000 }, () => new Fault("Internal", "in use")));
        await must("DELETE", path);
      },
    },
    {
      alerts: ["InvalidSnapshotObjects (warning)"],
      what: "a VolumeSnapshot without a source is stored",
      make: () =>
        must("POST", `${snapshots}/namespaces/${home}/volumesnapshots`, {
          ...snapshotOf("VolumeSnapshot"),
          metadata: { name: "invalid" },
          spec: { volumeSnapshotClassName: "plain", source: {} },
        }),
    },
    {
      alerts: ["WebhookCertificateExpires (warning)"],
      what: "the webhook's certificate is valid for one more day",
      make: async () => webhook.renew(1),
    },
    {
      alerts: [
        "SharedResourceInvalid (info)",
        "SharedResourceInvalid (warning)",
        "SharedResourceInvalid (critical)",
        "ObjectsWait (warning)",
      ],
      what: "shares of a user, with a reserved name and with a critical entry of the allow-list refer to no Secret",
      make: async () => {
        await webhook.unconfigure("shares");
        for (const name of ["of-a-user", "openshift-of-the-platform", "openshift-grave"]) await share(name);
        await webhook.configure("shares", "Ignore");
      },
    },
    {
      alerts: ["SharedResourceMisuse (info)"],
      what: "pods with writable shared volumes are refused, again and again",
      make: async () =>
        repeatedly(async () => {
          const volumes = [shareVolume("pki", { volumeAttributes: { sharedSecret: "pki" } })];
          await plane.request("POST", `/api/v1/namespaces/${home}/pods?dryRun=All`, {
            metadata: { generateName: "misuse-" },
            spec: { containers: [{ name: "main", image: "none" }], volumes },
          });
        }),
    },
    {
      alerts: ["SharedResourceVolumeNotEmptied (critical)"],
      what: "the permission to use a share is taken away, and the files of its volume cannot be removed",
      make: volumes.keepFiles,
    },
    {
      alerts: ["SharedResourceVolumeNotCurrent (warning)"],
      what: "the Secret of a share gets more keys than a volume may have",
      make: volumes.grow,
    },
    {
      alerts: ["WebhookFailures (critical)"],
      what: "nobody listens at the address of the webhook for claims, and claims with a source are created",
      make: async () => {
        await webhook.configure("claims", "Fail", "https://127.0.0.1:9");
        repeatedly(async () => {
          const spec = {
            accessModes: ["ReadWriteOnce"],
            resources: { requests: { storage: "1Mi" } },
            dataSourceRef: { kind: "PersistentVolumeClaim", name: "good" },
          };
          await plane.request("POST", `/api/v1/namespaces/${home}/persistentvolumeclaims?dryRun=All`, {
            metadata: { generateName: "refused-" },
            spec,
          });
        });
      },
    },
  ];
}

function ending(daemons: readonly Daemon[], webhook: TestWebhook, must: Must): Troubles {
  const [controller, snapshotter, provisioner] = daemons;
  return [
    {
      alerts: ["SnapshotControllerHasNoLeader (critical)"],
      what: "the snapshot-controller ends",
      make: async () => controller?.stop(),
    },
    {
      alerts: ["SidecarHasNoLeader (critical)"],
      what: "csi-snapshotter and csi-provisioner end",
      make: async () => Promise.all([snapshotter?.stop(), provisioner?.stop()]),
    },
    { alerts: ["WebhookUnavailable (critical)"], what: "the webhook ends", make: () => webhook.stop() },
    {
      alerts: ["SharedResourceWebhookUnreachable (warning)"],
      what: "the Service of the webhook for shares has no endpoint",
      make: async () => {
        await webhook.unconfigure("shares");
        const service = { namespace: home, name: "nobody" };
        const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
        await must("POST", path, shareConfiguration({ client: { service } }));
      },
    },
  ];
}

const everyMs = 150;
/** Until the process ends. */
function repeatedly(act: () => Promise<unknown>): void {
  setInterval(() => void act().catch(() => undefined), everyMs).unref();
}
