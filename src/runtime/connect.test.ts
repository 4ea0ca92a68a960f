import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { KubeApi, PathReader } from "../kube/api.ts";
import { findKinds, rateLimitOf, retryUntil, serverAt, upToDate } from "./connect.ts";

function setUp(waitMsMax: number) {
  const world = createVirtualWorld();
  const logged: string[] = [];
  const say = (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    void logged.push(`${message}: ${fields.reason ?? fields.afterMs}`);
  const log: Log = { debug: say, info: say, warn: say, error: say, with: () => log };
  const stop = new AbortController();
  return { world, logged, stop, options: { world, log, signal: stop.signal, waitMsMax } };
}
test("a rate of zero or less is no limit, and the default burst is one second of the rate", () => {
  const limitOf = (kubeApiQps: number, kubeApiBurst = 0) =>
    rateLimitOf({ kubeconfig: "", context: "", kubeApiQps, kubeApiBurst });
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

const apiWith = (answers: Readonly<Record<string, unknown>>): PathReader => ({
  getPath: async (path) => {
    const answer = answers[path];
    if (answer === undefined) throw new Fault("NotFound", `GET ${path}`);
    return answer as never;
  },
});
const signal = new AbortController().signal;

test("an older cluster is used in the version it serves", async () => {
  const api = apiWith({
    "/apis/snapshot.storage.k8s.io": { versions: [{ version: "v1beta1" }] },
    "/apis/snapshot.storage.k8s.io/v1beta1/volumesnapshots?limit=1": { items: [] },
  });
  assert.deepEqual(await findKinds(api, ["VolumeSnapshot"], signal), { "snapshot.storage.k8s.io": "v1beta1" });
});

test("missing CRDs are named, with the command that installs them", async () => {
  const message =
    "the API server does not know volumesnapshots.snapshot.storage.k8s.io; install the CRDs: snapkeep crds | kubectl apply -f -";
  await assert.rejects(findKinds(apiWith({}), ["VolumeSnapshot"], signal), { message });
});

const group = "snapshot.storage.k8s.io";
/** A server that has forgotten the collection, and serves these versions of its group. */
const forgetting = (...versions: readonly string[]) =>
  ({
    ...apiWith(
      versions.length === 0 ? {} : { [`/apis/${group}`]: { versions: versions.map((version) => ({ version })) } },
    ),
    list: async () => {
      throw new Fault("NotFound", "404 page not found");
    },
  }) as unknown as KubeApi & PathReader;

test("a version that is no longer served, while another one is, ends the process with an error", async () => {
  const { api, outdated } = upToDate(forgetting("v1"), { [group]: "v1beta1" });
  const message =
    "the API server no longer serves snapshot.storage.k8s.io/v1beta1, but v1; ending so that a fresh start speaks that";
  await assert.rejects(api.list("VolumeSnapshot"), { message });
  await assert.rejects(outdated, { code: "FailedPrecondition", message });
});

const missing: readonly { given: string; served: readonly string[] }[] = [
  { given: "CRDs that were removed", served: [] },
  { given: "a CRD that was removed beside others of its group", served: ["v1beta1", "v1alpha1"] },
];
for (const { given, served } of missing)
  test(`${given} are awaited: the log names them with the remedy, and they may return`, async () => {
    const { api, outdated } = upToDate(forgetting(...served), { [group]: "v1beta1" });
    await assert.rejects(api.list("VolumeSnapshot"), /does not know volumesnapshots.* install the CRDs: snapkeep crds/);
    assert.equal(await Promise.race([outdated, Promise.resolve("goes on")]), "goes on");
  });

test("a kind without a chosen version does not end the process when it disappears", async () => {
  const { api, outdated } = upToDate(forgetting("v1"), {});
  await assert.rejects(api.list("ReferenceGrant"), /does not know referencegrants/);
  assert.equal(await Promise.race([outdated, Promise.resolve("goes on")]), "goes on");
});

test("other faults of a list are logged unchanged", async () => {
  const denied = { list: async () => Promise.reject(new Fault("PermissionDenied", "no list")) };
  const { api } = upToDate({ ...forgetting("v1"), ...denied } as unknown as KubeApi & PathReader, {
    [group]: "v1beta1",
  });
  await assert.rejects(api.list("VolumeSnapshot"), { message: "no list" });
});
