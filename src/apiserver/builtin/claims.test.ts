import assert from "node:assert/strict";
import { test } from "node:test";
import { aContext, created, updated } from "../../../test/strategy.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ApiObject } from "../contracts.ts";
import { createClaimStrategy } from "./claims.ts";

const strategy = createClaimStrategy();
const aClaim = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", namespace: "team" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  status: { phase: "Bound" },
});

test("a new claim has phase Pending and volumeMode Filesystem, for any given status", () => {
  const { object, says } = created(strategy, aClaim());
  assert.deepEqual(says, []);
  assert.deepEqual(object.status, { phase: "Pending" });
  assert.deepEqual(object.spec, {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    volumeMode: "Filesystem",
  });
});

const invalid: readonly { given: string; spec: JsonObject; says: readonly string[] }[] = [
  {
    given: "no access mode and no size",
    spec: { accessModes: [], resources: {} },
    says: [
      "spec.accessModes: Required value: at least 1 access mode is required",
      "spec.resources[storage]: Required value",
    ],
  },
  {
    given: "an unknown access mode",
    spec: { accessModes: ["Sometimes"] },
    says: [
      'spec.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ],
  },
  {
    given: "ReadWriteOncePod among others",
    spec: { accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] },
    says: ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
  },
  {
    given: "a size of zero",
    spec: { resources: { requests: { storage: "0" } } },
    says: ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
  },
  {
    given: "an unknown volume mode",
    spec: { volumeMode: "Tape" },
    says: ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
  },
  {
    given: "a selector without values",
    spec: { selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    says: [
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  },
];

for (const { given, spec, says } of invalid)
  test(`a claim with ${given} is rejected`, () => assert.deepEqual(created(strategy, aClaim(spec)).says, says));

const spec = (object: JsonObject): JsonObject => object.spec as JsonObject;
const stored = (changes: JsonObject = {}, status: JsonObject = { phase: "Pending" }): ApiObject => ({
  ...created(strategy, aClaim(changes)).object,
  status,
});
const bound = { phase: "Bound", capacity: { storage: "1Gi" } };
const frozen = (changed: string): string =>
  `spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\nchanged: ${changed}`;

const changes: readonly {
  given: string;
  from?: JsonObject;
  status?: JsonObject;
  change: (object: JsonObject) => void;
  says: readonly string[];
}[] = [
  {
    given: "the volume for the first time",
    change: (object) => {
      spec(object).volumeName = "pv";
    },
    says: [],
  },
  {
    given: "the volume a second time",
    from: { volumeName: "pv" },
    change: (object) => {
      spec(object).volumeName = "other";
    },
    says: [frozen("volumeName")],
  },
  {
    given: "the class where there was none",
    change: (object) => {
      spec(object).storageClassName = "fast";
    },
    says: [],
  },
  {
    given: "the class where there was one",
    from: { storageClassName: "slow" },
    change: (object) => {
      spec(object).storageClassName = "fast";
    },
    says: [frozen("storageClassName")],
  },
  {
    given: "the size while unbound",
    change: (object) => {
      spec(object).resources = { requests: { storage: "2Gi" } };
    },
    says: [frozen("resources")],
  },
  {
    given: "the size upward when bound",
    status: bound,
    change: (object) => {
      spec(object).resources = { requests: { storage: "2Gi" } };
    },
    says: [],
  },
  {
    given: "the size below what it has",
    status: { phase: "Bound", capacity: { storage: "1Gi" } },
    change: (object) => {
      spec(object).resources = { requests: { storage: "1Mi" } };
    },
    says: ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
  },
  {
    given: "a wish that was never fulfilled, back to more than it has",
    from: { resources: { requests: { storage: "9Gi" } } },
    status: bound,
    change: (object) => {
      spec(object).resources = { requests: { storage: "2Gi" } };
    },
    says: [],
  },
  {
    given: "the volume mode",
    change: (object) => {
      spec(object).volumeMode = "Block";
    },
    says: [frozen("volumeMode"), 'volumeMode: Invalid value: "Block": field is immutable'],
  },
  {
    given: "the size's spelling",
    change: (object) => {
      spec(object).resources = { requests: { storage: "1024Mi" } };
    },
    says: [],
  },
];

for (const { given, from, status, change, says } of changes)
  test(`a claim that changes ${given} is ${says.length === 0 ? "accepted" : "rejected"}`, () =>
    assert.deepEqual(updated(strategy, stored(from, status), change).says, says));

test("an update does not change the status, and a status update has its own rules", () => {
  const setPhase = (object: JsonObject): void => {
    object.status = { phase: "Lost", capacity: { storage: "-1" } };
  };
  assert.deepEqual(updated(strategy, stored({}, bound), setPhase).object.status, bound);
  assert.deepEqual(updated(strategy, stored({}, bound), setPhase, aContext({ subresource: "status" })).says, [
    "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
  ]);
});

test("a fraction of a byte and the old class annotation give warnings", () => {
  const claim = { ...aClaim({ resources: { requests: { storage: "1500m" } } }) };
  claim.metadata = { name: "a", annotations: { "volume.beta.kubernetes.io/storage-class": "x" } };
  const { object } = created(strategy, claim);
  assert.deepEqual(strategy.warnings?.(object, undefined, aContext()), [
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});
