/** I-25, I-26, I-28: what is invalid is refused where it comes in, labelled where it is stored, and can always be deleted. */
import { finalizers, labels, oldInvalidLabels } from "../../../src/api/names.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import { equal, type JsonObject } from "../../../src/base/json.ts";
import type { AdmissionEntry, Seen, Write } from "../record.ts";
import {
  brokenRules,
  contentIn,
  contentsIn,
  isGoing,
  isOurs,
  type LabelledKind,
  type Monitor,
  snapshotsIn,
} from "./monitor.ts";
import { restoringFrom } from "./restoring.ts";

const labelOf: Readonly<Record<LabelledKind, string>> = {
  VolumeSnapshot: labels.invalidSnapshot,
  VolumeSnapshotContent: labels.invalidContent,
};
const isLabelled = (kind: string): kind is LabelledKind => kind in labelOf;
const invalidLabels: readonly string[] = [...Object.values(labelOf), ...oldInvalidLabels];

const specOf = (object: KubeObject): JsonObject => (object as unknown as { spec?: JsonObject }).spec ?? {};

const ratchet: Monitor = {
  id: "I-25",
  promise: "the webhook refuses what newly breaks a rule, and nothing else: no change of metadata, nothing valid",
  onAdmission({ kind, key, before, after, refused }) {
    if (!isLabelled(kind)) return undefined;
    const wasBroken = before === undefined ? [] : brokenRules(kind, before);
    const worse = brokenRules(kind, after).filter((rule) => !wasBroken.includes(rule));
    if (refused === undefined) {
      if (worse.length > 0) return `${kind} ${key} was let in, although it breaks ${worse.join(", ")}`;
      return wasBroken.length === 0 && isOtherSource(before, after) ? `${kind} ${key} got another source` : undefined;
    }
    if (worse.length > 0) return undefined;
    if (before === undefined) return `a valid ${kind} ${key} was refused: ${refused}`;
    return equal(specOf(before), specOf(after))
      ? `a change of ${kind} ${key} that leaves its spec alone was refused: ${refused}`
      : undefined;
  },
};

const isOtherSource = (before: AdmissionEntry["before"], after: KubeObject): boolean =>
  before !== undefined && !equal(specOf(before).source, specOf(after).source);

const own: readonly string[] = Object.values(finalizers);
const isHeldByUs = ({ metadata }: KubeObject): boolean =>
  metadata.finalizers?.some((name) => own.includes(name)) === true;

/** Someone still needs it: a claim that reads from the snapshot, or the snapshot of a content. */
function isNeeded(seen: Seen, kind: LabelledKind, object: KubeObject): boolean {
  const uid = kind === "VolumeSnapshot" ? object.metadata.uid : contentIn(object)?.spec.volumeSnapshotRef?.uid;
  const snapshot = snapshotsIn(seen).find(({ metadata }) => metadata.uid === uid);
  if (snapshot === undefined) return false;
  return restoringFrom(seen, snapshot).length > 0 || (kind === "VolumeSnapshotContent" && !isGoing(snapshot));
}

const all = (seen: Seen): readonly (readonly [LabelledKind, KubeObject])[] => [
  ...snapshotsIn(seen).map((object) => ["VolumeSnapshot", object as KubeObject] as const),
  ...contentsIn(seen).map((object) => ["VolumeSnapshotContent", object as KubeObject] as const),
];

const deletable: Monitor = {
  id: "I-26",
  promise: "an invalid object can be deleted, whatever rule it breaks",
  counter: "stuck finalizers",
  atRest(seen) {
    const stuck = all(seen).find(
      ([kind, object]) =>
        isGoing(object) &&
        isHeldByUs(object) &&
        brokenRules(kind, object).length > 0 &&
        !isNeeded(seen, kind, object) &&
        !seen.excused.has(object.metadata.uid),
    );
    return stuck === undefined ? undefined : `${stuck[0]} ${stuck[1].metadata.name} is invalid, and is not removed`;
  },
};

const labelTruth: Monitor = {
  id: "I-28",
  promise: "an object carries the label exactly if it breaks a strict rule, and writing the label changes nothing else",
  onWrite: (write) => (isOurs(write) && isLabelWrite(write) ? changedBeside(write) : undefined),
  atRest(seen) {
    for (const [kind, object] of all(seen)) {
      if (isGoing(object)) continue;
      const present = Object.keys(object.metadata.labels ?? {});
      const broken = brokenRules(kind, object);
      const what = `${kind} ${object.metadata.name}`;
      if (present.includes(labelOf[kind]) !== broken.length > 0)
        return broken.length > 0
          ? `${what} breaks ${broken.join(", ")}, and has no label`
          : `${what} is valid, and has the label`;
      const old = present.find((name) => oldInvalidLabels.includes(name));
      if (old !== undefined) return `${what} still has ${old}`;
    }
    return undefined;
  },
};

const isLabelWrite = ({ before, after }: Write): boolean =>
  before !== undefined &&
  after !== undefined &&
  invalidLabels.some((name) => before.metadata.labels?.[name] !== after.metadata.labels?.[name]);

function changedBeside({ kind, key, before, after }: Write): string | undefined {
  const rest = (object: KubeObject | undefined): JsonObject => {
    // The status is another resource: a default of the schema may come into it by any write.
    const { metadata, status: _status, ...others } = object as unknown as { metadata: JsonObject; status?: unknown };
    const { labels: _labels, resourceVersion: _version, generation: _generation, ...kept } = metadata;
    const strange = Object.entries(object?.metadata.labels ?? {}).filter(([name]) => !invalidLabels.includes(name));
    return { ...others, metadata: { ...kept, labels: Object.fromEntries(strange) } };
  };
  return equal(rest(before), rest(after)) ? undefined : `the label of ${kind} ${key} was written with other changes`;
}

export const validation: readonly Monitor[] = [ratchet, deletable, labelTruth];
