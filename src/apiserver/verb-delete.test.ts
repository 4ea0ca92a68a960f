import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";

const misread: readonly (readonly [options: object, says: string])[] = [
  [{ preconditions: { uid: 5 } }, "number into Go struct field Preconditions.preconditions.uid of type types.UID"],
  [
    { preconditions: { resourceVersion: 7 } },
    "number into Go struct field Preconditions.preconditions.resourceVersion",
  ],
  [{ preconditions: [] }, "array into Go struct field DeleteOptions.preconditions of type v1.Preconditions"],
  [{ dryRun: {} }, "object into Go struct field DeleteOptions.dryRun of type []string"],
  [{ dryRun: [1] }, "array into Go struct field DeleteOptions.dryRun of type []string"],
  [{ gracePeriodSeconds: 1.5 }, "number into Go struct field DeleteOptions.gracePeriodSeconds of type int64"],
  [{ gracePeriodSeconds: 1e300 }, "number into Go struct field DeleteOptions.gracePeriodSeconds of type int64"],
];

for (const [options, says] of misread)
  test(`invalid delete options delete nothing: ${JSON.stringify(options)}`, async () => {
    const server = startApiServer();
    await server.ask("POST", maps, { metadata: { name: "a" } });
    for (const path of [`${maps}/a`, maps]) {
      const { status, body } = await server.ask("DELETE", path, options);
      assert.equal(status, 400);
      assert.ok(String(body.message).includes(`json: cannot unmarshal ${says}`), String(body.message));
    }
    assert.equal((await server.ask("GET", `${maps}/a`)).status, 200);
  });

test("a pod is deleted with any grace period", async () => {
  const server = startApiServer();
  await server.ask("POST", pods, {
    metadata: { name: "p" },
    spec: {
      nodeName: "n",
      terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER,
      containers: [{ name: "c", image: "i" }],
    },
  });
  const { status, body } = await server.ask("DELETE", `${pods}/p`);
  assert.equal(status, 200);
  assert.equal((body.metadata as { deletionTimestamp?: string }).deletionTimestamp, "9999-12-31T23:59:59Z");
  assert.equal((await server.ask("DELETE", `${pods}/p`, { gracePeriodSeconds: 0 })).status, 200);
  assert.equal((await server.ask("GET", `${pods}/p`)).status, 404);
});
