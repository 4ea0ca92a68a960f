import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume, driver } from "../../../../test/builders.ts";
import { planTester, type ReasonedCase } from "../../../../test/plan-cases.ts";
import { aStorageClass, briefAction, driverWith, nowMs, refusal, unsent } from "../../../../test/volume-plans.ts";
import { provisioning } from "../../../api/names.ts";
import type { ObjectMeta, PersistentVolume, VolumeAttachment } from "../../../api/types.ts";
import type { ProvisionerAction } from "../plan-steps.ts";
import { noStoredMemory } from "./memory.ts";
import type { StoredFacts, StoredView } from "./observe.ts";
import { storedPhaseOf } from "./phase.ts";
import { planStored } from "./plan.ts";

const { volumeFinalizer, provisionedBy, deletionSecretName, deletionSecretNamespace } = provisioning;
const protectedBy = { finalizers: [volumeFinalizer] };

const stored = (
  phase: string,
  metadata: Partial<ObjectMeta> = protectedBy,
  policy = "Delete",
  by = driver,
): PersistentVolume => ({
  ...aVolume({
    metadata: { annotations: { [provisionedBy]: driver }, ...metadata },
    spec: {
      csi: { driver: by, volumeHandle: "vol-1" },
      claimRef: { namespace: "team", name: "data", uid: "uid-claim" },
      persistentVolumeReclaimPolicy: policy,
      storageClassName: "fast",
    },
  }),
  status: { phase },
});
const attachment = { metadata: { name: "csi-1" } } as VolumeAttachment;
const attaching = driverWith(["PUBLISH_UNPUBLISH_VOLUME"]);
const deletionTimestamp = "2026-01-01T01:00:00Z";
const secret = { name: "key", namespace: "vault" };
const withSecret = { method: "delete", volumeId: "vol-1", secret } as const;

const aView = (
  volume: PersistentVolume,
  facts: Partial<StoredFacts> = {},
  memory: Partial<StoredView["memory"]> = {},
): StoredView => ({
  facts: { volume, storageClass: aStorageClass(), attachments: [], driver: driverWith(), ...facts },
  memory: { ...noStoredMemory, replyLeftMs: 1_000, ...memory },
  nowMs,
});

const testStoredPlans: (cases: readonly ReasonedCase<StoredView>[]) => void = planTester<StoredView, ProvisionerAction>(
  {
    phaseOf: storedPhaseOf,
    plan: planStored,
    brief: briefAction,
  },
);
testStoredPlans([
  { given: "a bound volume", view: aView(stored("Bound")), phase: "kept", reason: "Settled", expect: [] },
  {
    given: "a released volume that is retained when the driver has deleted it",
    view: aView(stored("Released", protectedBy, "Retain"), {}, { reply: { kind: "deleted" } }),
    phase: "deleted",
    reason: "Writes",
    expect: ["delete PersistentVolume", "count"],
  },
  {
    given: "a released volume, and a request that would create it again",
    view: aView(stored("Released"), {}, { isBeingStored: true }),
    phase: "deletable",
    reason: "Writes",
    expect: [],
  },
  {
    given: "a retained volume, and a request that would create it again, with the policy of its class",
    view: aView(stored("Released", protectedBy, "Retain"), {}, { isBeingStored: true }),
    phase: "unprotected",
    reason: "Writes",
    expect: [],
  },
  {
    given: "a bound volume without the finalizer",
    view: aView(stored("Bound", {})),
    phase: "unprotected",
    reason: "Writes",
    expect: ["patch PersistentVolume"],
  },
  {
    given: "a bound volume without the finalizer that is being deleted",
    view: aView(stored("Bound", { deletionTimestamp })),
    phase: "kept",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a volume to retain with the finalizer, whose call is forgotten first",
    view: aView(stored("Bound", protectedBy, "Retain")),
    phase: "unprotected",
    reason: "Released",
    expect: ["settleIntent", "patch PersistentVolume"],
  },
  {
    given: "a released volume to retain",
    view: aView(stored("Released", {}, "Retain")),
    phase: "kept",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a released volume",
    view: aView(stored("Released")),
    phase: "deletable",
    reason: "WaitsForDriver",
    expect: ["settleIntent, confirm, delete"],
  },
  {
    given: "a released volume of another driver",
    view: aView(stored("Released", protectedBy, "Delete", "tape.example.com")),
    phase: "foreign",
    reason: "NotOurs",
    expect: [],
  },
  {
    given: "a released volume that another provisioner made for our driver",
    view: aView(stored("Released", { ...protectedBy, annotations: { [provisionedBy]: "other" } })),
    phase: "foreign",
    reason: "NotOurs",
    expect: [],
  },
  {
    given: "a released volume that an administrator made by hand",
    view: aView(stored("Released", { ...protectedBy, annotations: {} })),
    phase: "deletable",
    reason: "WaitsForDriver",
    expect: ["settleIntent, confirm, delete"],
  },
  { given: "a failed volume", view: aView(stored("Failed")), phase: "kept", reason: "Settled", expect: [] },
  {
    given: "a released volume that is attached",
    view: aView(stored("Released"), { attachments: [attachment], driver: attaching }),
    phase: "attached",
    reason: "VolumeInUse",
    expect: ["VolumeFailedDelete SNAP-352"],
  },
  {
    given: "a released volume of a driver that attaches, and attachments that are not watched",
    view: aView(stored("Released"), { attachments: undefined, driver: attaching }),
    phase: "attached",
    reason: "VolumeInUse",
    expect: ["VolumeFailedDelete SNAP-352"],
  },
  {
    given: "a released volume of a driver that does not attach",
    view: aView(stored("Released"), { attachments: [attachment] }),
    phase: "deletable",
    reason: "WaitsForDriver",
    expect: ["settleIntent, confirm, delete"],
  },
  {
    given: "a released volume with a secret",
    view: aView(
      stored("Released", {
        ...protectedBy,
        annotations: { [provisionedBy]: driver, [deletionSecretName]: "key", [deletionSecretNamespace]: "vault" },
      }),
    ),
    phase: "deletable",
    reason: "WaitsForDriver",
    expect: ["settleIntent, confirm, delete with key"],
  },
  {
    given: "a secret that cannot be read at the moment",
    view: aView(stored("Released"), {}, { reply: unsent("Unavailable"), repliedTo: withSecret }),
    phase: "deletable",
    reason: "SecretNotUsable",
    expect: ["VolumeFailedDelete SNAP-338"],
  },
  {
    given: "a secret that is gone: the driver is asked without it",
    view: aView(stored("Released"), {}, { reply: unsent("NotFound"), repliedTo: withSecret }),
    phase: "deletable",
    reason: "WaitsForDriver",
    expect: ["VolumeFailedDelete SNAP-338", "settleIntent, confirm, delete"],
  },
  {
    given: "a driver that has refused for good to delete the volume, and a PersistentVolume that has not changed since",
    view: aView(stored("Released"), {}, { refusedVersion: stored("Released").metadata.resourceVersion }),
    phase: "deletable",
    reason: "DriverFailed",
    expect: [],
  },
  {
    given: "a driver that has refused for good to delete the volume, and a PersistentVolume that has changed since",
    view: aView(stored("Released"), {}, { refusedVersion: "an earlier one" }),
    phase: "deletable",
    reason: "WaitsForDriver",
    expect: ["settleIntent, confirm, delete"],
  },
  {
    given: "a driver that cannot delete the volume",
    view: aView(stored("Released"), {}, { reply: refusal("FailedPrecondition") }),
    phase: "deletable",
    reason: "DriverFailed",
    expect: ["VolumeFailedDelete SNAP-351"],
  },
  {
    given: "a volume that the driver has deleted",
    view: aView(stored("Released"), {}, { reply: { kind: "deleted" } }),
    phase: "deleted",
    reason: "Writes",
    expect: ["delete PersistentVolume", "count"],
  },
  {
    given: "a volume that the driver has deleted, and an object that finalizers of others keep",
    view: aView(
      stored("Released", { finalizers: ["example.com/backup"], deletionTimestamp }),
      {},
      { reply: { kind: "deleted" } },
    ),
    phase: "deleted",
    reason: "VolumeInUse",
    expect: [],
  },
  {
    given: "a driver that does not answer whether it has deleted the volume",
    view: aView(stored("Released"), {}, { reply: refusal("DeadlineExceeded") }),
    phase: "deletable",
    reason: "OutcomeUnknown",
    expect: ["VolumeFailedDelete SNAP-351"],
  },
  {
    given: "a volume that the driver has deleted and the server too",
    view: aView(stored("Released", { ...protectedBy, deletionTimestamp }), {}, { reply: { kind: "deleted" } }),
    phase: "deleted",
    reason: "Released",
    expect: ["patch PersistentVolume"],
  },
]);

test("a volume of an older provisioner is deleted with the secret that its class names", () => {
  const parameters = {
    "csi.storage.k8s.io/provisioner-secret-name": "${pvc.name}",
    "csi.storage.k8s.io/provisioner-secret-namespace": "${pvc.namespace}",
  };
  const { actions } = planStored(aView(stored("Released"), { storageClass: aStorageClass({ parameters }) }));
  const [action] = actions;
  assert.ok(action?.kind === "csi");
  assert.deepEqual(action.call.secret, { name: "data", namespace: "team" });
});

test("empty annotations say that no secret is needed, whatever the class says", () => {
  const parameters = {
    "csi.storage.k8s.io/provisioner-secret-name": "key",
    "csi.storage.k8s.io/provisioner-secret-namespace": "vault",
  };
  const annotations = { [provisionedBy]: driver, [deletionSecretName]: "", [deletionSecretNamespace]: "" };
  const view = aView(stored("Released", { ...protectedBy, annotations }), {
    storageClass: aStorageClass({ parameters }),
  });
  const [action] = planStored(view).actions;
  assert.ok(action?.kind === "csi");
  assert.equal(action.call.secret, undefined);
});
