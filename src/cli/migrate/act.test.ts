/** A migration goes on only when the API server serves what the CRDs say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { snapshotCrds } from "../../api/crds/index.ts";
import { createApiServer } from "../../apiserver/index.ts";
import { Fault } from "../../base/fault.ts";
import { type Handler, type HttpRequest, readAll } from "../../base/http.ts";
import { isObject, type JsonObject, parse, print } from "../../base/json.ts";
import { realWorld, type World } from "../../base/world.ts";
import { createClient } from "../../kube/client.ts";
import { migrate } from "./act.ts";

/** Time passes only while it sleeps: a busy machine makes no wait longer. */
function patientWorld(): World {
  let sleptMs = 0;
  return {
    ...realWorld,
    elapsed: () => sleptMs,
    sleep: async (ms) => {
      sleptMs += ms;
      await new Promise((done) => setImmediate(done));
    },
  };
}

/** From phase 2 to 3; `answer` may change what the API server has answered to a GET, once the first objects are to be rewritten. */
async function migrated(answer: (path: string, body: JsonObject) => JsonObject | undefined) {
  const stop = new AbortController();
  const server = createApiServer({ world: realWorld, definitions: snapshotCrds(2) });
  const background = server.run(stop.signal);
  const asked = new Map<string, number>();
  const said: string[] = [];
  const handler: Handler = async (request: HttpRequest) => {
    const response = await server.handler(request);
    if (request.method !== "GET" || response.status !== 200) return response;
    const path = request.path.split("?")[0] ?? "";
    if (!/\/customresourcedefinitions\/\w|snapshot\.storage\.k8s\.io\/v1(beta1)?$/.test(path)) return response;
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const body = parse(await readAll(response.body));
    const isDue = said.some((line) => line.startsWith("rewrite "));
    const changed = isDue && isObject(body) ? answer(path, body) : undefined;
    return { ...response, body: print(changed ?? body) };
  };
  const api = createClient({ handler, world: realWorld, userAgent: "snapkeep-migrate" });
  const failure = await migrate(
    {
      api,
      world: patientWorld(),
      signal: stop.signal,
      run: "r",
      settleMs: 0,
      say: (line) => void said.push(line),
      progress: () => undefined,
    },
    { phase: 3, back: false },
  ).then(
    () => undefined,
    (reason: unknown) => Fault.from(reason),
  );
  stop.abort();
  await background;
  return { failure, asked };
}

const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/volumesnapshots.snapshot.storage.k8s.io";
const discovery = "/apis/snapshot.storage.k8s.io/v1";
const withoutRows = (body: JsonObject): JsonObject => ({ ...body, resources: [] });
const withHash =
  (storageVersionHash: string) =>
  (body: JsonObject): JsonObject => ({
    ...body,
    resources: (body.resources as readonly JsonObject[]).map((row) => ({ ...row, storageVersionHash })),
  });
const unestablished = (body: JsonObject): JsonObject => ({
  ...body,
  status: { ...(body.status as JsonObject), conditions: [] },
});

test("what is served as the CRDs say is asked for once per step", async () => {
  const { failure, asked } = await migrated(() => undefined);
  assert.equal(failure, undefined);
  assert.equal(asked.get(discovery), 6, "before three rewrites, and at the end");
});

for (const [given, path, change] of [
  ["a CRD that is not established", crd, unestablished],
  ["discovery without the kind", discovery, withoutRows],
  ["discovery with another storage version", discovery, withHash("AAAAAAAAAAA=")],
] as const) {
  test(`given ${given} for a while, then the run waits for it`, async () => {
    const usual = (await migrated(() => undefined)).asked.get(path) ?? 0;
    let changed = 0;
    const { failure, asked } = await migrated((asking, body) => {
      if (asking !== path || changed === 3) return undefined;
      changed += 1;
      return change(body);
    });
    assert.equal(failure, undefined);
    assert.equal(asked.get(path), usual + 3);
  });

  test(`given ${given} for ever, then the run gives up after a minute, and names the CRD`, async () => {
    const { failure } = await migrated((asking, body) => (asking === path ? change(body) : undefined));
    assert.equal(failure?.code, "DeadlineExceeded");
    assert.match(failure.message, /does not serve volumesnapshots\.\S+ as its CRD says after 60 s; .*it continues$/);
  });
}
