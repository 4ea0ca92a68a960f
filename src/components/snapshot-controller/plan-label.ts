/**
 * The label on objects that break the strict rules, so that an administrator finds them before the CRDs are tightened. It is removed
 * when the object is corrected; nothing else of the object is changed.
 */
import { labels, oldInvalidLabels } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { KubeObject, VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import type { JsonObject } from "../../base/json.ts";
import { kindRules } from "../../rules/kind-rules.ts";

const labelOf = { VolumeSnapshot: labels.invalidSnapshot, VolumeSnapshotContent: labels.invalidContent } as const;

/** One patch, or none when the label is right. An object that is being deleted is not changed. */
function labelEdit(kind: keyof typeof labelOf, object: KubeObject): readonly ClusterAction[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  const label = labelOf[kind];
  const isInvalid = kindRules[kind].strict(object as unknown as JsonObject).length > 0;
  const present = Object.keys(object.metadata.labels ?? {});
  const outdated = oldInvalidLabels.filter((name) => present.includes(name));
  if (present.includes(label) === isInvalid && outdated.length === 0) return [];
  return edit(kind, object, {
    labels: {
      ...Object.fromEntries(outdated.map((name) => [name, undefined])),
      [label]: isInvalid ? (object.metadata.labels?.[label] ?? "") : undefined,
    },
  });
}

export const snapshotLabelEdit = (snapshot: VolumeSnapshot) => labelEdit("VolumeSnapshot", snapshot);
export const contentLabelEdit = (content: VolumeSnapshotContent) => labelEdit("VolumeSnapshotContent", content);

export const isLabelledInvalid = ({ metadata }: KubeObject): boolean =>
  Object.values(labelOf).some((label) => metadata.labels?.[label] !== undefined);
