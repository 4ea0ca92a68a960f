/** What a round creates: a namespace, two claims, a snapshot and two pods. Pure. */
import { draftOf } from "../../api/builders.ts";
import { ownedLabel } from "../../api/manifests/objects.ts";
import type { Ref } from "../../api/plan.ts";
import type { Draft } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { rfc3339 } from "../../base/time.ts";
import type { Owner } from "../owner.ts";
import type { Chosen } from "./classes.ts";

export const scratchLabel = "snapkeep.dev/verify";
/** The process that works in the namespace, and when it has ended at the latest: for the next round. */
export const ownerAnnotation = "snapkeep.dev/verify-process";
export const untilAnnotation = "snapkeep.dev/verify-until";

export const names = {
  source: "source",
  restored: "restored",
  snapshot: "taken",
  writer: "writer",
  reader: "reader",
} as const;

/** Kept namespaces have another value: they are the user's. */
export const scratchNamespace = (name: string, owner: Owner, untilMs: Millis): Draft =>
  draftOf(
    "Namespace",
    {
      name,
      labels: { ...ownedLabel, [scratchLabel]: "scratch" },
      annotations: { [ownerAnnotation]: JSON.stringify(owner), [untilAnnotation]: rfc3339(untilMs) },
    },
    {},
  );

export function claimIn(namespace: string, name: string, { storageClass }: Chosen, size: string): Draft {
  const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: names.snapshot };
  return draftOf(
    "PersistentVolumeClaim",
    { namespace, name },
    {
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: storageClass,
        resources: { requests: { storage: size } },
        ...(name === names.restored ? { dataSource } : {}),
      },
    },
  );
}

export const snapshotIn = (namespace: string, { snapshotClass }: Chosen): Draft =>
  draftOf(
    "VolumeSnapshot",
    { namespace, name: names.snapshot },
    {
      spec: { volumeSnapshotClassName: snapshotClass, source: { persistentVolumeClaimName: names.source } },
    },
  );

export interface PodWishes {
  readonly image: string;
  readonly asRoot: boolean;
  /** OpenShift gives each namespace users of its own, and refuses others. */
  readonly leavesUser?: boolean;
}

const folder = "/data";
const file = `${folder}/snapkeep-verify`;
export const scripts = {
  writer: (words: string): string => `echo ${words} > ${file} && sync && echo written`,
  reader: (): string => `cat ${file}`,
} as const;

/** What the script prints is the termination message: nobody needs the right to read logs. */
const printingTo = (script: string): string => `{ ${script}; } > /dev/termination-log 2>&1`;
const someUser = 65_532;

export function podIn(namespace: string, name: string, claimName: string, script: string, wishes: PodWishes): Draft {
  const resources = { cpu: "50m", memory: "32Mi" };
  return draftOf(
    "Pod",
    { namespace, name, labels: { ...ownedLabel, [scratchLabel]: "scratch" } },
    {
      spec: {
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        securityContext: userOf(wishes),
        containers: [
          {
            name: "main",
            image: wishes.image,
            command: ["sh", "-c", printingTo(script)],
            // Quotas of a cluster may ask for both.
            resources: { requests: resources, limits: resources },
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            volumeMounts: [{ name: "data", mountPath: folder }],
          },
        ],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
      },
    },
  );
}

function userOf({ asRoot, leavesUser = false }: PodWishes): object {
  const seccompProfile = { type: "RuntimeDefault" };
  if (asRoot) return { runAsUser: 0, seccompProfile };
  const user = leavesUser ? {} : { runAsUser: someUser, runAsGroup: someUser, fsGroup: someUser };
  return { ...user, runAsNonRoot: true, seccompProfile };
}

export const refIn = <K extends "PersistentVolumeClaim" | "VolumeSnapshot" | "Pod">(
  kind: K,
  namespace: string,
  name: string,
): Ref<K> => ({ kind, namespace, name });
