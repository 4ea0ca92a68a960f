/** One table for the smaller kinds: what they default, what they refuse, what they let change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aContext, created, updated } from "../../../test/strategy.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ApiObject, Strategy } from "../contracts.ts";
import { createStrategies } from "./strategies.ts";

const strategies = createStrategies();
const strategyOf = (apiVersion: string, kind: string): Strategy => {
  const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
  const found = strategies[`${group}/${kind}`];
  assert.ok(found !== undefined, `${apiVersion} ${kind} has a strategy`);
  return found;
};
const storage = "storage.k8s.io/v1";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Creation {
  readonly given: string;
  readonly of: readonly [apiVersion: string, kind: string];
  readonly body: JsonObject;
  readonly metadata?: JsonObject;
  readonly has?: JsonObject;
  readonly says?: readonly string[];
}

const subdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`;

const creations: readonly Creation[] = [
  {
    given: "a namespace",
    of: ["v1", "Namespace"],
    body: { status: { phase: "Terminating" } },
    has: { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } },
  },
  {
    given: "a namespace with an unknown finalizer",
    of: ["v1", "Namespace"],
    body: { spec: { finalizers: ["what"] } },
    says: [
      'spec.finalizers: Invalid value: "what": name is neither a standard finalizer name nor is it fully qualified',
    ],
  },
  {
    given: "a secret in plain text",
    of: ["v1", "Secret"],
    body: { stringData: { a: "ä" }, data: { a: base64("old"), b: base64("b") } },
    has: { data: { a: base64("ä"), b: base64("b") }, type: "Opaque" },
  },
  {
    given: "a secret with a bad key",
    of: ["v1", "Secret"],
    body: { data: { "a b": "" } },
    says: [
      `data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
    ],
  },
  {
    given: "a certificate without its parts",
    of: ["v1", "Secret"],
    body: { type: "kubernetes.io/tls" },
    says: ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
  },
  {
    given: "a secret above a megabyte",
    of: ["v1", "Secret"],
    body: { data: { a: base64("x".repeat(1024 * 1024 + 1)) } },
    says: ["data: Too long: may not be more than 1048576 bytes"],
  },
  {
    given: "a key in both maps",
    of: ["v1", "ConfigMap"],
    body: { data: { a: "" }, binaryData: { a: "" } },
    says: ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  },
  {
    given: "a storage class with nothing but a provisioner",
    of: [storage, "StorageClass"],
    body: { provisioner: "x.example.com" },
    has: { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
  },
  {
    given: "a storage class of nothing",
    of: [storage, "StorageClass"],
    body: { reclaimPolicy: "Recycle", volumeBindingMode: "Later" },
    says: [
      "provisioner: Required value",
      'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  },
  {
    given: "a CSIDriver with an empty spec",
    of: [storage, "CSIDriver"],
    body: { spec: {} },
    has: {
      spec: {
        attachRequired: true,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: "ReadWriteOnceWithFSType",
        volumeLifecycleModes: ["Persistent"],
        requiresRepublish: false,
        seLinuxMount: false,
      },
    },
  },
  {
    given: "a driver of an unknown life",
    of: [storage, "CSIDriver"],
    body: { spec: { volumeLifecycleModes: ["Eternal"], tokenRequests: [{ audience: "a" }, { audience: "a" }] } },
    says: [
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
      'spec.volumeLifecycleModes: Unsupported value: "Eternal": supported values: "Persistent", "Ephemeral"',
    ],
  },
  {
    given: "the same driver twice on a node",
    of: [storage, "CSINode"],
    body: {
      spec: {
        drivers: [
          { name: "d", nodeID: "n" },
          { name: "d", nodeID: "" },
        ],
      },
    },
    says: ["spec.drivers[1].nodeID: Required value", 'spec.drivers[1].name: Duplicate value: "d"'],
  },
  {
    given: "an attachment of nothing",
    of: [storage, "VolumeAttachment"],
    body: { spec: { attacher: "d", nodeName: "n", source: {} }, status: { attached: true } },
    says: ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  },
  {
    given: "a capacity below nothing",
    of: [storage, "CSIStorageCapacity"],
    body: { storageClassName: "C", capacity: "-1" },
    says: [
      `storageClassName: Invalid value: "C": ${subdomain}`,
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
  {
    given: "a lease of no time",
    of: ["coordination.k8s.io/v1", "Lease"],
    body: { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    says: [
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
      "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ],
  },
  {
    given: "an event about something elsewhere",
    of: ["v1", "Event"],
    body: { involvedObject: { namespace: "other" } },
    says: ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
  },
  {
    given: "an events.k8s.io event with missing fields",
    of: ["events.k8s.io/v1", "Event"],
    body: { regarding: { namespace: "team" }, series: { count: 1, lastObservedTime: null }, deprecatedCount: 3 },
    says: [
      'series.count: Invalid value: "": should be at least 2',
      "series.lastObservedTime: Required value",
      "eventTime: Required value",
      'type: Invalid value: "": has invalid value: ',
      'count: Invalid value: "": needs to be unset',
    ],
  },
  {
    given: "a tainted node",
    of: ["v1", "Node"],
    body: { spec: { taints: [{ key: "a", effect: "Sometimes" }] } },
    says: [
      'metadata.taints[0].effect: Unsupported value: "Sometimes": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  },
];

const bodyOf = ({ of: [apiVersion, kind], body, metadata }: Creation): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: "it", ...(kind === "Namespace" ? {} : { namespace: "team" }), ...metadata },
  ...body,
});

for (const creation of creations)
  test(`${creation.given} is ${creation.says === undefined ? "completed" : "rejected"}`, () => {
    const { object, says } = created(strategyOf(...creation.of), bodyOf(creation));
    assert.deepEqual(says, creation.says ?? []);
    for (const [key, value] of Object.entries(creation.has ?? {})) assert.deepEqual(object[key], value, key);
  });

interface Update {
  readonly given: string;
  readonly from: Creation;
  readonly change: JsonObject;
  readonly subresource?: string;
  readonly says: readonly string[];
}
const aClass: Creation = {
  given: "",
  of: [storage, "StorageClass"],
  body: { provisioner: "p.x", parameters: { a: "b" } },
};
const sealed = "Forbidden: field is immutable when `immutable` is set";
const updates: readonly Update[] = [
  {
    given: "a storage class's parameters, provisioner, policy and mode",
    from: aClass,
    change: {
      provisioner: "q.x",
      parameters: { a: "c" },
      reclaimPolicy: "Retain",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    says: [
      'parameters: Invalid value: {"a":"c"}: field is immutable',
      'provisioner: Invalid value: "q.x": field is immutable',
      'reclaimPolicy: Invalid value: "Retain": field is immutable',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ],
  },
  { given: "whether a storage class allows growth", from: aClass, change: { allowVolumeExpansion: true }, says: [] },
  {
    given: "a secret's type",
    from: { given: "", of: ["v1", "Secret"], body: {} },
    change: { type: "other" },
    says: ['type: Invalid value: "other": field is immutable'],
  },
  {
    given: "a sealed secret",
    from: { given: "", of: ["v1", "Secret"], body: { immutable: true, data: { a: "" } } },
    change: { immutable: false, data: { b: "" } },
    says: [`immutable: ${sealed}`, `data: ${sealed}`],
  },
  {
    given: "a sealed map",
    from: { given: "", of: ["v1", "ConfigMap"], body: { immutable: true } },
    change: { data: { b: "" }, binaryData: { c: "" } },
    says: [`data: ${sealed}`, `binaryData: ${sealed}`],
  },
  {
    given: "whether a driver attaches",
    from: { given: "", of: [storage, "CSIDriver"], body: { spec: {} } },
    change: { spec: { attachRequired: false } },
    says: ["spec.attachedRequired: Invalid value: false: field is immutable"],
  },
  {
    given: "the node id of a driver",
    from: { given: "", of: [storage, "CSINode"], body: { spec: { drivers: [{ name: "d", nodeID: "n" }] } } },
    change: {
      spec: {
        drivers: [
          { name: "d", nodeID: "m" },
          { name: "e", nodeID: "m" },
        ],
      },
    },
    says: [
      'spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable',
    ],
  },
  {
    given: "an active namespace's phase",
    from: { given: "", of: ["v1", "Namespace"], body: {} },
    change: { status: { phase: "Terminating" } },
    subresource: "status",
    says: ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"],
  },
];

for (const { given, from, change, subresource = "", says } of updates)
  test(`changing ${given} is ${says.length === 0 ? "accepted" : "rejected"}`, () => {
    const strategy = strategyOf(...from.of);
    const old: ApiObject = created(strategy, bodyOf(from)).object;
    const outcome = updated(strategy, old, (body) => void Object.assign(body, change), aContext({ subresource }));
    assert.deepEqual(outcome.says, says);
  });

test("a deleted namespace terminates, and stays until its finalizers are gone", () => {
  const strategy = strategyOf("v1", "Namespace");
  const { object } = created(strategy, bodyOf({ given: "", of: ["v1", "Namespace"], body: {} }));
  strategy.prepareForDelete?.(object, aContext());
  assert.deepEqual(object.status, { phase: "Terminating" });
  assert.equal(strategy.holdsDeletion?.(object), true);
  const finalized = updated(
    strategy,
    object,
    (body) => void Object.assign(body, { spec: { finalizers: [] } }),
    aContext({ subresource: "finalize" }),
  );
  assert.equal(strategy.holdsDeletion?.(finalized.object), false);
});

test("an ordinary update of a namespace cannot remove its finalizers or its name label", () => {
  const strategy = strategyOf("v1", "Namespace");
  const { object } = created(strategy, bodyOf({ given: "", of: ["v1", "Namespace"], body: {} }));
  const outcome = updated(strategy, object, (body) =>
    Object.assign(body, { spec: {}, metadata: { name: "it", labels: { a: "b" } } }),
  );
  assert.deepEqual(outcome.object.spec, { finalizers: ["kubernetes"] });
  assert.deepEqual(outcome.object.metadata.labels, { a: "b", "kubernetes.io/metadata.name": "it" });
});
