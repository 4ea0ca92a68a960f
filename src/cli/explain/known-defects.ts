/**
 * Known defects of the Go components, for clusters where they run: each row names the thread, the releases that have it, and the state
 * in which an object is stuck by it. They are judged only when nothing else explains the object.
 */
import { finalizers } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { Millis } from "../../base/brand.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { deletedMs, type Finding, type Step, word } from "./finding.ts";
import { goReleaseOf, type RunningComponent } from "./running.ts";

export interface FoundDefect {
  readonly at: Ref;
  readonly says: string;
  readonly next: readonly Step[];
}

interface DefectRow {
  readonly thread: string;
  readonly component: RunningComponent["component"]["name"];
  /** The first release that has it, and the first that has it no more. */
  readonly from: string;
  readonly until?: string;
  find(copy: ClusterCopy, finding: Finding): Omit<FoundDefect, "next"> | undefined;
  next(finding: Finding, running: RunningComponent): readonly Step[];
}

const restart =
  (says: string) =>
  (_: Finding, { pod }: RunningComponent): readonly Step[] => [
    {
      says,
      command:
        pod === undefined ? undefined : `kubectl delete pod ${word(pod.name)} -n ${word(pod.namespace ?? "default")}`,
    },
  ];
const groupContents = "volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io";

const rows: readonly DefectRow[] = [
  {
    thread: "kubernetes-csi/external-snapshotter#1385",
    component: "csi-snapshotter",
    from: "8.4.0",
    find: (copy) => {
      const definition = copy.get("CustomResourceDefinition", undefined, groupContents);
      const served =
        definition?.spec?.versions?.filter(({ served: isServed }) => isServed).map(({ name }) => name) ?? [];
      if (definition === undefined || served.some((name) => name !== "v1beta1")) return undefined;
      return {
        at: { kind: "CustomResourceDefinition", name: groupContents },
        says: "the sidecar takes no ordinary snapshots while only v1beta1 of the group snapshot kinds is served",
      };
    },
    next: () => [
      {
        says: "serve v1beta2 of the group snapshot kinds as well, by the CustomResourceDefinitions of the release that runs",
        command: `kubectl get customresourcedefinition ${groupContents} -o yaml`,
      },
    ],
  },
  {
    thread: "kubernetes-csi/external-snapshotter#1305",
    component: "snapshot-controller",
    from: "4.0.0",
    find: (copy, { object }) => {
      const claim =
        object.kind === "PersistentVolumeClaim"
          ? copy.get("PersistentVolumeClaim", object.namespace, object.name)
          : undefined;
      if (
        claim === undefined ||
        deletedMs(claim) === undefined ||
        !claim.metadata.finalizers?.includes(finalizers.claimAsSource)
      )
        return undefined;
      return { at: object, says: "the claim keeps the finalizer of snapshots that are taken of it, and none is" };
    },
    next: restart(
      "restart the snapshot-controller: it looks at all claims when it starts; a claim that stays is released by snapkeep's controller",
    ),
  },
  {
    thread: "kubernetes-csi/external-snapshotter#1366",
    component: "snapshot-controller",
    from: "4.0.0",
    until: "8.6.0",
    find: (copy, { object }) => {
      const snapshot =
        object.kind === "VolumeSnapshot" ? copy.get("VolumeSnapshot", object.namespace, object.name) : undefined;
      if (snapshot === undefined || deletedMs(snapshot) === undefined) return undefined;
      return {
        at: object,
        says: "a deletion that was blocked once, by a claim that was being restored, is not tried again",
      };
    },
    next: restart(
      "restart the snapshot-controller: it looks at all snapshots when it starts; 8.6.0 and snapkeep try again by themselves",
    ),
  },
];

/** A component that acts reacts within this time, whatever it does. */
const reactionMs = 60_000;

export function knownDefectOf(
  copy: ClusterCopy,
  finding: Finding,
  running: RunningComponent,
  nowMs: Millis,
): FoundDefect | undefined {
  const release = goReleaseOf(running);
  if (release === undefined || finding.sinceMs === undefined || finding.sinceMs + reactionMs > nowMs) return undefined;
  for (const row of rows) {
    if (row.component !== running.component.name || !isWithin(release, row)) continue;
    const found = row.find(copy, finding);
    if (found !== undefined)
      return {
        at: found.at,
        says: `${found.says} (${row.component} ${release}, ${row.thread})`,
        next: row.next(finding, running),
      };
  }
  return undefined;
}

const isWithin = (release: string, { from, until }: DefectRow): boolean =>
  compare(release, from) >= 0 && (until === undefined || compare(release, until) < 0);

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(".").map(Number)) as [number[], number[]];
  const at = left.findIndex((value, index) => value !== right[index]);
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}
