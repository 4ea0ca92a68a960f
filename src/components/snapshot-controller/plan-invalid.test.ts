/** What the user reads of a snapshot that cannot be taken as it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot, aVolume } from "../../../test/builders.ts";
import { aProtectedView as aView, bornMs, both, deletionTimestamp } from "../../../test/snapshot-plans.ts";
import type { SnapshotParts } from "../../../test/views.ts";
import type { SnapshotFacts } from "./observe.ts";
import { phaseOf } from "./phase.ts";
import { planSnapshot } from "./plan.ts";
import type { SnapshotAction } from "./plan-steps.ts";

const wrongs: readonly {
  given: string;
  view: SnapshotParts;
  reason: string;
  says: RegExp;
  asks: readonly string[];
}[] = [
  {
    given: "both sources",
    view: { source: { kind: "unclear", count: 2 } },
    reason: "SnapshotValidationError",
    says: /Exactly one of .*: spec\.source names both; leave one/,
    asks: [],
  },
  {
    given: "no source",
    view: { source: { kind: "unclear", count: 0 } },
    reason: "SnapshotValidationError",
    says: /Exactly one of .*: spec\.source names neither; name one/,
    asks: [],
  },
  {
    given: "a content without a handle",
    view: {
      source: { kind: "content", name: "by-hand" },
      content: aContent({ metadata: { name: "by-hand" }, spec: { source: { snapshotHandle: "" } } }),
    },
    reason: "ContentValidationError",
    says: /spec\.source of VolumeSnapshotContent by-hand has neither \(an empty handle is none\); give one/,
    asks: ["VolumeSnapshotContent by-hand at 1"],
  },
  {
    given: "an unknown class",
    view: { snapshotClass: undefined },
    reason: "GetSnapshotClassFailed",
    says: /"fast" not found: create it/,
    asks: ["no VolumeSnapshotClass fast"],
  },
  {
    given: "a claim that does not exist",
    view: { claim: undefined },
    reason: "SnapshotContentCreationFailed",
    says: /claim team\/data not found/,
    asks: ["no PersistentVolumeClaim data"],
  },
  {
    given: "an unbound claim",
    view: { claim: aClaim({ spec: {}, status: { phase: "Pending" } }) },
    reason: "SnapshotContentCreationFailed",
    says: /not bound to a volume/,
    asks: ["PersistentVolumeClaim data at 1"],
  },
  {
    given: "a claim that names its volume and is not bound yet",
    view: { claim: aClaim({ status: { phase: "Pending" } }) },
    reason: "SnapshotContentCreationFailed",
    says: /claim team\/data is not bound to a volume \(it is Pending\)/,
    asks: ["PersistentVolumeClaim data at 1"],
  },
  {
    given: "a terminating claim",
    view: { claim: aClaim({ metadata: { deletionTimestamp } }) },
    reason: "SnapshotContentCreationFailed",
    says: /is being deleted/,
    asks: ["PersistentVolumeClaim data at 1"],
  },
  {
    given: "a volume that is not a CSI volume",
    view: { volume: aVolume({ spec: { claimRef: { namespace: "team", name: "data" } } }) },
    reason: "SnapshotContentCreationFailed",
    says: /non-CSI/,
    asks: ["PersistentVolume pv-1 at 1"],
  },
  {
    given: "a volume bound to another claim",
    view: {
      volume: aVolume({
        spec: { csi: { driver: "d", volumeHandle: "v" }, claimRef: { namespace: "team", name: "data", uid: "other" } },
      }),
    },
    reason: "SnapshotContentCreationFailed",
    says: /does not point back/,
    asks: ["PersistentVolumeClaim data at 1", "PersistentVolume pv-1 at 1"],
  },
  {
    given: "a volume that names another claim",
    view: {
      volume: aVolume({
        spec: {
          csi: { driver: "disk.example.com", volumeHandle: "v" },
          claimRef: { namespace: "team", name: "other" },
        },
      }),
    },
    reason: "SnapshotContentCreationFailed",
    says: /does not point back at the claim \(spec\.claimRef names team\/other\)/,
    asks: ["PersistentVolumeClaim data at 1", "PersistentVolume pv-1 at 1"],
  },
  {
    given: "a class with an invalid secret template",
    view: {
      snapshotClass: aClass({
        parameters: {
          "csi.storage.k8s.io/snapshotter-secret-name": "${pvc.name}",
          "csi.storage.k8s.io/snapshotter-secret-namespace": "vault",
        },
      }),
    },
    reason: "SnapshotContentCreationFailed",
    says: /"\$\{pvc\.name\}" has invalid tokens: "pvc\.name" \(class fast\)/,
    asks: ["VolumeSnapshotClass fast at 1"],
  },
  {
    given: "a class of another driver",
    view: { snapshotClass: aClass({ driver: "tape" }) },
    reason: "SnapshotContentCreationFailed",
    says: /class fast is for driver tape/,
    asks: ["VolumeSnapshotClass fast at 1"],
  },
  {
    given: "a volume that no node reaches, with distributed snapshotting",
    view: { place: { kind: "nowhere" } },
    reason: "SnapshotContentCreationFailed",
    says: /no node matches spec\.nodeAffinity of volume pv-1: bring the node back/,
    asks: [],
  },
  {
    given: "no default class",
    view: {
      snapshot: aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } }),
      snapshotClass: undefined,
    },
    reason: "SetDefaultSnapshotClassFailed",
    says: /cannot find default snapshot class for driver disk.example.com/,
    asks: ["all VolumeSnapshotClass objects"],
  },
  {
    given: "two default classes",
    view: {
      snapshot: aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } }),
      snapshotClass: undefined,
      defaultClasses: [aClass(), aClass({ metadata: { name: "also" } })],
    },
    reason: "SetDefaultSnapshotClassFailed",
    says: /2 default snapshot classes were found .*\(also, fast\)/,
    asks: ["all VolumeSnapshotClass objects"],
  },
  {
    given: "a pre-provisioned content that does not exist",
    view: { snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }) },
    reason: "SnapshotContentMissing",
    says: /create old/,
    asks: ["no VolumeSnapshotContent old"],
  },
  {
    given: "a content that refers to another snapshot",
    view: {
      snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }),
      content: aContent({
        spec: { source: { snapshotHandle: "h" }, volumeSnapshotRef: { namespace: "a", name: "b" } },
      }),
    },
    reason: "SnapshotContentMisbound",
    says: /names a\/b/,
    asks: ["VolumeSnapshotContent snapcontent-uid-snap at 1"],
  },
  {
    given: "a dynamically created content in place of a pre-provisioned one",
    view: { snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }), content: aContent() },
    reason: "SnapshotContentMismatch",
    says: /expecting a pre-provisioned one/,
    asks: ["VolumeSnapshotContent snapcontent-uid-snap at 1"],
  },
];
/** What is asked of the server before the user is told. */
const question = (action: SnapshotAction): string => {
  if (action.kind === "relist") return `all ${action.ref.kind} objects`;
  assert.ok(action.kind === "confirm");
  const { ref, resourceVersion } = action;
  return resourceVersion === undefined ? `no ${ref.kind} ${ref.name}` : `${ref.kind} ${ref.name} at ${resourceVersion}`;
};
const isQuestion = ({ kind }: SnapshotAction): boolean => kind === "confirm" || kind === "relist";

for (const { given, view: change, reason, says, asks } of wrongs)
  test(`given ${given}, the error is ${reason}, after reading ${asks.join(", ") || "nothing"} from the server`, () => {
    const view = aView(change);
    const { actions, reason: why } = planSnapshot(view);
    const [write, event, ...rest] = actions.slice(asks.length);
    assert.equal(phaseOf(view.facts), "invalid");
    assert.deepEqual(actions.slice(0, asks.length).map(question), asks);
    assert.deepEqual(rest, []);
    assert.ok(write?.kind === "patch" && event?.kind === "event");
    assert.equal(event.event.reason, reason);
    assert.match(event.event.message, says);
    assert.equal(why.says, event.event.message);
    const { error, ...readiness } = (write.patch.body as { status: { error: { message: string } } }).status;
    assert.equal(error.message, event.event.message);
    // Trouble with a class says nothing about readiness; what is wrong with the snapshot itself does.
    const saysNothing = ["GetSnapshotClassFailed", "SetDefaultSnapshotClassFailed"].includes(reason);
    assert.deepEqual(readiness, saysNothing ? {} : { readyToUse: false });
  });

test("an error that the status already has is not written again", () => {
  const first = aView({ claim: undefined });
  const write = planSnapshot(first).actions.find((action) => !isQuestion(action));
  assert.ok(write?.kind === "patch");
  const { status } = write.patch.body as unknown as { status: NonNullable<SnapshotFacts["snapshot"]["status"]> };
  assert.deepEqual(
    planSnapshot(
      aView({
        claim: undefined,
        snapshot: aSnapshot({ metadata: { finalizers: both }, status }),
        nowMs: bornMs + 60_000,
      }),
    ).actions,
    [],
  );
});

const impossible = ["..", "a/b", "Upper", "two words"];
for (const name of impossible)
  test(`a class called "${name}" cannot exist: the user gets an error without a request to the server`, () => {
    const spec = { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: name };
    const { actions } = planSnapshot(
      aView({ snapshot: aSnapshot({ metadata: { finalizers: both }, spec }), snapshotClass: undefined }),
    );
    assert.deepEqual(
      actions.map(({ kind }) => kind),
      ["patch", "event"],
    );
  });
