import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/json.ts";
import type { ApiObject } from "../../contracts.ts";
import { type BinderView, planClaim, planVolume, type Step } from "./plan.ts";

const aClaim = (
  given: { spec?: JsonObject; annotations?: Record<string, string>; phase?: string; uid?: string } = {},
): ApiObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    name: "data",
    namespace: "team",
    uid: given.uid ?? "u1",
    resourceVersion: "7",
    ...(given.annotations === undefined ? {} : { annotations: given.annotations }),
  },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    volumeMode: "Filesystem",
    storageClassName: "fast",
    ...given.spec,
  },
  status: { phase: given.phase ?? "Pending" },
});
const aVolume = (
  name: string,
  given: { spec?: JsonObject; annotations?: Record<string, string>; phase?: string } = {},
): ApiObject => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: {
    name,
    resourceVersion: "3",
    ...(given.annotations === undefined ? {} : { annotations: given.annotations }),
  },
  spec: {
    accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
    capacity: { storage: "2Gi" },
    storageClassName: "fast",
    volumeMode: "Filesystem",
    persistentVolumeReclaimPolicy: "Delete",
    ...given.spec,
  },
  status: { phase: given.phase ?? "Available" },
});
const aClass = (given: JsonObject = {}): ApiObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast" },
  provisioner: "disk.example.com",
  volumeBindingMode: "Immediate",
  ...given,
});

interface World {
  readonly claims?: readonly ApiObject[];
  readonly volumes?: readonly ApiObject[];
  readonly classes?: readonly ApiObject[];
  readonly defaultClass?: string;
}
const viewOf = ({ claims = [], volumes = [], classes = [aClass()], defaultClass }: World): BinderView => ({
  candidates: () => volumes,
  volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
  claim: (namespace, name) => claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
  defaultClass: () => defaultClass,
});

/** "write data spec: …" in a few words, so that a row reads as a sentence. */
function said(step: Step): string {
  if (step.kind === "rest") return "rest";
  if (step.kind === "tell") return `tell ${step.event.reason}`;
  const { metadata, spec, status } = step.object as ApiObject & { spec: JsonObject; status: JsonObject };
  if (step.status) return `${metadata.name} becomes ${String(status.phase)}`;
  const claimRef = spec.claimRef as JsonObject | undefined;
  const parts = [
    claimRef === undefined ? "" : `promised to ${String(claimRef.name)} ${String(claimRef.uid ?? "(no uid)")}`,
    spec.volumeName === undefined ? "" : `takes ${String(spec.volumeName)}`,
    ...Object.keys(metadata.annotations ?? {}).sort(),
  ];
  return `${metadata.name}: ${parts.filter((part) => part !== "").join(", ")}`;
}

const boundRef = { kind: "PersistentVolumeClaim", namespace: "team", name: "data", uid: "u1" };
const completed = { "pv.kubernetes.io/bind-completed": "yes" };
const provisioner = {
  "volume.kubernetes.io/storage-provisioner": "disk.example.com",
  "volume.beta.kubernetes.io/storage-provisioner": "disk.example.com",
};
const delayed = aClass({ volumeBindingMode: "WaitForFirstConsumer" });
const selected = { "volume.kubernetes.io/selected-node": "n1" };
const names = "volume.beta.kubernetes.io/storage-provisioner, volume.kubernetes.io/storage-provisioner";

const claimCases: readonly { given: string; claim?: ApiObject; around?: World; next: string }[] = [
  { given: "no volume and a class", next: `data: ${names}` },
  {
    given: "its provisioner named already",
    claim: aClaim({ annotations: provisioner }),
    next: "tell ExternalProvisioning",
  },
  { given: "a class that does not exist", around: { classes: [] }, next: "tell ProvisioningFailed" },
  {
    given: "a class without a provisioner",
    around: { classes: [aClass({ provisioner: "kubernetes.io/no-provisioner" })] },
    next: "tell ProvisioningFailed",
  },
  { given: "no class on purpose", claim: aClaim({ spec: { storageClassName: "" } }), next: "tell FailedBinding" },
  {
    given: "no class said, and a default since then",
    claim: aClaim({ spec: { storageClassName: undefined } as never }),
    around: { defaultClass: "fast" },
    next: "data: ",
  },
  { given: "a class that waits for a pod", around: { classes: [delayed] }, next: "tell WaitForFirstConsumer" },
  {
    given: "a class that waits, and a node chosen",
    claim: aClaim({ annotations: selected }),
    around: { classes: [delayed] },
    next: `data: ${names.replace(", volume.kubernetes.io/storage", ", volume.kubernetes.io/selected-node, volume.kubernetes.io/storage")}`,
  },
  {
    given: "a free volume that fits",
    around: { volumes: [aVolume("pv")] },
    next: "pv: promised to data u1, pv.kubernetes.io/bound-by-controller",
  },
  {
    given: "two that fit: the smaller is taken",
    around: { volumes: [aVolume("big", { spec: { capacity: { storage: "9Gi" } } }), aVolume("small")] },
    next: "small: promised to data u1, pv.kubernetes.io/bound-by-controller",
  },
  {
    given: "a free volume, but a class that waits for a pod",
    around: { volumes: [aVolume("pv")], classes: [delayed] },
    next: "tell WaitForFirstConsumer",
  },
  ...(
    [
      ["is too small", { capacity: { storage: "1Mi" } }],
      ["is of another class", { storageClassName: "slow" }],
      ["is a block device", { volumeMode: "Block" }],
      ["cannot be written", { accessModes: ["ReadOnlyMany"] }],
      ["is promised to another", { claimRef: { ...boundRef, name: "other", uid: "u2" } }],
      ["is promised to one of the same name that is gone", { claimRef: { ...boundRef, uid: "u0" } }],
    ] as const
  ).map(([why, spec]) => ({
    given: `a volume that ${why}`,
    around: { volumes: [aVolume("pv", { spec: spec as JsonObject })] },
    next: `data: ${names}`,
  })),
  {
    given: "a volume that is not available yet",
    around: { volumes: [aVolume("pv", { phase: "Pending" })] },
    next: `data: ${names}`,
  },
  {
    given: "a selector that the volume does not satisfy",
    claim: aClaim({ spec: { selector: { matchLabels: { a: "b" } } } }),
    around: { volumes: [aVolume("pv")] },
    next: `data: ${names}`,
  },
  {
    given: "a volume made for it by a provisioner",
    around: { volumes: [aVolume("pv", { spec: { claimRef: boundRef }, phase: "Pending" })] },
    next: "pv becomes Bound",
  },
  {
    given: "its volume marked as bound",
    around: { volumes: [aVolume("pv", { spec: { claimRef: boundRef }, phase: "Bound" })] },
    next: "data: takes pv, pv.kubernetes.io/bind-completed, pv.kubernetes.io/bound-by-controller",
  },
  {
    given: "everything but its own phase",
    claim: aClaim({ spec: { volumeName: "pv" }, annotations: completed }),
    around: { volumes: [aVolume("pv", { spec: { claimRef: boundRef }, phase: "Bound" })] },
    next: "data becomes Bound",
  },
  {
    given: "a volume named by the user that is not there",
    claim: aClaim({ spec: { volumeName: "pv" } }),
    next: "rest",
  },
  {
    given: "a volume named by the user that fits",
    claim: aClaim({ spec: { volumeName: "pv" } }),
    around: { volumes: [aVolume("pv")] },
    next: "pv: promised to data u1, pv.kubernetes.io/bound-by-controller",
  },
  {
    given: "a volume named by the user that does not fit",
    claim: aClaim({ spec: { volumeName: "pv" } }),
    around: { volumes: [aVolume("pv", { spec: { storageClassName: "slow" } })] },
    next: "tell VolumeMismatch",
  },
  {
    given: "a volume named by the user that belongs to another",
    claim: aClaim({ spec: { volumeName: "pv" } }),
    around: { volumes: [aVolume("pv", { spec: { claimRef: { ...boundRef, name: "other", uid: "u2" } } })] },
    next: "tell FailedBinding",
  },
  {
    given: "a volume promised to it by name alone",
    around: { volumes: [aVolume("pv", { spec: { claimRef: { namespace: "team", name: "data" } } })] },
    next: "pv: promised to data u1",
  },
  {
    given: "been bound to a volume that is gone",
    claim: aClaim({ spec: { volumeName: "pv" }, annotations: completed, phase: "Bound" }),
    next: "data becomes Lost",
  },
  {
    given: "lost its volume, and said so",
    claim: aClaim({ spec: { volumeName: "pv" }, annotations: completed, phase: "Lost" }),
    next: "tell ClaimLost",
  },
  {
    given: "been bound to a volume that now belongs to another",
    claim: aClaim({ spec: { volumeName: "pv" }, annotations: completed, phase: "Bound" }),
    around: { volumes: [aVolume("pv", { spec: { claimRef: { ...boundRef, uid: "u2" } }, phase: "Bound" })] },
    next: "data becomes Lost",
  },
];

for (const { given, claim = aClaim(), around = {}, next } of claimCases)
  test(`a claim that has ${given}: ${next}`, () => {
    const view = viewOf({ ...around, claims: [claim] });
    assert.equal(said(planClaim(claim, view)), next);
  });

test("a bound claim shows the volume's size and modes, and nothing more is written", () => {
  const volume = aVolume("pv", { spec: { claimRef: boundRef }, phase: "Bound" });
  const claim = aClaim({ spec: { volumeName: "pv" }, annotations: completed });
  const step = planClaim(claim, viewOf({ claims: [claim], volumes: [volume] }));
  assert.ok(step.kind === "write");
  assert.deepEqual(step.object.status, {
    phase: "Bound",
    accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
    capacity: { storage: "2Gi" },
  });
  assert.equal(said(planClaim(step.object, viewOf({ claims: [step.object], volumes: [volume] }))), "rest");
  assert.equal(said(planVolume(volume, viewOf({ claims: [step.object], volumes: [volume] }))), "rest");
});

const made = { "pv.kubernetes.io/provisioned-by": "disk.example.com" };
const volumeCases: readonly { given: string; volume: ApiObject; claims?: readonly ApiObject[]; next: string }[] = [
  { given: "no claim to bind to", volume: aVolume("pv", { phase: "Pending" }), next: "pv becomes Available" },
  { given: "been free for long", volume: aVolume("pv"), next: "rest" },
  {
    given: "been promised to a claim by name alone",
    volume: aVolume("pv", { spec: { claimRef: { namespace: "team", name: "data" } }, phase: "Pending" }),
    next: "pv becomes Available",
  },
  {
    given: "a claim that has taken it",
    volume: aVolume("pv", { spec: { claimRef: boundRef } }),
    claims: [aClaim({ spec: { volumeName: "pv" } })],
    next: "pv becomes Bound",
  },
  {
    given: "lost its claim",
    volume: aVolume("pv", { spec: { claimRef: boundRef }, phase: "Bound" }),
    next: "pv becomes Released",
  },
  {
    given: "a claim of the same name that is another one",
    volume: aVolume("pv", { spec: { claimRef: boundRef }, phase: "Bound" }),
    claims: [aClaim({ uid: "u9" })],
    next: "pv becomes Released",
  },
  { given: "been released", volume: aVolume("pv", { spec: { claimRef: boundRef }, phase: "Released" }), next: "rest" },
  {
    given: "a claim that took another volume, though it was made for it",
    volume: aVolume("pv", { spec: { claimRef: boundRef }, annotations: made, phase: "Bound" }),
    claims: [aClaim({ spec: { volumeName: "other" } })],
    next: "pv becomes Released",
  },
  {
    given: "a claim that took another volume, and was chosen by the binder",
    volume: aVolume("pv", {
      spec: { claimRef: boundRef },
      annotations: { "pv.kubernetes.io/bound-by-controller": "yes" },
    }),
    claims: [aClaim({ spec: { volumeName: "other" } })],
    next: "pv: ",
  },
  {
    given: "a claim that took another volume, and was promised by a person",
    volume: aVolume("pv", { spec: { claimRef: boundRef } }),
    claims: [aClaim({ spec: { volumeName: "other" } })],
    next: "pv: promised to data (no uid)",
  },
  {
    given: "a claim it cannot serve",
    volume: aVolume("pv", { spec: { claimRef: boundRef, volumeMode: "Block" } }),
    claims: [aClaim()],
    next: "tell VolumeMismatch",
  },
];

for (const { given, volume, claims = [], next } of volumeCases)
  test(`a volume that has ${given}: ${next}`, () => {
    assert.equal(said(planVolume(volume, viewOf({ claims, volumes: [volume] }))), next);
  });
