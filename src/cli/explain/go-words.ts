/**
 * What the Go components write into statuses and events without a code: these sentences of external-snapshotter and external-provisioner
 * say that something else is wrong than the driver.
 */
import type { Ref } from "../../api/plan.ts";
import type { Event, VolumeSnapshotContent } from "../../api/types.ts";
import { notedSecretOf } from "../../rules/snapshotter-secrets.ts";
import type { Finding } from "./finding.ts";
import { lastSeen } from "./outer.ts";

export type Meant = Pick<Finding, "cause" | "says" | "waitsFor"> & Partial<Finding>;

/** external-snapshotter hides what the API server has said about the secret. */
const secretWords = /cannot get credentials for snapshot content|failed to get credentials|cannot retrieve secrets for/;
const classWords = /failed to (?:get|retrieve) snapshot class ([a-z0-9.-]+)/;

export function meantByContent(content: VolumeSnapshotContent, message: string): Meant | undefined {
  const { name, namespace } = notedSecretOf(content);
  if (secretWords.test(message)) {
    const secret: readonly Ref[] = name === undefined ? [] : [{ kind: "Secret", namespace, name }];
    const what = name === undefined ? "the secret that its class names" : `secret ${namespace}/${name}`;
    return {
      cause: "SecretNotUsable",
      says: `csi-snapshotter cannot read ${what}: it does not exist, or its service account may not read it: ${message}`,
      waitsFor: secret,
    };
  }
  const [, className] = classWords.exec(message) ?? [];
  return className === undefined
    ? undefined
    : {
        cause: "ClassNotFound",
        says: `VolumeSnapshotClass ${className} of the content does not exist: ${message}`,
        waitsFor: [{ kind: "VolumeSnapshotClass", name: className }],
      };
}

/**
 * When a deletion fails, external-snapshotter writes nothing into the status, and an event without the driver's words (release 8.6.0).
 */
export function meantByDeletionEvent(content: VolumeSnapshotContent, event: Event | undefined): Meant | undefined {
  if (event?.message === undefined) return undefined;
  const told = {
    sinceMs: lastSeen(event),
    evidence: [`event ${event.reason}: ${event.message}`],
  };
  if (event.message === "Failed to get snapshot credentials") {
    const found = meantByContent(content, "failed to get credentials");
    return found === undefined ? undefined : { ...found, ...told };
  }
  return {
    cause: "DriverFailed",
    says: `driver ${content.spec.driver} refuses to delete the snapshot: "${event.message}"; only the log of csi-snapshotter has the driver's words`,
    waitsFor: [],
    ...told,
  };
}

/** external-provisioner, in its event ProvisioningFailed. */
const provisionerSecretWords = /error getting secret ([^ ]+) in namespace ([^ :]+): secrets "[^"]+" not found/;

export function meantByProvisioner(message: string): Meant | undefined {
  const [, name, namespace] = provisionerSecretWords.exec(message) ?? [];
  return name === undefined || namespace === undefined
    ? undefined
    : {
        cause: "SecretNotUsable",
        says: `secret ${namespace}/${name}, which the class names, does not exist: ${message}`,
        waitsFor: [{ kind: "Secret", namespace, name }],
      };
}
