import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../base/json.ts";
import { fitToGo } from "./fit.ts";
import { GoValueError } from "./opaque.ts";
import { type GoStruct, goStruct } from "./types.ts";

const structFor = (apiVersion: string, kind: string): GoStruct => {
  const struct = goStruct(apiVersion, kind);
  assert.ok(struct !== undefined, `${apiVersion} ${kind}`);
  return struct;
};
const claim = structFor("v1", "PersistentVolumeClaim");
const fitted = (object: JsonObject, struct: GoStruct = claim): JsonObject => fitToGo(struct, object).object;

const canonical: readonly { given: string; struct?: GoStruct; from: JsonObject; to: JsonObject }[] = [
  {
    given: "an unset status",
    from: { metadata: { name: "a" }, spec: {} },
    to: { metadata: { name: "a" }, spec: { resources: {} }, status: {} },
  },
  {
    given: "a storage class that is empty on purpose, and a volume name that is just empty",
    from: { spec: { storageClassName: "", volumeName: "", accessModes: [] } },
    to: { metadata: {}, spec: { storageClassName: "", resources: {} }, status: {} },
  },
  {
    given: "quantities in another spelling",
    from: { spec: { resources: { requests: { storage: "1024Mi" }, limits: { storage: 0.5 } } } },
    to: {
      metadata: {},
      spec: { resources: { requests: { storage: "1Gi" }, limits: { storage: "500m" } } },
      status: {},
    },
  },
  {
    given: "nulls",
    from: { metadata: { name: null, annotations: { a: null } }, spec: { selector: null } },
    to: { metadata: { annotations: { a: "" } }, spec: { resources: {} }, status: {} },
  },
  {
    given: "a time with fractions in another zone",
    from: { metadata: { creationTimestamp: "2024-01-01T01:00:00.25+02:00" } },
    to: { metadata: { creationTimestamp: "2023-12-31T23:00:00Z" }, spec: { resources: {} }, status: {} },
  },
  {
    given: "the unset times and reporters of an event",
    struct: structFor("v1", "Event"),
    from: { metadata: { name: "a" } },
    to: {
      metadata: { name: "a" },
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: "",
      reportingInstance: "",
    },
  },
  {
    given: "the fields of an embedded struct",
    struct: structFor("v1", "PersistentVolume"),
    from: { spec: { csi: { driver: "d", volumeHandle: "h" } } },
    to: { metadata: {}, spec: { csi: { driver: "d", volumeHandle: "h" } }, status: {} },
  },
  {
    given: "rules that are not there",
    struct: structFor("rbac.authorization.k8s.io/v1", "Role"),
    from: {},
    to: { metadata: {}, rules: null },
  },
];

for (const { given, struct, from, to } of canonical)
  test(`given ${given}, the object reads as Go writes it`, () => assert.deepEqual(fitted(from, struct), to));

test("unknown fields are dropped and named, with their position", () => {
  const { object, unknown } = fitToGo(claim, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    extra: 1,
    metadata: { foo: 1 },
    spec: { selector: { matchExpressions: [{ x: 3 }] } },
  });
  assert.deepEqual(unknown, ["extra", "metadata.foo", "spec.selector.matchExpressions[0].x"]);
  assert.equal(object.extra, undefined);
  assert.equal(object.kind, "PersistentVolumeClaim");
});

const lease = structFor("coordination.k8s.io/v1", "Lease");
const config = structFor("v1", "ConfigMap");
const refused: readonly { object: JsonObject; struct?: GoStruct; says: string }[] = [
  {
    object: { metadata: { name: 5 } },
    says: "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
  },
  {
    object: { spec: { accessModes: "x" } },
    says: "json: cannot unmarshal string into Go struct field PersistentVolumeClaimSpec.spec.accessModes of type []v1.PersistentVolumeAccessMode",
  },
  {
    object: { spec: { accessModes: [1] } },
    says: "json: cannot unmarshal number into Go struct field PersistentVolumeClaimSpec.spec.accessModes of type v1.PersistentVolumeAccessMode",
  },
  {
    object: { spec: [] },
    says: "json: cannot unmarshal array into Go struct field PersistentVolumeClaim.spec of type v1.PersistentVolumeClaimSpec",
  },
  {
    object: { metadata: { generation: 1.5 } },
    says: "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64",
  },
  {
    object: { metadata: { generation: 99999999999999999999n } },
    says: "json: cannot unmarshal number 99999999999999999999 into Go struct field ObjectMeta.metadata.generation of type int64",
  },
  {
    object: { metadata: { labels: { a: 1 } } },
    says: "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
  },
  {
    object: { spec: { volumeMode: true } },
    says: "json: cannot unmarshal bool into Go struct field PersistentVolumeClaimSpec.spec.volumeMode of type v1.PersistentVolumeMode",
  },
  {
    object: { spec: { resources: { requests: { storage: "1x" } } } },
    says: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  },
  {
    object: { metadata: { creationTimestamp: "x" } },
    says: 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  },
  {
    object: { metadata: { creationTimestamp: "2024-13-01T00:00:00Z" } },
    says: 'parsing time "2024-13-01T00:00:00Z": month out of range',
  },
  {
    object: { metadata: { creationTimestamp: 5 } },
    says: "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
  },
  {
    struct: lease,
    object: { spec: { renewTime: "2024-01-01T00:00:00+02:00" } },
    says: 'parsing time "2024-01-01T00:00:00+02:00" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "+02:00" as ".000000"',
  },
  {
    struct: config,
    object: { binaryData: { a: "%%" } },
    says: "illegal base64 data at input byte 0",
  },
];

for (const { object, struct, says } of refused)
  test(`a value of the wrong type is rejected: ${says}`, () => {
    assert.throws(
      () => fitted(object, struct),
      (reason) => reason instanceof GoValueError && reason.message === says,
    );
  });

test("decoding a decoded object changes nothing", () => {
  for (const { from, struct } of canonical)
    assert.deepEqual(fitted(fitted(from, struct), struct), fitted(from, struct));
});
