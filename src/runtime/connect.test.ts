import assert from "node:assert/strict";
import { test } from "node:test";
import { startHarness } from "../../test/command-harness.ts";
import { createMemoryLog } from "../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { draftOf } from "../api/builders.ts";
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import type { KubeApi, PathReader, VersionFinder } from "../kube/api.ts";
import { connect, findKinds, namingMissing, rateLimitOf, retryUntil, serverAt } from "./connect.ts";

function setUp(waitMsMax: number) {
  const world = createVirtualWorld();
  const logged: string[] = [];
  const say = (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    void logged.push(`${message}: ${fields.reason ?? fields.afterMs}`);
  const log: Log = { verbosity: 0, trace: say, debug: say, info: say, warn: say, error: say, with: () => log };
  const stop = new AbortController();
  return { world, logged, stop, options: { world, log, signal: stop.signal, waitMsMax } };
}
test("a rate of zero or less is no limit, and the default burst is one second of the rate", () => {
  const limitOf = (kubeApiQps: number, kubeApiBurst = 0) => rateLimitOf({ kubeApiQps, kubeApiBurst });
  assert.deepEqual([limitOf(0), limitOf(-1, 10)], [undefined, undefined]);
  assert.deepEqual(
    [limitOf(50), limitOf(5, 10)],
    [
      { qps: 50, burst: 50 },
      { qps: 5, burst: 10 },
    ],
  );
});

test("--master is the address of a server, or an error that shows one", () => {
  assert.equal(serverAt("https://10.0.0.1:6443").host, "10.0.0.1:6443");
  for (const wrong of ["10.0.0.1", "ftp://10.0.0.1", "master"])
    assert.throws(() => serverAt(wrong), /is not valid.*--master=https:/);
});

const refused = () => new Fault("Unavailable", "nothing answers at https://10.0.0.1");

test("an unreachable server is retried until the time limit, then the last error is thrown", async () => {
  const { world, logged, options } = setUp(30_000);
  let attempts = 0;
  const waiting = retryUntil(options, async () => {
    attempts += 1;
    throw refused();
  });
  await assert.rejects(world.run(waiting), { message: "nothing answers at https://10.0.0.1" });
  assert.equal(world.elapsed(), 30_000);
  assert.ok(attempts > 5 && attempts < 30, `${attempts} attempts`);
  assert.deepEqual(logged, ["waiting for the API server: nothing answers at https://10.0.0.1"]);
});

for (const [waitMsMax, limit] of [
  [30_000, 30_000],
  [Number.POSITIVE_INFINITY, undefined],
] as const)
  test(`a wait ${limit === undefined ? "without a limit says no time" : "with a limit says how long it lasts"}`, async () => {
    const said: unknown[] = [];
    const warn = (_message: string, fields: object = {}) => void said.push(fields);
    const { world, options } = setUp(waitMsMax);
    const ended = retryUntil({ ...options, log: { ...options.log, warn } }, async () => {
      if (said.length > 0) return;
      throw refused();
    });
    await world.run(ended);
    const reason = "nothing answers at https://10.0.0.1";
    assert.deepEqual(said, [limit === undefined ? { reason } : { reason, forMs: limit }]);
  });

test("each new reason and the success are logged in one line", async () => {
  const { world, logged, options } = setUp(60_000);
  const answers = [
    refused(),
    refused(),
    new Fault("PermissionDenied", "no list"),
    new Fault("PermissionDenied", "no list"),
  ];
  const waiting = retryUntil(options, async () => {
    const fault = answers.shift();
    if (fault !== undefined) throw fault;
    return "there";
  });
  assert.equal(await world.run(waiting), "there");
  assert.deepEqual(logged.slice(0, 2), [
    "waiting for the API server: nothing answers at https://10.0.0.1",
    "waiting for the API server: no list",
  ]);
  assert.match(logged[2] ?? "", /^API server answers: \d+$/);
  assert.equal(logged.length, 3);
});

test("without a time limit there is one attempt and no log line", async () => {
  const { world, logged, options } = setUp(0);
  let attempts = 0;
  const waiting = retryUntil(options, async () => {
    attempts += 1;
    throw refused();
  });
  await assert.rejects(world.run(waiting), { code: "Unavailable" });
  assert.deepEqual([attempts, logged], [1, []]);
});

test("a hanging attempt is aborted and repeated", async () => {
  const { world, options } = setUp(120_000);
  let attempts = 0;
  const waiting = retryUntil(options, (signal) => {
    attempts += 1;
    if (attempts > 1) return Promise.resolve("second");
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  assert.equal(await world.run(waiting), "second");
});

test("a stop ends the wait at once", async () => {
  const { world, stop, options } = setUp(3_600_000);
  const waiting = retryUntil(options, async () => {
    throw refused();
  });
  const ended = assert.rejects(waiting);
  await world.advance(10_000);
  stop.abort();
  await ended;
  assert.equal(world.elapsed(), 10_000);
});

const apiWith = (version: string | undefined, ...paths: readonly string[]): PathReader & VersionFinder => ({
  findVersion: async () => version,
  getPath: async (path) => {
    if (!paths.includes(path)) throw new Fault("NotFound", `GET ${path}`);
    return { items: [] };
  },
});
const signal = new AbortController().signal;
const missing =
  "the API server does not know volumesnapshots.snapshot.storage.k8s.io; install the CRDs: snapkeep crds | kubectl apply -f -";

test("an older cluster is used in the version it serves", () =>
  findKinds(
    apiWith("v1beta1", "/apis/snapshot.storage.k8s.io/v1beta1/volumesnapshots?limit=1"),
    ["VolumeSnapshot"],
    signal,
  ));

for (const version of [undefined, "v1"])
  test(`missing CRDs are named, with the command that installs them; discovery says ${version}`, () =>
    assert.rejects(findKinds(apiWith(version), ["VolumeSnapshot"], signal), { message: missing }));

const listing = (fault: Fault) => namingMissing({ list: () => Promise.reject(fault) } as unknown as KubeApi);

test("CRDs that were removed are named in the log, with the remedy: they may return", () =>
  assert.rejects(listing(new Fault("NotFound", "404 page not found")).list("VolumeSnapshot"), { message: missing }));

test("other faults of a list are logged unchanged", () =>
  assert.rejects(listing(new Fault("PermissionDenied", "no list")).list("VolumeSnapshot"), { message: "no list" }));

test("at verbosity 5 each write of a connected process is a line of its log", async (t) => {
  const { kubeconfig } = await startHarness(t);
  const log = createMemoryLog();
  const stop = new AbortController();
  const flags = { kubeconfig, context: "", kubeApiQps: 0, kubeApiBurst: 0 };
  const { api, atRate, close } = await connect({
    flags,
    kinds: ["ConfigMap"],
    waitMsMax: 0,
    userAgent: "test",
    environment: {},
    world: realWorld,
    log,
    signal: stop.signal,
  });
  t.after(close);
  for (const client of [api, atRate(flags)]) {
    const name = client === api ? "one" : "other";
    await client.create("ConfigMap", draftOf("ConfigMap", { namespace: "default", name }, {}));
  }
  const lines = log.lines.filter(({ message }) => message === "api write finished");
  const line = { method: "POST", path: "/api/v1/namespaces/default/configmaps", code: "201" };
  assert.deepEqual(
    lines.map(({ method, path, code }) => ({ method, path, code })),
    [line, line],
  );
});
