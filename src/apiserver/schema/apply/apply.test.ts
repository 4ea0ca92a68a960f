import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { ApiObject, ApplyRequest, Resource } from "../../contracts.ts";
import { createPatcher } from "../patcher.ts";
import { printManagers, readManagers } from "./managers.ts";

const resource = (group: string, version: string, kind: string): Resource =>
  ({ group, version, kind, subresources: { status: { verbs: ["get"] } } }) as unknown as Resource;
const deployments = resource("apps", "v1", "Deployment");
const configMaps = { ...resource("", "v1", "ConfigMap"), subresources: {} };
const patcher = createPatcher({ trackUpdates: true });

const aConfigMap = (data: JsonObject, metadata: JsonObject = {}): ApiObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "b", ...metadata },
  data,
});

function applied(object: ApiObject, current?: ApiObject, options: Partial<ApplyRequest> = {}): ApiObject {
  const base = { resource: configMaps, manager: "me", force: false, subresource: "", time: "2024-01-01T00:00:00Z" };
  return patcher.apply({ ...base, current, applied: object, ...options });
}

const entries = (object: ApiObject): readonly string[] =>
  (object.metadata.managedFields ?? []).map((entry) =>
    isObject(entry) ? `${entry.manager} ${entry.operation} ${JSON.stringify(entry.fieldsV1)}` : "",
  );

test("an applied object is owned by its field manager, field by field", () => {
  const object = applied(aConfigMap({ x: "1" }, { labels: { l: "1" } }));
  assert.deepEqual(entries(object), ['me Apply {"f:data":{"f:x":{}},"f:metadata":{"f:labels":{"f:l":{}}}}']);
});

test("fields that are no longer applied are removed, fields of other managers stay", () => {
  const first = applied(aConfigMap({ x: "1", y: "1" }));
  const both = applied(aConfigMap({ z: "1" }), first, { manager: "other" });
  const second = applied(aConfigMap({ x: "1" }), both);
  assert.deepEqual(second.data, { x: "1", z: "1" });
});

test("a field with two appliers stays until both remove it", () => {
  const first = applied(aConfigMap({ x: "1" }));
  const both = applied(aConfigMap({ x: "1" }), first, { manager: "other" });
  const one = applied(aConfigMap({}), both);
  assert.deepEqual(one.data, { x: "1" });
  const none = applied(aConfigMap({}), one, { manager: "other" });
  assert.deepEqual(none.data, {});
});

test("changing another applier's field is a conflict that names both, and force takes over the field", () => {
  const first = applied(aConfigMap({ x: "1", y: "1" }));
  const change = aConfigMap({ x: "2" });
  assert.throws(
    () => applied(change, first, { manager: "other" }),
    (reason: { status?: { code: number; message: string; details: JsonValue } }) => {
      assert.equal(reason.status?.code, 409);
      assert.equal(reason.status.message, 'Apply failed with 1 conflict: conflict with "me": .data.x');
      assert.deepEqual(reason.status.details, {
        causes: [{ reason: "FieldManagerConflict", message: 'conflict with "me"', field: ".data.x" }],
      });
      return true;
    },
  );
  const forced = applied(change, first, { manager: "other", force: true });
  assert.deepEqual(forced.data, { x: "2", y: "1" });
  assert.deepEqual(entries(forced), ['me Apply {"f:data":{"f:y":{}}}', 'other Apply {"f:data":{"f:x":{}}}']);
});

const tracked = (before: ApiObject | undefined, after: ApiObject, manager = "kubectl-create"): ApiObject => {
  const managedFields = patcher.track({
    resource: configMaps,
    before,
    after,
    manager,
    subresource: "",
    time: "2024-01-01T00:00:00Z",
  });
  return { ...after, metadata: { ...after.metadata, ...(managedFields === undefined ? {} : { managedFields }) } };
};

test("a create is recorded in managedFields, and later writers own what they change", () => {
  const created = tracked(undefined, aConfigMap({ x: "1", y: "1" }));
  assert.deepEqual(entries(created), ['kubectl-create Update {"f:data":{".":{},"f:x":{},"f:y":{}}}']);
  const edited = tracked(created, aConfigMap({ x: "2", y: "1" }), "kubectl-edit");
  assert.deepEqual(entries(edited), [
    'kubectl-create Update {"f:data":{".":{},"f:y":{}}}',
    'kubectl-edit Update {"f:data":{"f:x":{}}}',
  ]);
});

test("applying over an updater's field is a conflict that says which version it used", () => {
  const created = tracked(undefined, aConfigMap({ x: "1" }));
  assert.throws(() => applied(aConfigMap({ x: "2" }), created), {
    message: 'Apply failed with 1 conflict: conflict with "kubectl-create" using v1: .data.x',
  });
});

test("without managedFields the first apply records existing fields as before-first-apply", () => {
  const object = applied(aConfigMap({ y: "1" }), aConfigMap({ x: "1" }));
  assert.deepEqual(entries(object), [
    'me Apply {"f:data":{"f:y":{}}}',
    'before-first-apply Update {"f:data":{".":{},"f:x":{}}}',
  ]);
});

test("kubectl server-side apply takes over its client-side applied fields", () => {
  const annotation = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } });
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": annotation };
  const created = tracked(undefined, aConfigMap({ x: "1" }, { annotations }), "kubectl-client-side-apply");
  const object = applied(aConfigMap({ x: "2" }), created, { manager: "kubectl" });
  assert.deepEqual(object.data, { x: "2" });
});

const aDeployment = (containers: JsonValue[], spec: JsonObject = {}): ApiObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "a", namespace: "b" },
  spec: { ...spec, template: { spec: { containers } } },
});
const containersOf = (object: ApiObject): JsonValue | undefined =>
  (object.spec as { template: { spec: JsonObject } }).template.spec.containers;

test("entries of a keyed list are merged by key, atomic lists replaced", () => {
  const first = applied(aDeployment([{ name: "a", args: ["1", "2"], ports: [{ containerPort: 80 }] }]), undefined, {
    resource: deployments,
  });
  const second = applied(aDeployment([{ name: "b" }, { name: "a", args: ["3"] }]), first, {
    resource: deployments,
    manager: "other",
    force: true,
  });
  assert.deepEqual(containersOf(second), [{ name: "b" }, { name: "a", args: ["3"], ports: [{ containerPort: 80 }] }]);
  const [mine = ""] = entries(second);
  assert.match(mine, /"k:\{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"\}"/);
});

test("a list entry that no manager applies is removed with all its fields", () => {
  const first = applied(
    aDeployment([
      { name: "a", image: "1" },
      { name: "b", image: "2" },
    ]),
    undefined,
    { resource: deployments },
  );
  const second = applied(aDeployment([{ name: "a", image: "1" }]), first, { resource: deployments });
  assert.deepEqual(containersOf(second), [{ name: "a", image: "1" }]);
});

test("only writes to the status subresource own status fields", () => {
  const object = { ...aDeployment([]), status: { replicas: 1 } };
  const request = { resource: deployments, before: undefined, after: object, manager: "m", time: "t" };
  const main = JSON.stringify(patcher.track({ ...request, subresource: "" }));
  assert.ok(!main.includes("f:status"));
  const status = JSON.stringify(patcher.track({ ...request, subresource: "status" }));
  assert.ok(status.includes("f:status") && !status.includes("f:spec") && status.includes('"subresource":"status"'));
});

test("more than ten update managers are merged", () => {
  let object = tracked(undefined, aConfigMap({ k0: "1" }), "m0");
  for (let at = 1; at <= 15; at++)
    object = tracked(object, { ...object, data: { ...(object.data as JsonObject), [`k${at}`]: "1" } }, `m${at}`);
  assert.equal(object.metadata.managedFields?.length, 10);
  assert.ok(JSON.stringify(object.metadata.managedFields).includes("ancient-changes"));
});

test("managers are listed appliers first, then by age, then by name", () => {
  const entry = (operation: "Apply" | "Update", time: string, manager: string): JsonObject => ({
    operation,
    time,
    manager,
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { [`f:${manager}`]: {} } },
  });
  const inOrder = [
    entry("Apply", "2026-01-01T00:00:01Z", "z"),
    entry("Apply", "2026-01-01T00:00:02Z", "a"),
    entry("Update", "2026-01-01T00:00:00Z", "c"),
    entry("Update", "2026-01-01T00:00:00Z", "d"),
  ];
  assert.deepEqual(printManagers(readManagers(inOrder.toReversed()) ?? new Map()), inOrder);
});

const data = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2"));

test("an applied field has the applied value for any previous object, and applying again changes nothing", () => {
  fc.assert(
    fc.property(data, data, data, (before, mine, again) => {
      const start = tracked(undefined, aConfigMap(before));
      const once = applied(aConfigMap(mine), start, { force: true });
      for (const [key, value] of Object.entries(mine)) assert.equal((once.data as JsonObject)[key], value);
      assert.deepEqual(applied(aConfigMap(mine), once), once);
      const twice = applied(aConfigMap(again), once, { force: true });
      for (const key of Object.keys(mine))
        if (!(key in again) && !(key in before)) assert.equal((twice.data as JsonObject | undefined)?.[key], undefined);
    }),
  );
});
