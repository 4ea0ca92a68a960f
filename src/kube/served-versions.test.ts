/** One client that is never made anew, on the embedded server, while the CRDs move through the phases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";
import { aSnapshot } from "../../test/builders.ts";
import { replaceCrds } from "../../test/crd-phases.ts";
import { ok, scripted } from "../../test/scripted-server.ts";
import { draftOf } from "../api/builders.ts";
import { type CrdDraft, type CrdOptions, type CrdPhase, snapshotCrds } from "../api/crds/index.ts";
import type { Handler } from "../base/http.ts";
import { silent } from "../base/log.ts";
import { createClient } from "./client.ts";
import { createStore } from "./store.ts";
import { watchInto } from "./stores.ts";

const group = "snapshot.storage.k8s.io";
const namespace = "team";
const spec = { source: { persistentVolumeClaimName: "data" } };
const aDraft = (name: string) => draftOf("VolumeSnapshot", { namespace, name }, { spec });

async function setUp(phase: CrdPhase) {
  const { handler, world } = startApiServer({ definitions: snapshotCrds(phase) as never });
  const asked: string[] = [];
  const recorded: Handler = (request) => {
    asked.push(`${request.method} ${request.path.split("?", 1)[0]}`);
    return handler(request);
  };
  const client = createClient({ handler: recorded, world });
  const admin = createClient({ handler, world });
  await world.run(admin.create("Namespace", draftOf("Namespace", { name: namespace }, {})));
  const apply = async (crds: readonly CrdDraft[]): Promise<void> => {
    await world.run(replaceCrds(admin, crds));
    await world.advance(1_000);
  };
  const move = (to: CrdPhase, options?: CrdOptions) => apply(snapshotCrds(to, options));
  return { world, handler, client, asked, apply, move };
}

const moves: readonly (readonly [CrdPhase, string])[] = [
  [2, "v1"],
  [1, "v1beta1"],
  [2, "v1"],
  [3, "v1"],
  [2, "v1"],
  [1, "v1beta1"],
];

test("every request follows the CRDs through all phases and back", async () => {
  const { world, client, move } = await setUp(1);
  await world.run(client.create("VolumeSnapshot", aDraft("kept")));
  for (const verb of ["get", "list", "create", "replace", "patch", "delete"] as const)
    for (const [phase, version] of moves) {
      const before = await world.run(client.get({ kind: "VolumeSnapshot", namespace, name: "kept" }));
      const name = `${verb}-in-${phase}`;
      const ref = { kind: "VolumeSnapshot", namespace, name } as const;
      if (verb === "delete") await world.run(client.create("VolumeSnapshot", aDraft(name)));
      await move(phase);
      const labels = { [verb]: String(phase) };
      const answered = await world.run(
        {
          get: () => client.get({ ...ref, name: "kept" }),
          list: async () => (await client.list("VolumeSnapshot")).objects[0],
          create: async () => {
            const created = await client.create("VolumeSnapshot", aDraft(name));
            await client.delete(ref);
            return created;
          },
          replace: () =>
            client.replace("VolumeSnapshot", { ...before, metadata: { ...before.metadata, labels } } as never),
          patch: () => client.patch({ ...ref, name: "kept" }, { type: "merge", body: { metadata: { labels } } }),
          delete: async () => {
            await client.delete(ref);
            return client.get({ ...ref, name: "kept" });
          },
        }[verb](),
      );
      assert.equal(answered?.apiVersion, `${group}/${version}`, `${verb} in phase ${phase}`);
    }
});

test("a cache goes on through all phases without losing or repeating an object", async () => {
  const { world, client, move } = await setUp(1);
  const store = createStore("VolumeSnapshot");
  const changes: string[] = [];
  store.onChange((before, after) => changes.push(`${before?.metadata.name} ${after?.metadata.name}`));
  const stop = new AbortController();
  const watching = watchInto(client, store, { world, log: silent, signal: stop.signal });
  await world.advance(1_000);
  for (const [index, [phase]] of moves.entries()) {
    await move(phase);
    await world.run(client.create("VolumeSnapshot", aDraft(`in-${index}`)));
    await world.advance(10_000);
    assert.equal(store.size(), index + 1, `phase ${phase}`);
  }
  assert.deepEqual(
    changes,
    moves.map((_, index) => `undefined in-${index}`),
  );
  stop.abort();
  await world.run(watching);
});

test("a kind may be ahead of the others of its group, as in the middle of a migration", async () => {
  const { world, client, apply } = await setUp(1);
  const [snapshots] = snapshotCrds(2).filter(({ spec: { names } }) => names.kind === "VolumeSnapshot");
  assert.ok(snapshots);
  await apply([snapshots]);
  await world.run(client.list("VolumeSnapshot"));
  await world.run(client.list("VolumeSnapshotContent"));
  assert.equal(await world.run(client.findVersion("VolumeSnapshot")), "v1");
  assert.equal(await world.run(client.findVersion("VolumeSnapshotContent")), "v1beta1");
});

test("a watch changes to v1 when it is served beside v1beta1", async () => {
  const { world, client, asked, move } = await setUp(1);
  const watchOnce = (resourceVersion: string) =>
    client.watch("VolumeSnapshot", { resourceVersion, timeoutSeconds: 1 }, () => undefined);
  const { resourceVersion } = await world.run(client.list("VolumeSnapshot"));
  await move(2, { serveV1beta1: true });
  await world.run(watchOnce(resourceVersion));
  assert.equal(asked.at(-1), `GET /apis/${group}/v1/volumesnapshots`);
});

test("many requests that find no route share one question", async () => {
  const { world, client, asked, move } = await setUp(1);
  await world.run(client.list("VolumeSnapshot"));
  await move(2);
  asked.length = 0;
  await world.run(Promise.all(Array.from({ length: 20 }, () => client.list("VolumeSnapshot"))));
  assert.equal(asked.filter((request) => request === `GET /apis/${group}`).length, 1);
});

test("an object that is not there is no question of the version", async () => {
  const { world, client, asked } = await setUp(3);
  const ref = { kind: "VolumeSnapshot", namespace, name: "missing" } as const;
  await assert.rejects(world.run(client.get(ref)), { code: "NotFound" });
  assert.deepEqual(asked, [`GET /apis/${group}/v1/namespaces/${namespace}/volumesnapshots/missing`]);
});

test("a client of one version stays with it", async () => {
  const { world, handler } = await setUp(2);
  const old = createClient({ handler, world, versions: { [group]: "v1beta1" } });
  await assert.rejects(world.run(old.list("VolumeSnapshot")), { code: "NotFound" });
});

const page = { status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found\n" };

test("a missing route stays what it was when discovery has no other version, or does not answer", async () => {
  const unchanged = [ok({ versions: [{ version: "v1" }] }), ok({ resources: [{ name: "volumesnapshots" }] })];
  for (const answers of [unchanged, [page], [{ status: 403, headers: {}, body: "" }]]) {
    const { client, asked } = scripted([page, ...answers]);
    const replaced = client.replace("VolumeSnapshot", aSnapshot() as never);
    await assert.rejects(replaced, { code: "UnknownOutcome" });
    assert.equal(asked.filter(({ method }) => method === "PUT").length, 1);
  }
});
