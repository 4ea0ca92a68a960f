/** Two electors and one lease on the real kube-apiserver, as processes that are killed, stopped and continued. */
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { silent } from "../../src/base/log.ts";
import { realWorld } from "../../src/base/world.ts";
import { createStore } from "../../src/kube/store.ts";
import { watchInto } from "../../src/kube/stores.ts";
import { type Connection, connect } from "./harness/client.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { type Elector, electionTimes, monotonicMs, overlaps, startElector } from "./harness/election.ts";
import { createInstance, type Instance } from "./harness/instance.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";

let plane: ControlPlane;
let connection: Connection;
let instance: Instance;
let namespace: string;

describe("elections on the real API server", () => {
  before(async () => {
    plane = await useControlPlane();
    connection = await connect(plane.kubeconfig);
  });
  after(() => connection?.close());
  beforeEach(async () => {
    instance = createInstance();
    namespace = await newNamespace(plane, "election");
    await connection.client.create("ConfigMap", draftOf("ConfigMap", { namespace, name: "work" }, {}));
  });

  afterEach(() => instance?.stop());

  const start = (name: string, stopBeforeWrite = 0): Elector =>
    startElector(instance, `${namespace}-${name}`, { kubeconfig: plane.kubeconfig, namespace, stopBeforeWrite });

  const leaseSpec = async () => (await connection.client.get({ kind: "Lease", namespace, name: "leader" })).spec;

  /** The writers of the object's versions, in order, one entry per change of writer. */
  function followWriters(signal: AbortSignal): readonly string[] {
    const writers: string[] = [];
    const store = createStore("ConfigMap");
    store.onChange((_before, after) => {
      const writer = after?.data?.writer;
      if (writer !== undefined && writer !== writers.at(-1)) writers.push(writer);
    });
    void watchInto(connection.client, store, { world: realWorld, log: silent, signal, scope: { namespace } });
    return writers;
  }

  test("a killed leader is replaced within the lease duration plus two seconds, never by two leaders", async () => {
    const electors = [start("0")];
    await electors[0]?.did("written", 5);
    for (let round = 1; round <= 3; round++) {
      const leader = electors.at(-1);
      const next = start(String(round));
      electors.push(next);
      await next.did("stands");
      const killedAt = monotonicMs();
      await leader?.daemon.stop("SIGKILL");
      const { at } = await next.did("began");
      assert.ok(
        at - killedAt <= electionTimes.leaseDurationMs + 2_000,
        `followed after ${Math.round(at - killedAt)} ms`,
      );
      await next.did("written", 5);
    }
    assert.deepEqual(overlaps(electors), []);
    assert.equal((await leaseSpec())?.leaseTransitions, 3);
  });

  test("a leader that stops releases the lease, and the next one takes over at once", async () => {
    const [first, second] = [start("first"), start("second")];
    const leader = await Promise.race([
      first.did("written", 3).then(() => first),
      second.did("written", 3).then(() => second),
    ]);
    const other = leader === first ? second : first;
    await other.did("stands");
    await leader.daemon.stop("SIGTERM");
    const { at: stoppedAt } = await leader.did("stopped");
    const { at } = await other.did("began");
    assert.ok(at - stoppedAt < 1_500, `followed after ${Math.round(at - stoppedAt)} ms`);
    assert.deepEqual(overlaps([first, second]), []);
    await other.daemon.stop("SIGTERM");
    const spec = await leaseSpec();
    assert.equal(spec?.holderIdentity, "");
    assert.match(String(spec?.renewTime), /T\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  test("a leader that is paused during a write cannot overwrite its successor, and starts nothing more", async () => {
    const stop = new AbortController();
    const writers = followWriters(stop.signal);
    const paused = start("paused", 5);
    await paused.did("stopping");
    const successor = start("successor");
    await successor.did("written", 10);
    process.kill(paused.daemon.pid, "SIGCONT");
    await paused.did("lost");
    await successor.did("written", 20);
    const afterwards = paused.deeds().slice(paused.deeds().findIndex(({ deed }) => deed === "continued"));
    assert.deepEqual(
      afterwards.map(({ deed }) => deed),
      ["continued", "writing", "refused", "ended", "lost"],
    );
    assert.deepEqual(writers, [paused.identity, successor.identity], "nobody wrote after the successor");
    assert.equal((await leaseSpec())?.holderIdentity, successor.identity);
    stop.abort();
  });

  test("a leader that is paused past its deadline starts nothing more when it continues", async () => {
    const stop = new AbortController();
    const writers = followWriters(stop.signal);
    const paused = start("paused");
    await paused.did("written", 5);
    process.kill(paused.daemon.pid, "SIGSTOP");
    const successor = start("successor");
    await successor.did("written", 10);
    const continuedAt = monotonicMs();
    process.kill(paused.daemon.pid, "SIGCONT");
    await paused.did("lost");
    await successor.did("written", 20);
    assert.deepEqual(
      paused.deeds().filter(({ at, deed }) => at > continuedAt && deed === "writing"),
      [],
    );
    assert.deepEqual(overlaps([paused, successor]), []);
    assert.deepEqual(writers, [paused.identity, successor.identity]);
    stop.abort();
  });
});
