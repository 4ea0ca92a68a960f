import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { Fault } from "../../../base/fault.ts";
import type { JsonObject } from "../../../base/json.ts";
import { silent } from "../../../base/log.ts";
import { findOwner, ownerWhenFound } from "./owner.ts";

const controlledBy = (apiVersion: string, kind: string, name: string) => ({
  apiVersion,
  kind,
  name,
  uid: `u-${name}`,
  controller: true,
});
const other = { ...controlledBy("v1", "ConfigMap", "other"), controller: false };
const served: Readonly<Record<string, JsonObject>> = {
  "/api/v1/namespaces/drivers/pods/driver-0": {
    metadata: { uid: "u-driver-0", ownerReferences: [other, controlledBy("apps/v1", "ReplicaSet", "set")] },
  },
  "/apis/apps/v1": {
    resources: [
      { name: "replicasets/scale", kind: "ReplicaSet", namespaced: true },
      { name: "replicasets", kind: "ReplicaSet", namespaced: true },
    ],
  },
  "/apis/apps/v1/namespaces/drivers/replicasets/set": {
    metadata: { uid: "u-set", ownerReferences: [controlledBy("apps/v1", "Deployment", "driver")] },
  },
};
function setUp() {
  const asked: string[] = [];
  const getPath = async (path: string): Promise<JsonObject> => {
    asked.push(path);
    const answer = served[path];
    if (answer === undefined) throw new Fault("NotFound", `${path} not found`);
    return answer;
  };
  return { asked, api: { getPath } };
}
const at = (ownerLevel: number) => ({ namespace: "drivers", podName: "driver-0", ownerLevel });
const { signal } = new AbortController();

for (const [ownerLevel, expected, reads] of [
  [0, { ...controlledBy("v1", "Pod", "driver-0") }, 1],
  [1, controlledBy("apps/v1", "ReplicaSet", "set"), 1],
  [2, controlledBy("apps/v1", "Deployment", "driver"), 3],
] as const)
  test(`level ${ownerLevel} is ${expected.kind} ${expected.name}, which is not read itself unless it is the pod`, async () => {
    const { api, asked } = setUp();
    assert.deepEqual(await findOwner(api, at(ownerLevel), signal), expected);
    assert.equal(asked.length, reads);
  });

test("a level beyond the last owner names the level that there is", async () => {
  const api = {
    getPath: async () => ({ metadata: { uid: "u-driver-0" } }),
  };
  await assert.rejects(
    findOwner(api, at(1), signal),
    /Pod drivers\/driver-0 has no controlling owner.*choose 0, or -1/,
  );
});

test("an owner that cannot be read is looked for until it can", async () => {
  const world = createVirtualWorld();
  const { api } = setUp();
  let refusals = 3;
  const refusing = {
    getPath: async (path: string) => {
      if (refusals-- > 0) throw new Fault("PermissionDenied", "pods is forbidden");
      return api.getPath(path);
    },
  };
  const search = { api: refusing, options: at(1), world, log: silent, backoff: { startMs: 1_000, maxMs: 300_000 } };
  const owner = await world.run(ownerWhenFound(search, signal));
  assert.equal(owner?.name, "set");
  assert.equal(refusals, -1);
});

test("below 0 nothing is asked, and nobody owns the objects", async () => {
  const { api, asked } = setUp();
  const search = { api, options: at(-1), world: createVirtualWorld(), log: silent, backoff: { startMs: 1, maxMs: 1 } };
  assert.equal(await ownerWhenFound(search, signal), undefined);
  assert.deepEqual(asked, []);
});
