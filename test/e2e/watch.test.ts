/** A watch of the real kube-apiserver through everything that networks and servers do to connections. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { keyOf, type ObjectOf } from "../../src/api/types.ts";
import { type FaultCode, isFault } from "../../src/base/fault.ts";
import { type Fields, type Log, silent } from "../../src/base/log.ts";
import { realWorld, type World } from "../../src/base/world.ts";
import { createStore, type Store } from "../../src/kube/store.ts";
import { watchInto } from "../../src/kube/stores.ts";
import { diceFrom } from "../virtual-world.ts";
import { type Client, type Connection, connect } from "./harness/client.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type Proxied, proxyTo } from "./harness/fault-proxy.ts";
import { newNamespace } from "./harness/shared.ts";
import { until } from "./harness/until.ts";

type ConfigMap = ObjectOf<"ConfigMap">;

let plane: ControlPlane;
let proxied: Proxied;
/** Past the proxy: it writes, and knows the truth. */
let direct: Connection;
/** Through the proxy: it watches. */
let faulty: Connection;
let namespace: string;

describe("watches on the real API server", () => {
  before(async () => {
    plane = await startControlPlane();
    proxied = await proxyTo(plane);
    direct = await connect(plane.kubeconfig);
    faulty = await connect(proxied.kubeconfig);
    namespace = await newNamespace(plane, "watched");
  });
  after(async () => {
    direct?.close();
    faulty?.close();
    await proxied?.proxy.close();
    plane?.stop();
  });

  const isWatch = (request: string): boolean => request.startsWith("GET ") && request.includes("watch=1");
  const names = Array.from({ length: 20 }, (_, index) => `map-${index}`);

  /** Creates, changes and deletes without pause; whatever fails because the server is away is tried again as something else. */
  async function writeUntil(signal: AbortSignal, client: Client, random: () => number): Promise<number> {
    let written = 0;
    while (!signal.aborted) {
      const name = names[Math.floor(random() * names.length)] ?? "";
      const ref = { kind: "ConfigMap", namespace, name } as const;
      const data = { value: `${written} ${"x".repeat(Math.floor(random() * 5_000))}` };
      const draw = random();
      const work =
        draw < 0.15
          ? client.delete(ref)
          : draw < 0.4
            ? client.create("ConfigMap", draftOf("ConfigMap", { namespace, name }, { data }))
            : client.patch(ref, { type: "merge", body: { data } });
      await work.then(
        () => {
          written += 1;
        },
        (reason) => assert.ok(isFault(reason)),
      );
      await realWorld.sleep(2);
    }
    return written;
  }

  /** As the real one, but all waiting is a tenth: how long it waits is not what is tested here. */
  const impatient: World = { ...realWorld, sleep: (ms, signal) => realWorld.sleep(ms / 10, signal) };
  const silenceMsMax = 1_500;

  /** What the watch has to say about its interruptions. */
  function countFaults() {
    const seen: { readonly code: unknown; readonly reason: unknown }[] = [];
    const note = (message: string, { end, code = end, reason = message }: Fields = {}): void =>
      void seen.push({ code, reason });
    const log: Log = { ...silent, debug: note, warn: note, with: () => log };
    const of = (code: FaultCode | "silent", reason = /./): number =>
      seen.filter((fault) => fault.code === code && reason.test(String(fault.reason))).length;
    return { log, of };
  }

  const contentsOf = (objects: Iterable<ConfigMap>): ReadonlyMap<string, ConfigMap> =>
    new Map([...objects].map((object): [string, ConfigMap] => [keyOf(object), object]).sort());

  async function assertEqualsFreshList(
    store: Store<"ConfigMap">,
    heard: ReadonlyMap<string, ConfigMap>,
  ): Promise<void> {
    const truth = contentsOf((await direct.client.list("ConfigMap", { namespace })).objects);
    await until({ what: "the store has caught up", msMax: 20_000 }, () => {
      const versions = (objects: ReadonlyMap<string, ConfigMap>) =>
        JSON.stringify([...objects].map(([key, { metadata }]) => [key, metadata.resourceVersion]));
      return versions(contentsOf(store.all())) === versions(truth) ? true : undefined;
    });
    assert.deepEqual(contentsOf(store.all()), truth);
    assert.deepEqual(contentsOf(heard.values()), truth, "the listener heard every object's last state");
  }

  const expiredFrame = `${JSON.stringify({
    type: "ERROR",
    object: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410, message: "too old" },
  })}\n`;

  test("a watch survives disconnects, truncated frames, stalls, 410 Gone and a restart, and gets every object's last state", async (t) => {
    const { proxy } = proxied;
    const random = diceFrom(7);
    const stop = new AbortController();
    const stopWriting = new AbortController();
    const store = createStore("ConfigMap");
    const heard = new Map<string, ConfigMap>();
    let changes = 0;
    store.onChange((before, after) => {
      changes += 1;
      if (after !== undefined) heard.set(keyOf(after), after);
      else if (before !== undefined) heard.delete(keyOf(before));
    });
    const faults = countFaults();
    const options = { world: impatient, log: faults.log, signal: stop.signal, scope: { namespace }, silenceMsMax };
    const watching = watchInto(faulty.client, store, options);
    const writing = writeUntil(stopWriting.signal, direct.client, random);

    /** Waits for a watch that is open and brings news, then does something to it. */
    const disturb = async (what: string, act: () => number): Promise<void> => {
      const before = changes;
      await until({ what: `a watch brings news before ${what}`, msMax: 15_000, everyMs: 3 }, () =>
        proxy.count(isWatch) > 0 && changes > before ? true : undefined,
      );
      await until({ what: `there is a watch for ${what}`, everyMs: 3 }, () => (act() > 0 ? true : undefined));
    };

    for (let round = 1; round <= 200; round++) {
      await disturb("the cut", () => proxy.disconnect(isWatch));
      if (round % 10 === 3) await disturb("the broken frame", () => proxy.truncate("cut", isWatch));
      if (round % 10 === 6) await disturb("the half frame", () => proxy.truncate("end", isWatch));
      if (round % 50 === 25) await disturb("410 in the stream", () => proxy.inject(expiredFrame, isWatch));
      if (round % 100 === 50) await disturb("the stall", () => proxy.stall(isWatch));
    }

    await t.test("after a restart without watchers the server answers 410", async () => {
      await proxy.refuse(true);
      proxy.disconnect();
      await plane.restartApiServer();
      const before = changes;
      await realWorld.sleep(300);
      assert.equal(changes, before);
      await proxy.refuse(false);
      await disturb("nothing", () => 1);
    });

    await t.test("the watch survives a kill of the server", async () => {
      await plane.killApiServer();
      await plane.startApiServer();
      await disturb("nothing", () => 1);
    });

    stopWriting.abort();
    const written = await writing;
    assert.ok(written > 500, `${written} writes meanwhile`);
    await assertEqualsFreshList(store, heard);
    assert.ok(faults.of("UnknownOutcome") >= 150, `${faults.of("UnknownOutcome")} broken streams`);
    assert.ok(faults.of("silent") >= 2, `${faults.of("silent")} silent streams`);
    assert.ok(faults.of("Unavailable") >= 1, `${faults.of("Unavailable")} refused connections`);
    assert.ok(faults.of("Expired", /too old resource version/) >= 1, "the server itself has said 410");
    stop.abort();
    await watching;
  });
});
