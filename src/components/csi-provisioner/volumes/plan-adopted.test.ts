/** Stored CreateVolume calls that this process has not made: of a predecessor, or of whoever may update the Lease. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aCreateCall,
  anIntent,
  aPendingClaim,
  aStorageClass,
  aVolumeView,
  created,
  refusal,
  snapshotFacts,
  testVolumePlans,
} from "../../../../test/volume-plans.ts";
import type { StorageClass } from "../../../api/types.ts";
import { keyIn } from "../../../base/brand.ts";
import type { Intent } from "../stored-calls/intent.ts";
import { judge, learnable } from "../stored-calls/judge.ts";
import type { VolumeMemory } from "./memory.ts";
import type { VolumeFacts } from "./observe.ts";
import { planVolume } from "./plan.ts";

const adopted = (facts: Partial<VolumeFacts>, memory: Partial<VolumeMemory> = {}) =>
  aVolumeView({ classes: [aStorageClass()], ...facts }, { isAdopted: true, ...memory });
const aRestore = (handle: string): Intent =>
  anIntent({ snapshotKey: "team/monday", call: aCreateCall({ source: { kind: "snapshot", handle } }) });
const ofAnother = anIntent({ call: aCreateCall({ source: { kind: "volume", handle: "volume-of-another-tenant" } }) });
const withSecret = anIntent({ secrets: { "node-publish": { namespace: "kube-system", name: "admin" } } });
const withOptions = anIntent({
  mountOptions: ["suid", "dev"],
  call: aCreateCall({ capabilities: [{ mode: "SINGLE_NODE_WRITER", mount: { fsType: "", flags: ["suid", "dev"] } }] }),
});
const undoing = anIntent({ undoes: "volume-that-is-retained" });
const noted = anIntent({ published: "vol-9" });
const gone = { claim: undefined } as const;

testVolumePlans([
  {
    given: "a stored call that is as its claim asks now",
    view: adopted({ intent: anIntent() }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  ...(
    [
      ["that names another tenant's volume as the source", ofAnother],
      ["with a Secret of somebody else for the node", withSecret],
      ["with mount options that the class does not have", withOptions],
      ["that names a volume to delete", undoing],
    ] as const
  ).map(([what, intent]) => ({
    given: `a stored call ${what}`,
    view: adopted({ intent }),
    phase: "wanted" as const,
    reason: "StoredCallDiffers" as const,
    expect: ["StoredCallDiffers SNAP-350", "logIntent, create"],
  })),
  {
    given: "a stored call of a restore whose snapshot is there",
    view: adopted({ intent: aRestore("s-1"), source: snapshotFacts() }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["protectSource, logIntent, create"],
  },
  {
    given: "a stored call whose source cannot be asked for any more",
    view: adopted({ intent: aRestore("s-1"), source: snapshotFacts({ snapshot: undefined }) }),
    phase: "wanted",
    reason: "SnapshotNotFound",
    expect: ["ProvisioningFailed SNAP-301", "logIntent, learn"],
  },
  {
    given: "a stored call whose source has to be read first",
    view: adopted({ intent: aRestore("s-1"), source: snapshotFacts({ isUnread: true }) }),
    phase: "wanted",
    reason: "Writes",
    expect: ["readSnapshot"],
  },
  {
    given: "a stored call whose claim is gone, and that names a volume to delete",
    view: adopted({ ...gone, intent: undoing }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "the same, and the driver's answer",
    view: adopted({ ...gone, intent: undoing }, { reply: created, isLearning: true, repliedTo: aCreateCall() }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "the same, and a driver that has no such volume",
    view: adopted({ ...gone, intent: undoing }, { reply: refusal("NotFound"), isUncertain: false }),
    phase: "abandoned",
    reason: "StoredCallUncertain",
    expect: ["VolumeLeftAtDriver SNAP-348", "forgetIntent"],
  },
  {
    given: "a call of a claim that is gone, with a note of another process",
    view: adopted({ ...gone, intent: noted }, { mayBePublished: true }),
    phase: "abandoned",
    reason: "StoredCallUncertain",
    expect: ["confirm", "VolumeLeftAtDriver SNAP-349", "forgetIntent"],
  },
  {
    given: "the same, and another PersistentVolume has the volume",
    view: adopted({ ...gone, intent: noted, holder: "pv-1" }, { mayBePublished: true }),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "a call with such a note whose claim is there, was never bound, and is being deleted",
    view: adopted(
      { intent: noted, claim: aPendingClaim({ metadata: { deletionTimestamp: "2026-01-01T01:00:00Z" } }) },
      { mayBePublished: true, reply: created, repliedTo: aCreateCall() },
    ),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["publishing, confirm, requireIntent, delete"],
  },
  {
    given: "a call of a claim that is gone, which this process has noted itself",
    view: aVolumeView({ ...gone, intent: noted }, { reply: created }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["publishing, confirm, requireIntent, delete"],
  },
  {
    given:
      "a call of a claim that is gone, which the driver refuses for the fifth time because it has the volume otherwise",
    view: adopted({ ...gone, intent: anIntent() }, { reply: refusal("AlreadyExists"), repliesInRow: 5 }),
    phase: "abandoned",
    reason: "StoredCallUncertain",
    expect: ["VolumeLeftAtDriver SNAP-348", "forgetIntent"],
  },
]);

test("what a PersistentVolume is made of comes from claim and class alone", () => {
  const storageClass = aStorageClass({ mountOptions: ["noatime"] });
  for (const intent of [ofAnother, withSecret, withOptions, undoing]) {
    const plan = planVolume(adopted({ intent, storageClass }));
    const call = plan.actions.find((action) => action.kind === "csi");
    assert.ok(call?.kind === "csi" && call.call.method === "create");
    assert.equal(call.call.source, undefined);
    const stored = call.intent.find((action) => action.kind === "logIntent");
    assert.ok(stored?.kind === "logIntent");
    assert.deepEqual(stored.intent, {
      ...anIntent({ mountOptions: ["noatime"] }),
      call: aCreateCall({ capabilities: [{ mode: "SINGLE_NODE_WRITER", mount: { fsType: "", flags: ["noatime"] } }] }),
    });
  }
});

test("a report says in which fields a call differs, and none of its values", () => {
  const [action] = planVolume(adopted({ intent: { ...ofAnother, ...withSecret, call: ofAnother.call } })).actions;
  assert.ok(action?.kind === "reportCall");
  assert.match(action.message, /\(source, secrets\)/);
  assert.doesNotMatch(action.message, /tenant|admin/);
});

test("the report of a volume that may be retained has its id and a command, and nothing for a shell to run", () => {
  const said = (published: string): string => {
    const view = adopted({ ...gone, intent: anIntent({ published }) }, { mayBePublished: true });
    const action = planVolume(view).actions.find(({ kind }) => kind === "reportCall");
    return action?.kind === "reportCall" ? action.message : "";
  };
  assert.match(
    said("vol-9"),
    /as "vol-9" \(its stored call says so: see at the storage that it is this volume\).*To delete it: echo '.*"volumeHandle":"vol-9".*' \| kubectl create -f - \[SNAP-349\]$/,
  );
  assert.match(said("'; rm -rf /; '"), /"volumeHandle":"HANDLE"/);
  assert.match(said(""), /an unknown id.*"volumeHandle":"HANDLE"/);
});

const secret = { namespace: "vault", name: "key" };
const secretClass = (
  parameters: Readonly<Record<string, string>> = {},
  change: Partial<StorageClass> = {},
): StorageClass =>
  aStorageClass({
    parameters: {
      "csi.storage.k8s.io/provisioner-secret-name": "key",
      "csi.storage.k8s.io/provisioner-secret-namespace": "vault",
      ...parameters,
    },
    ...change,
  });
const learned = (call: Partial<Parameters<typeof aCreateCall>[0]>, ...classes: readonly StorageClass[]) =>
  learnable(anIntent({ undoes: "x", secrets: { "node-publish": secret }, call: aCreateCall(call) }), classes);

test("without its claim, a call is sent with the secret that a StorageClass names for it, and with no other", () => {
  assert.deepEqual(learned({ secret }, secretClass()).call.secret, secret);
  assert.equal(learned({ secret }).call.secret, undefined);
  assert.equal(learned({ secret: { namespace: "vault", name: "other" } }, secretClass()).call.secret, undefined);
  // The parameters may say to which server the driver sends the secret.
  assert.equal(
    learned({ secret, parameters: { server: "evil" } }, secretClass({ server: "nas" })).call.secret,
    undefined,
  );
  const named = { server: "nas", "csi.storage.k8s.io/pvc/name": "new" };
  assert.deepEqual(learned({ secret, parameters: named }, secretClass({ server: "nas" })).call.secret, secret);
  const { undoes, secrets } = learned({ secret }, secretClass());
  assert.deepEqual([undoes, secrets], [undefined, {}]);
});

test("a place is taken over if it is allowed now and comes first", () => {
  const a = { zone: "a" };
  const b = { zone: "b" };
  const at = (requisite: readonly (typeof a)[], preferred = requisite): Intent =>
    anIntent({ call: aCreateCall({ topology: { requisite, preferred } }) });
  const wanted = at([a, b]);
  const outcome = (stored: Intent) => {
    const { intent, differences } = judge(stored, wanted);
    return [intent.call.topology?.requisite, differences];
  };
  assert.deepEqual(outcome(at([a])), [[a], []]);
  assert.deepEqual(outcome(at([a, { zone: "c" }])), [[a, b], ["topology"]]);
  assert.deepEqual(outcome(at([a, b], [b, a])), [[a, b], ["topology"]]);
  assert.deepEqual(outcome(anIntent()), [[a, b], ["topology"]]);
});

/** The restore is the same one that was stored; the snapshot belongs to another namespace than the claim. */
const ofOwner = (): VolumeFacts["source"] => snapshotFacts({ key: keyIn("owner", "monday") });

for (const [given, view, isRequired] of [
  ["an adopted call", adopted({ intent: aRestore("s-1"), source: ofOwner() }), true],
  ["a call of this process", adopted({ intent: aRestore("s-1"), source: ofOwner() }, { isAdopted: false }), false],
  ["an adopted call in the source's namespace", adopted({ intent: aRestore("s-1"), source: snapshotFacts() }), false],
] as const)
  test(`given ${given}, the source ${isRequired ? "must" : "need not"} be protected before the call is sent`, () => {
    const sent = planVolume(view).actions.find(({ kind }) => kind === "csi") as
      | { intent: readonly object[] }
      | undefined;
    const protect = sent?.intent.find((action) => (action as { kind: string }).kind === "protectSource");
    assert.equal((protect as { isRequired: boolean } | undefined)?.isRequired, isRequired);
  });
