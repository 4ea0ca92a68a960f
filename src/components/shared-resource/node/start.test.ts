/** The driver put together, with a machine in memory and the embedded API server. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApiServer } from "../../../../test/api-server.ts";
import { createMemoryLog, faultOf } from "../../../../test/csi-sockets.ts";
import { createMachine, createMemoryHost, type Machine } from "../../../../test/sim/shared-resource/memory-host.ts";
import { readLists } from "../../../../test/sim/shared-resource/read-lists.ts";
import { createTruth } from "../../../../test/sim/shared-resource/truth.ts";
import { createUsers } from "../../../../test/sim/shared-resource/users.ts";
import { sharedResourceCrds } from "../../../api/crds/shared-resource.ts";
import { Fault } from "../../../base/fault.ts";
import { isStream } from "../../../base/http.ts";
import { createCsiClientOver } from "../../../csi/client.ts";
import { createClient } from "../../../kube/client.ts";
import { createMetrics } from "../../../runtime/metrics.ts";
import type { AllowListReader } from "../../../runtime/share-allow-lists.ts";
import { defaultConfig } from "../config.ts";
import { emptyVolumeBytes, type MemoryLimits, setBytes } from "./plan-memory.ts";
import { type NodeApi, startNode } from "./start.ts";
import type { FileSet, VolumeSpec } from "./types.ts";

const definitions = sharedResourceCrds();
const reference = { namespace: "owner", name: "x" };
const forbidden = {
  status: 403,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", code: 403 }),
};
/** As `publish` asks for it. */
const aVolume = (id: string, more: Partial<VolumeSpec> = {}): VolumeSpec => ({
  id,
  target: `/pods/${id}/mount`,
  shareKind: "SharedSecret",
  share: "one",
  pod: { namespace: "team", name: "p", uid: "u", serviceAccount: "reader" },
  refresh: true,
  ...more,
});

/** To a question about the driver's own rights. */
const notAllowed = { status: 200, headers: {}, body: JSON.stringify({ status: { allowed: false } }) };

type Failing = "write" | "mount" | "adopt" | "wipe" | "end of wipe";

async function setUp(
  t: TestContext,
  {
    refreshResources = true,
    isConnected = true,
    connectsAfterMs = 0,
    failsOn,
    lists = readLists,
    left = [],
    memory,
    machine = createMachine(),
    forbids,
    watchesRoles = false,
  }: {
    refreshResources?: boolean;
    isConnected?: boolean;
    connectsAfterMs?: number;
    failsOn?: Failing;
    lists?: AllowListReader;
    /** What an earlier process has mounted. */
    left?: readonly VolumeSpec[];
    memory?: MemoryLimits;
    machine?: Machine;
    /** Paths that the driver may not read, from its start on. */
    forbids?: RegExp;
    /** An administrator lets the driver watch roles and bindings. */
    watchesRoles?: boolean;
  } = {},
) {
  const { world, handler, ask } = startApiServer({ definitions });
  const truth = createTruth();
  const users = createUsers(async (method, path, body) => {
    const type = method === "PATCH" ? { type: "merge" } : {};
    const { status, text } = await ask(method, path, body, type);
    assert.ok(status < 300, `${method} ${path}: ${text}`);
  }, truth);
  await users.furnish(["owner", "team"]);
  await users.write("SharedSecret", reference, "v.1");
  await users.point("SharedSecret", "one", reference);
  await users.grant("SharedSecret", "one", "team");
  for (const spec of left) {
    await users.point("SharedSecret", spec.share, reference);
    await users.grant("SharedSecret", spec.share, "team");
    machine.mounts.set(spec.target, { id: spec.id, shown: new Map([["key-0", Buffer.from("v.0")]]) });
    machine.records.set(spec.id, { spec, source: "Secret owner x" });
  }
  const state: {
    failsOn: Failing | undefined;
    holdsShares: boolean;
    /** Paths that the driver may not read. */
    forbids: RegExp | undefined;
    /** Paths that are not answered, from now on. */
    loses: RegExp | undefined;
    /** Before a Secret that is read by its name is answered. */
    onRead: (() => Promise<void>) | undefined;
    /** How long it takes to write a set. */
    writeMs: number;
    watchesRoles: boolean;
  } = {
    watchesRoles,
    failsOn,
    holdsShares: false,
    forbids,
    loses: undefined,
    onRead: undefined,
    writeMs: 0,
  };
  const changes: string[] = [];
  const onShown = (target: string): void => void changes.push(shown(target.split("/")[2] ?? "") ?? "nothing");
  const memoryHost = createMemoryHost(machine, { step: () => world.sleep(1), onShown });
  const unlessFailing = (what: Failing): void => {
    if (state.failsOn === what) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
  };
  const host = {
    ...memoryHost,
    mount: async (...args: Parameters<typeof memoryHost.mount>) => {
      unlessFailing("mount");
      return memoryHost.mount(...args);
    },
    adopt: async (target: string) => {
      unlessFailing("adopt");
      return memoryHost.adopt(target);
    },
    write: async (target: string, files: FileSet, mayShow: () => boolean) => {
      unlessFailing("write");
      await world.sleep(state.writeMs);
      return memoryHost.write(target, files, mayShow);
    },
    wipe: async (target: string) => {
      unlessFailing("wipe");
      await memoryHost.wipe(target);
      unlessFailing("end of wipe");
    },
  };
  const stop = new AbortController();
  t.after(() => stop.abort());
  const log = createMemoryLog();
  const metrics = createMetrics();
  const asked: string[] = [];
  /** A watch of shares that is late. */
  async function* held(body: AsyncIterable<string | Uint8Array>) {
    for await (const piece of body) {
      while (state.holdsShares) await world.sleep(100);
      yield piece;
    }
  }
  const api = createClient({
    handler: async (request) => {
      asked.push(`${request.method} ${request.path}`);
      if (state.forbids?.test(request.path)) return forbidden;
      if (state.loses?.test(request.path)) throw new Fault("Unavailable", "no answer");
      if (request.path.endsWith("/secrets/x") && request.method === "GET") await state.onRead?.();
      if (request.path.endsWith("/selfsubjectaccessreviews") && !state.watchesRoles) return notAllowed;
      const response = await handler(request);
      const { body } = response;
      return isStream(body) && request.path.includes("/shared") ? { ...response, body: held(body) } : response;
    },
    world,
  });
  const connected = world.sleep(connectsAfterMs).then((): NodeApi => ({ api, lists }));
  const driver = await world.run(
    startNode(
      { world, log, metrics, signal: stop.signal },
      {
        name: "d",
        version: "1",
        nodeId: "n",
        maxVolumesPerNode: 7,
        recordFolder: "",
        kubeletFolder: "",
        config: { ...defaultConfig, refreshResources },
        host,
        memory,
        connect: () => (isConnected ? connected : new Promise(() => undefined)),
      },
    ),
  );
  driver.run(stop.signal).catch(() => undefined);
  await world.advance(100);
  const { node, identity } = createCsiClientOver(driver.calls, { world, log });
  const publish = (id: string, more: Readonly<Record<string, string>> = {}, readonly = true) =>
    world.run(
      node.nodePublishVolume({
        volumeId: id,
        targetPath: `/pods/${id}/mount`,
        readonly,
        volumeCapability: { accessType: { case: "mount", value: {} } },
        volumeContext: {
          ...("sharedConfigMap" in more ? {} : { sharedSecret: "one" }),
          "csi.storage.k8s.io/pod.name": "p",
          "csi.storage.k8s.io/pod.namespace": "team",
          "csi.storage.k8s.io/pod.uid": "u",
          "csi.storage.k8s.io/serviceAccount.name": "reader",
          ...more,
        },
      }),
    );
  const unpublish = (id: string) =>
    world.run(node.nodeUnpublishVolume({ volumeId: id, targetPath: `/pods/${id}/mount` }));
  const shown = (id: string): string | undefined => {
    const files = machine.mounts.get(`/pods/${id}/mount`)?.shown;
    return files && Buffer.from(files.get("key-0") ?? "").toString();
  };
  return {
    world,
    users,
    machine,
    state,
    log,
    metrics,
    driver,
    node,
    identity,
    publish,
    unpublish,
    shown,
    ask,
    asked,
    changes,
  };
}

test("the driver says who it is, how many volumes it takes, and that it sets the group", async (t) => {
  const { world, node, identity } = await setUp(t);
  assert.equal((await world.run(identity.getPluginInfo({}))).name, "d");
  assert.equal((await world.run(identity.probe({}))).ready, true);
  const { nodeId, maxVolumesPerNode } = await world.run(node.nodeGetInfo({}));
  assert.deepEqual([nodeId, maxVolumesPerNode], ["n", 7n]);
  assert.equal((await world.run(node.nodeGetCapabilities({}))).capabilities.length, 1);
});

test("before there is an API server, volumes are unpublished and none is published", async (t) => {
  const { publish, unpublish, driver } = await setUp(t, { isConnected: false });
  const fault = await faultOf(publish("csi-1"));
  assert.deepEqual([fault.code, / \[SNAP-705\]$/.test(fault.message)], ["Unavailable", true]);
  await unpublish("csi-1");
  assert.equal(driver.ready?.(), "waiting for the API server");
});

test("after a restart without an API server, mounts are served as soon as there is one", async (t) => {
  const { world, publish, shown } = await setUp(t, { connectsAfterMs: 12_000, left: [aVolume("csi-1")] });
  await world.advance(11_800);
  assert.equal((await faultOf(publish("csi-2"))).code, "Unavailable");
  await world.advance(200);
  await publish("csi-2");
  assert.deepEqual([shown("csi-1"), shown("csi-2")], ["v.1", "v.1"]);
});

test("a publish that fails leaves no mount and no record, and the next one fills the volume", async (t) => {
  for (const failsOn of ["write", "mount"] as const) {
    const { publish, machine, state, shown } = await setUp(t, { failsOn });
    await faultOf(publish("csi-1"));
    assert.deepEqual([machine.mounts.size, machine.records.size], [0, 0], failsOn);
    state.failsOn = undefined;
    await publish("csi-1");
    assert.equal(shown("csi-1"), "v.1");
    await publish("csi-1");
    const other = await faultOf(publish("csi-1", { "csi.storage.k8s.io/pod.name": "other" }));
    assert.equal(other.code, "AlreadyExists");
  }
});

test("an update that cannot be written keeps the old content, and is tried again", async (t) => {
  const { world, users, publish, state, shown } = await setUp(t);
  await publish("csi-1");
  state.failsOn = "write";
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(5_000);
  assert.equal(shown("csi-1"), "v.1");
  state.failsOn = undefined;
  await world.advance(10_000);
  assert.equal(shown("csi-1"), "v.2");
});

test("refreshResources: false keeps all volumes as they were mounted, and permission still takes them away", async (t) => {
  const { world, users, publish, shown } = await setUp(t, { refreshResources: false });
  await publish("csi-1");
  await users.write("SharedSecret", reference, "v.2");
  await users.write("SharedSecret", { namespace: "owner", name: "y" }, "v.3");
  await users.point("SharedSecret", "one", { namespace: "owner", name: "y" });
  await world.advance(60_000);
  assert.equal(shown("csi-1"), "v.1");
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(10_000);
  assert.equal(shown("csi-1"), undefined);
  await users.grant("SharedSecret", "one", "team");
  await world.advance(10_000);
  assert.equal(shown("csi-1"), "v.3", "the current set of the share");
});

test("a Secret that is deleted after its share got another reference takes nothing away, however late the watch of the shares is", async (t) => {
  const { world, users, publish, state, changes, asked } = await setUp(t);
  for (let index = 0; index < 20; index++) await publish(`csi-${index}`);
  const other = { namespace: "owner", name: "y" };
  await users.write("SharedSecret", other, "v.2");
  state.holdsShares = true;
  changes.length = 0;
  asked.length = 0;
  await users.point("SharedSecret", "one", other);
  await users.removeSource("SharedSecret", reference);
  await world.advance(3_000);
  assert.deepEqual(changes, Array(20).fill("v.2"));
  assert.equal(asked.filter((line) => line.endsWith("/sharedsecrets/one")).length, 1);
  await users.removeSource("SharedSecret", other);
  await world.advance(3_000);
  assert.deepEqual(changes.slice(20), Array(20).fill("nothing"));
});

test("a deleted Secret takes the data away also where the driver may not read the share", async (t) => {
  const { world, users, publish, state, shown, asked, log } = await setUp(t);
  for (let index = 0; index < 20; index++) await publish(`csi-${index}`);
  state.forbids = /\/sharedsecrets\/one$/;
  asked.length = 0;
  await users.removeSource("SharedSecret", reference);
  await world.advance(3_000);
  for (let index = 0; index < 20; index++) assert.equal(shown(`csi-${index}`), undefined);
  assert.equal(asked.filter((line) => line.endsWith("/sharedsecrets/one")).length, 1, "one read for all of them");
  assert.equal(log.lines.filter(({ message }) => message.startsWith("share cannot be read")).length, 1);
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(3_000);
  assert.equal(shown("csi-0"), "v.2");
});

const reservedName = "openshift-mine";
/** Allow-lists that the API server does not hand out for a while. */
function lateLists() {
  const answer = Promise.withResolvers<void>();
  const state = { isRead: false, names: new Map([[reservedName, reference]]) };
  const lists: AllowListReader = {
    current: () => ({ SharedSecret: state.isRead ? state.names : new Map(), SharedConfigMap: new Map() }),
    isRead: () => state.isRead,
    read: () => answer.promise,
  };
  const arrive = (): void => {
    state.isRead = true;
    answer.resolve();
  };
  return { lists, state, arrive };
}

test("while the allow-lists cannot be read, a listed share's volume keeps its data, and no new one is mounted; then both are current", async (t) => {
  const { lists, arrive } = lateLists();
  const { world, publish, shown } = await setUp(t, { lists, left: [aVolume("csi-1", { share: reservedName })] });
  await world.advance(60_000);
  assert.equal(shown("csi-1"), "v.0");
  const fault = await faultOf(publish("csi-2", { sharedSecret: reservedName }));
  assert.equal(fault.code, "Unavailable");
  assert.match(fault.message, /cannot be mounted now, because its name is reserved, and ConfigMap .* \[SNAP-705\]$/);
  arrive();
  await world.advance(100);
  assert.equal(shown("csi-1"), "v.1", "looked at again");
  await publish("csi-2", { sharedSecret: reservedName });
});

test("a share that the allow-lists turn out not to hold is emptied when they are read", async (t) => {
  const { lists, state, arrive } = lateLists();
  state.names.clear();
  const { world, shown } = await setUp(t, { lists, left: [aVolume("csi-1", { share: reservedName })] });
  await world.advance(20_000);
  assert.equal(shown("csi-1"), "v.0");
  arrive();
  await world.advance(100);
  assert.equal(shown("csi-1"), undefined);
});

for (const what of ["permission", "Secret", "share"] as const)
  test(`while the allow-lists cannot be read, a ${what} that is taken away takes the data all the same`, async (t) => {
    const { lists } = lateLists();
    const volume = aVolume("csi-1", { share: reservedName });
    const { world, users, shown } = await setUp(t, { lists, left: [volume] });
    await world.advance(20_000);
    assert.equal(shown("csi-1"), "v.0");
    if (what === "permission") await users.revoke("SharedSecret", reservedName, "team");
    else if (what === "Secret") await users.removeSource("SharedSecret", reference);
    else await users.unshare("SharedSecret", reservedName);
    await world.advance(10_000);
    assert.equal(shown("csi-1"), undefined);
  });

test("refreshResources: false also holds for volumes that were mounted before, and the kubelet may publish them again", async (t) => {
  const { world, publish, shown, machine } = await setUp(t, { refreshResources: false, left: [aVolume("csi-1")] });
  await world.advance(20_000);
  assert.equal(shown("csi-1"), "v.0");
  await publish("csi-1");
  assert.equal(shown("csi-1"), "v.0");
  assert.equal(machine.records.get("csi-1")?.spec.refresh, true, "what the pod asks for");
});

test("a volume that was recorded without refresh is refreshed once the kubelet has published it again with it", async (t) => {
  const { world, users, publish, shown, machine } = await setUp(t, { left: [aVolume("csi-1", { refresh: false })] });
  await world.advance(20_000);
  assert.equal(shown("csi-1"), "v.0");
  await publish("csi-1");
  assert.equal(shown("csi-1"), "v.1");
  assert.equal(machine.records.get("csi-1")?.spec.refresh, true);
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(1_000);
  assert.equal(shown("csi-1"), "v.2");
});

for (const refreshResource of ["true", "false"])
  test(`a volume that was emptied in part is filled again when the permission is back, with refreshResource ${refreshResource}`, async (t) => {
    const { world, users, publish, state, shown } = await setUp(t);
    await publish("csi-1", { refreshResource });
    state.failsOn = "end of wipe";
    await users.revoke("SharedSecret", "one", "team");
    await world.advance(10_000);
    assert.equal(shown("csi-1"), undefined);
    await users.grant("SharedSecret", "one", "team");
    await world.advance(10_000);
    assert.equal(shown("csi-1"), "v.1");
  });

test("a mounted volume whose files cannot be read is kept current and emptied like the others", async (t) => {
  const { world, users, shown } = await setUp(t, { failsOn: "adopt", left: [aVolume("csi-1")] });
  await world.advance(1_000);
  assert.equal(shown("csi-1"), "v.1");
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(10_000);
  assert.equal(shown("csi-1"), undefined);
});

test("an unpublish with another target leaves the volume and its record", async (t) => {
  const { publish, node, world, machine, shown } = await setUp(t);
  await publish("csi-1");
  await world.run(node.nodeUnpublishVolume({ volumeId: "csi-1", targetPath: "/pods/other/mount" }));
  assert.deepEqual([shown("csi-1"), machine.records.size], ["v.1", 1]);
});

test("an owner's withdrawn right to read ends the watch within a minute: no update, no new mount and no refill, and no data is lost", async (t) => {
  const { world, users, publish, state, shown } = await setUp(t);
  await publish("csi-1");
  state.forbids = /\/namespaces\/owner\/secrets/;
  await world.advance(60_000);
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(20_000);
  assert.equal(shown("csi-1"), "v.1");
  assert.match((await faultOf(publish("csi-2"))).message, /may not read Secret owner\/x of .* \[SNAP-707\]$/);
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(10_000);
  assert.equal(shown("csi-1"), undefined);
  await users.grant("SharedSecret", "one", "team");
  await world.advance(20_000);
  assert.equal(shown("csi-1"), undefined, "what was read while it was allowed is not handed out");
  state.forbids = undefined;
  await world.advance(80_000);
  assert.equal(shown("csi-1"), "v.2");
  await publish("csi-2");
});

/** As the namespace controller does it, which this server runs without. */
async function removeOwner({ ask, users }: Pick<Awaited<ReturnType<typeof setUp>>, "ask" | "users">): Promise<void> {
  const path = "/api/v1/namespaces/owner";
  assert.equal((await ask("DELETE", path)).status, 200);
  await users.removeSource("SharedSecret", reference);
  const { body } = await ask("GET", path);
  const { status } = await ask("PUT", `${path}/finalize`, { ...body, spec: { finalizers: [] } });
  assert.equal(status, 200);
  assert.equal((await ask("GET", path)).status, 404);
}

test("a Secret that went with its namespace takes the data away also where the driver's right to read it went first, and comes back with both", async (t) => {
  const { world, users, publish, state, shown, ask } = await setUp(t);
  await publish("csi-1");
  state.forbids = /\/namespaces\/owner\/secrets/;
  await world.advance(61_000);
  await removeOwner({ ask, users });
  await world.advance(20_000);
  assert.equal(shown("csi-1"), undefined);
  await users.furnish(["owner"]);
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(20_000);
  assert.equal(shown("csi-1"), undefined, "the right is missing still");
  state.forbids = undefined;
  await world.advance(20_000);
  assert.equal(shown("csi-1"), "v.2");
});

for (const [what, forbids, expected] of [
  ["is emptied after a restart", /\/namespaces\/owner\/secrets/, undefined],
  ["keeps its data if the driver may not look for the namespace", /\/namespaces\/owner(\/secrets|$)/, "v.0"],
] as const)
  test(`a volume whose Secret went with its namespace, which the driver did not see, ${what}`, async (t) => {
    const all = await setUp(t, { left: [aVolume("csi-1")], connectsAfterMs: 2_000, forbids });
    const { world, shown, machine } = all;
    assert.equal(shown("csi-1"), "v.0");
    await removeOwner(all);
    await world.advance(20_000);
    assert.equal(shown("csi-1"), expected);
    assert.ok(machine.mounts.has("/pods/csi-1/mount"));
  });

test("a review that has aged while the Secret was read is no denial: the mount is tried again", async (t) => {
  const { world, publish, state, shown } = await setUp(t);
  state.forbids = /\/secrets\?/;
  state.onRead = async () => {
    state.loses = /subjectaccessreviews/;
    await world.sleep(11_000);
  };
  const fault = await faultOf(publish("csi-1"));
  assert.deepEqual([fault.code, / \[SNAP-705\]$/.test(fault.message)], ["Unavailable", true]);
  [state.loses, state.onRead] = [undefined, undefined];
  await world.advance(5_000);
  await publish("csi-1");
  assert.equal(shown("csi-1"), "v.1");
});

test("where roles are watched, a permission that is taken away empties the volume at once, and reviews are few else", async (t) => {
  const { world, users, publish, shown, state, asked } = await setUp(t, { watchesRoles: true });
  await users.furnish(["other"]);
  await publish("csi-1");
  const reviews = (): number => asked.filter((line) => line.endsWith("/subjectaccessreviews")).length;
  const countedIn = async (ms: number): Promise<number> => {
    const before = reviews();
    await world.advance(ms);
    return reviews() - before;
  };
  await world.advance(60_000);
  assert.equal(await countedIn(120_000), 4, "every thirty seconds");
  await users.grant("SharedSecret", "one", "other");
  assert.ok((await countedIn(60_000)) <= 2, "a role of another namespace is no reason to ask");
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(1_100);
  assert.equal(shown("csi-1"), undefined);
  await users.grant("SharedSecret", "one", "team");
  assert.ok((await countedIn(15_000)) >= 3, "another API server may know it later");
  assert.equal(shown("csi-1"), "v.1");
  assert.ok((await countedIn(120_000)) <= 5);
  state.watchesRoles = false;
  await world.advance(61_000);
  assert.ok((await countedIn(60_000)) >= 11, "the right is gone: it is asked as before");
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(10_000);
  assert.equal(shown("csi-1"), undefined);
});

test("I-30: a set whose permission is taken away while it is written is not shown", async (t) => {
  const { world, users, publish, state, shown, changes } = await setUp(t);
  await publish("csi-1");
  state.writeMs = 6_000;
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(100);
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(12_000);
  assert.deepEqual(changes, ["v.1", "nothing"]);
  await users.grant("SharedSecret", "one", "team");
  await world.advance(15_000);
  assert.equal(shown("csi-1"), "v.2");
});

test("I-30: a set is not shown when the review has aged while it was written, and the old one stays; both until there is a new one", async (t) => {
  const { world, users, publish, state, shown, changes } = await setUp(t);
  await publish("csi-1");
  state.writeMs = 12_000;
  state.loses = /subjectaccessreviews/;
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(40_000);
  assert.deepEqual(changes, ["v.1"]);
  [state.loses, state.writeMs] = [undefined, 0];
  await world.advance(20_000);
  assert.deepEqual([changes, shown("csi-1")], [["v.1", "v.2"], "v.2"]);
});

for (const [what, lost, code, snap] of [
  ["taken away", undefined, "PermissionDenied", "SNAP-704"],
  ["too old", /subjectaccessreviews/, "Unavailable", "SNAP-705"],
] as const)
  test(`I-30: a new volume whose permission is ${what} once its files are written is refused, and shows none`, async (t) => {
    const { world, users, publish, state, machine, changes } = await setUp(t);
    state.writeMs = 12_000;
    world.after(1_000, () => {
      state.loses = lost;
      if (lost === undefined) void users.revoke("SharedSecret", "one", "team");
    });
    const fault = await faultOf(publish("csi-1"));
    assert.deepEqual([fault.code, fault.message.endsWith(` [${snap}]`)], [code, true]);
    assert.deepEqual([machine.mounts.size, machine.records.size], [0, 0]);
    assert.ok(!changes.includes("v.1"), changes.join());
  });

test("of unpublished volumes nothing is left: no watch, no review, no work when their share changes", async (t) => {
  const { world, users, publish, unpublish, driver, machine, asked } = await setUp(t);
  for (let index = 0; index < 20; index++) await publish(`csi-${index}`);
  assert.equal(asked.filter((line) => line.includes("/secrets?") && line.includes("watch=")).length, 1);
  for (let index = 0; index < 20; index++) await unpublish(`csi-${index}`);
  assert.equal(machine.records.size, 0);
  asked.length = 0;
  await users.write("SharedSecret", reference, "v.2");
  await users.point("SharedSecret", "one", { namespace: "owner", name: "y" });
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(3 * 60_000);
  assert.deepEqual(
    // Once a minute it is asked whether roles may be watched, whatever volumes there are.
    asked.filter((line) => !/\/shared(secrets|configmaps)\?|\/selfsubjectaccessreviews$/.test(line)),
    [],
  );
  assert.equal(driver.ready?.(), undefined);
});

test("a SharedSecret and a SharedConfigMap of one name have nothing to do with each other", async (t) => {
  const { world, users, publish, shown } = await setUp(t);
  await users.write("SharedConfigMap", reference, "v.10");
  await users.point("SharedConfigMap", "one", reference);
  await users.grant("SharedConfigMap", "one", "team");
  await publish("csi-1");
  await publish("csi-2", { sharedConfigMap: "one" });
  assert.deepEqual([shown("csi-1"), shown("csi-2")], ["v.1", "v.10"]);
  await users.unshare("SharedConfigMap", "one");
  await world.advance(20_000);
  assert.deepEqual([shown("csi-1"), shown("csi-2")], ["v.1", undefined]);
  await users.revoke("SharedSecret", "one", "team");
  await users.point("SharedConfigMap", "one", reference);
  await world.advance(20_000);
  assert.deepEqual([shown("csi-1"), shown("csi-2")], [undefined, "v.10"]);
});

test("a Secret without keys empties the volume", async (t) => {
  const { world, publish, shown, ask } = await setUp(t);
  await publish("csi-1");
  const path = "/api/v1/namespaces/owner/secrets/x";
  const { status, text } = await ask("PATCH", path, { data: null }, { type: "merge" });
  assert.equal(status, 200, text);
  await world.advance(5_000);
  assert.equal(shown("csi-1"), "");
});

test("R40: conditions of a share change neither its mounts nor its volumes", async (t) => {
  const { world, publish, shown, ask } = await setUp(t);
  await publish("csi-1");
  const condition = (type: string) => ({
    type,
    status: "False",
    reason: "Broken",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  const path = "/apis/sharedresource.openshift.io/v1alpha1/sharedsecrets/one/status";
  const { status, text } = await ask(
    "PATCH",
    path,
    { status: { conditions: [condition("Available"), condition("Ready")] } },
    { type: "merge" },
  );
  assert.equal(status, 200, text);
  await world.advance(20_000);
  assert.equal(shown("csi-1"), "v.1");
  await publish("csi-2");
  assert.equal(shown("csi-2"), "v.1");
});

test("R52: mounts are counted without labels, from 0 on, with those that fail", async (t) => {
  const { publish, metrics } = await setUp(t);
  const counted = async (): Promise<readonly string[]> =>
    (await metrics.scrape()).text.split("\n").filter((line) => /^openshift_csi_share_mount/.test(line));
  const lines = (requests: number, failures: number, volumes: number): readonly string[] => [
    `openshift_csi_share_mount_requests_total ${requests}`,
    `openshift_csi_share_mount_failures_total ${failures}`,
    `openshift_csi_share_mounted_volumes ${volumes}`,
  ];
  assert.deepEqual(await counted(), lines(0, 0, 0));
  await publish("csi-1");
  await faultOf(publish("csi-2", { sharedSecret: "nobody-made-this" }));
  assert.deepEqual(await counted(), lines(2, 1, 1));
});

test("R25, R48, R82: reserved names and writable volumes that the driver refuses are counted as found by no webhook", async (t) => {
  const { publish, users, world, metrics } = await setUp(t);
  const counted = async (): Promise<Readonly<Record<string, number>>> => {
    const { text } = await metrics.scrape();
    const rows = [...text.matchAll(/^openshift_csi_share_(\w+)_controller_total (\d+)$/gm)];
    return Object.fromEntries(rows.map(([, name, count]) => [name, Number(count)]));
  };
  const none = {
    sharedsecret_reserved_name_failures: 0,
    sharedconfigmap_reserved_name_failures: 0,
    pod_readonly_failures: 0,
    pod_readonly_successes: 0,
  };
  assert.deepEqual(await counted(), none);
  for (const kind of ["SharedSecret", "SharedConfigMap"] as const) await users.point(kind, "openshift-x", reference);
  await world.advance(100);
  const refused = async (id: string, more: Readonly<Record<string, string>>, readonly = true): Promise<string> =>
    /SNAP-\d+/.exec((await faultOf(publish(id, more, readonly))).message)?.[0] ?? "";
  assert.equal(await refused("csi-1", { sharedSecret: "openshift-x" }), "SNAP-152");
  for (const id of ["csi-2", "csi-3"]) assert.equal(await refused(id, { sharedConfigMap: "openshift-x" }), "SNAP-152");
  for (const id of ["csi-4", "csi-5", "csi-6"]) assert.equal(await refused(id, {}, false), "SNAP-151");
  await publish("csi-7");
  assert.deepEqual(await counted(), {
    sharedsecret_reserved_name_failures: 1,
    sharedconfigmap_reserved_name_failures: 2,
    pod_readonly_failures: 3,
    pod_readonly_successes: 1,
  });
});

/** A volume may have 20 keys of one byte; a namespace two volumes with 30 keys, the node four with 40. */
const keys = (count: number): number =>
  setBytes(
    Array.from({ length: count }, (_, at) => [`key-${at}`, 1] as const),
    4_096,
  );
const small: MemoryLimits = {
  volumeBytes: emptyVolumeBytes + keys(20),
  namespaceBytes: 2 * emptyVolumeBytes + keys(30),
  nodeBytes: 4 * emptyVolumeBytes + keys(40),
};
const codeOf = (text: string): string => /SNAP-\d+/.exec(text)?.[0] ?? text;

async function setUpSmall(t: TestContext, more: Parameters<typeof setUp>[1] = {}) {
  const all = await setUp(t, { memory: small, ...more });
  const { ask, users, metrics, machine } = all;
  for (const namespace of ["owner", "other"]) {
    if (namespace === "other") await users.furnish([namespace]);
    await users.grant("SharedSecret", "one", namespace);
  }
  return {
    ...all,
    fill: async (count: number, text = "x") => {
      const value = Buffer.from(text).toString("base64");
      const data = Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, value]));
      const body = { apiVersion: "v1", kind: "Secret", metadata: { name: "x" }, type: "Opaque", data };
      const { status, text: reply } = await ask("PUT", "/api/v1/namespaces/owner/secrets/x", body);
      assert.equal(status, 200, reply);
    },
    keysIn: (id: string): number => machine.mounts.get(`/pods/${id}/mount`)?.shown?.size ?? 0,
    troubled: async (): Promise<readonly string[]> =>
      [
        ...(await metrics.scrape()).text.matchAll(
          /^openshift_csi_share_volumes_not_current\{cause="(\w+)"\} ([1-9]\d*)$/gm,
        ),
      ].map(([, cause, count]) => `${cause} ${count}`),
    events: async (): Promise<readonly string[]> => {
      const { text } = await ask("GET", "/api/v1/namespaces/team/events");
      const { items } = JSON.parse(text) as {
        items: { reason: string; message: string; involvedObject: { kind: string; name: string } }[];
      };
      return items.map(
        ({ reason, message, involvedObject: { kind, name } }) => `${kind} ${name} ${reason} ${codeOf(message)}`,
      );
    },
  };
}
const inNamespace = (namespace: string) => ({ "csi.storage.k8s.io/pod.namespace": namespace });

test("a volume that does not fit is refused, by volume, by namespace and by node, and leaves nothing", async (t) => {
  const nodeBytes = 3 * emptyVolumeBytes + keys(40);
  const { publish, fill, world, machine } = await setUpSmall(t, { memory: { ...small, nodeBytes } });
  const refusalOf = async (id: string, namespace = "team"): Promise<string> => {
    const { code, message } = await faultOf(publish(id, inNamespace(namespace)));
    assert.equal(code, "ResourceExhausted");
    return codeOf(message);
  };
  await fill(21);
  await world.advance(100);
  assert.equal(await refusalOf("csi-1"), "SNAP-711");
  assert.deepEqual([machine.mounts.size, machine.records.size], [0, 0]);
  await fill(16);
  await world.advance(100);
  await publish("csi-1");
  assert.equal(await refusalOf("csi-2"), "SNAP-712");
  await publish("csi-3", inNamespace("owner"));
  assert.equal(await refusalOf("csi-4", "other"), "SNAP-713");
  assert.deepEqual([...machine.records.keys()], ["csi-1", "csi-3"]);
});

test("a share that grows keeps its old set, is reported, can be revoked, and is written when there is room", async (t) => {
  const { publish, unpublish, fill, keysIn, world, users, troubled, events, metrics } = await setUpSmall(t);
  await fill(10);
  await world.advance(100);
  for (const id of ["csi-1", "csi-2"]) await publish(id);
  await publish("csi-3", inNamespace("owner"));
  assert.deepEqual(await troubled(), []);
  await fill(19);
  await world.advance(30_000);
  assert.deepEqual(["csi-1", "csi-2", "csi-3"].map(keysIn), [19, 10, 19], "the namespace has room for one of its two");
  assert.deepEqual(await troubled(), ["memory 1"]);
  assert.match(
    (await metrics.scrape()).text,
    /^openshift_csi_share_volumes_not_current_seconds\{cause="memory"\} [23]\d/m,
  );
  assert.deepEqual(await events(), ["Pod p SharedVolumeNotCurrent SNAP-712"]);
  await publish("csi-2");
  assert.equal(keysIn("csi-2"), 10, "a repeated publish keeps it too");
  for (const id of ["csi-1", "csi-3"]) await unpublish(id);
  await world.advance(5_000);
  assert.equal(keysIn("csi-2"), 19);
  assert.deepEqual(await troubled(), []);
  await fill(21);
  await world.advance(5_000);
  assert.deepEqual(await troubled(), ["memory 1"]);
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(11_000);
  assert.equal(keysIn("csi-2"), 0);
  assert.deepEqual(await troubled(), []);
});

test("sets that a pod keeps open count: the volume keeps its set, is reported, can be revoked, and is written when they are closed", async (t) => {
  const machine = createMachine();
  const { publish, fill, keysIn, world, users, troubled, events, shown } = await setUpSmall(t, { machine });
  await fill(6, "v.1");
  await world.advance(100);
  await publish("csi-1");
  const mount = machine.mounts.get("/pods/csi-1/mount") ?? assert.fail();
  mount.open = [];
  for (let version = 2; version <= 9; version++) {
    await fill(6, `v.${version}`);
    await world.advance(1_000);
  }
  assert.deepEqual(
    [shown("csi-1"), mount.open.length],
    ["v.4", 3],
    "two replaced sets and a new one are within 20 keys",
  );
  await world.advance(20_000);
  assert.deepEqual(await troubled(), ["memory 1"]);
  assert.deepEqual(await events(), ["Pod p SharedVolumeNotCurrent SNAP-711"]);
  mount.open = [];
  await world.advance(11_000);
  assert.equal(shown("csi-1"), "v.9", "the pod has closed its files");
  assert.deepEqual(await troubled(), []);
  for (let version = 10; version <= 19; version++) {
    await fill(6, `v.${version}`);
    await world.advance(1_000);
  }
  assert.equal(mount.open.length, 3);
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(11_000);
  assert.equal(keysIn("csi-1"), 0);
});

test("after a restart, sets that a pod keeps open count too", async (t) => {
  const machine = createMachine();
  const first = await setUpSmall(t, { machine });
  await first.fill(6, "v.1");
  await first.world.advance(100);
  await first.publish("csi-1");
  (machine.mounts.get("/pods/csi-1/mount") ?? assert.fail()).open = [];
  for (const version of [2, 3]) {
    await first.fill(6, `v.${version}`);
    await first.world.advance(1_000);
  }
  assert.equal(first.shown("csi-1"), "v.3");
  const second = await setUpSmall(t, { machine });
  await second.fill(13);
  await second.world.advance(100);
  assert.equal(codeOf((await faultOf(second.publish("csi-2"))).message), "SNAP-712");
});

test("however much there is to write for another tenant, a volume is emptied within 10 s after its permission is gone", async (t) => {
  const { publish, world, users, state, shown } = await setUp(t);
  await users.furnish(["other"]);
  await users.write("SharedSecret", { namespace: "owner", name: "busy" }, "v.1");
  await users.point("SharedSecret", "busy", { namespace: "owner", name: "busy" });
  await users.grant("SharedSecret", "busy", "other");
  for (let at = 0; at < 100; at++) await publish(`busy-${at}`, { ...inNamespace("other"), sharedSecret: "busy" });
  await publish("csi-1");
  state.writeMs = 2_000;
  const write = (version: number) => users.write("SharedSecret", { namespace: "owner", name: "busy" }, `v.${version}`);
  for (let second = 0; second < 20; second++) {
    await write(2 + second);
    await world.advance(1_000);
  }
  await users.revoke("SharedSecret", "one", "team");
  for (let second = 0; second < 9; second++) {
    await write(22 + second);
    await world.advance(1_000);
  }
  assert.equal(shown("csi-1"), undefined);
});

test("after a restart, what an earlier process has mounted counts", async (t) => {
  const machine = createMachine();
  const first = await setUpSmall(t, { machine });
  await first.fill(16);
  await first.world.advance(100);
  await first.publish("csi-1");
  const second = await setUpSmall(t, { machine });
  await second.fill(16);
  await second.world.advance(100);
  assert.equal(codeOf((await faultOf(second.publish("csi-2"))).message), "SNAP-712");
  await second.unpublish("csi-1");
  await second.publish("csi-2");
});

test("a volume that cannot be emptied, and one of which nobody knows what it should be, are counted and get an event", async (t) => {
  const { publish, world, users, state, troubled, events, log } = await setUpSmall(t);
  await publish("csi-1");
  state.failsOn = "wipe";
  await users.revoke("SharedSecret", "one", "team");
  await world.advance(40_000);
  assert.deepEqual(await troubled(), ["not_emptied 1"]);
  assert.deepEqual(await events(), ["Pod p SharedVolumeNotCurrent SNAP-714"]);
  assert.equal(log.lines.filter(({ message }) => message === "volume is not as it should be").length, 1);
  state.failsOn = undefined;
  await world.advance(10_000);
  assert.deepEqual(await troubled(), []);
  await users.grant("SharedSecret", "one", "team");
  await world.advance(10_000);
  state.forbids = /\/subjectaccessreviews$/;
  await world.advance(20_000);
  assert.deepEqual(await troubled(), ["unanswered 1"]);
});

test("a volume that is mounted without a record keeps what it shows, is counted and logged, and is kept current once it is asked for", async (t) => {
  const machine = createMachine();
  for (const id of ["csi-1", "csi-2"])
    machine.mounts.set(`/pods/${id}/mount`, { id, shown: new Map([["key-0", Buffer.from("v.0")]]) });
  const { publish, unpublish, world, shown, troubled, log } = await setUpSmall(t, { machine });
  assert.deepEqual(await troubled(), ["unrecorded 2"]);
  const [said, ...more] = log.lines.filter(({ level }) => level === "error");
  assert.deepEqual([said?.targets, more], [["/pods/csi-1/mount", "/pods/csi-2/mount"], []]);
  assert.equal(shown("csi-1"), "v.0");
  await publish("csi-1");
  await world.advance(10_000);
  assert.deepEqual([await troubled(), shown("csi-1")], [["unrecorded 1"], "v.1"]);
  await unpublish("csi-2");
  await world.advance(10_000);
  assert.deepEqual(await troubled(), []);
});

test("a volume whose Secret is gone, and one that cannot be written, are counted by reason and are each a line of log", async (t) => {
  const { world, users, publish, unpublish, state, metrics, log } = await setUp(t);
  const waiting = async (): Promise<readonly string[]> =>
    [
      ...(await metrics.scrape()).text.matchAll(
        /^snapkeep_waiting_objects\{component="shared-resource",reason="(\w+)"\} ([1-9]\d*)$/gm,
      ),
    ].map(([, reason, count]) => `${reason} ${count}`);
  const lines = (phase: string): readonly unknown[] =>
    log.lines
      .filter((line) => line.message === "decided" && line.controller === "shared-volumes" && line.phase === phase)
      .map(({ key, reason, actions }) => `${key} ${reason} ${actions}`);
  for (const id of ["csi-1", "csi-2"]) await publish(id);
  assert.deepEqual(await waiting(), []);
  await users.removeSource("SharedSecret", reference);
  await world.advance(1_000);
  assert.deepEqual(await waiting(), ["SecretNotFound 2"]);
  const both = (rest: string) => ["csi-1", "csi-2"].map((id) => `${id} ${rest}`);
  assert.deepEqual(lines("unconfirmed"), both("Writes readShare"));
  assert.deepEqual(lines("withdrawn"), both("Writes wipe"));
  assert.deepEqual(lines("empty"), both("SecretNotFound none"));
  await unpublish("csi-1");
  await world.advance(100);
  assert.deepEqual(await waiting(), ["SecretNotFound 1"]);
  state.failsOn = "write";
  await users.write("SharedSecret", reference, "v.2");
  await world.advance(3_000);
  assert.deepEqual(await waiting(), ["UnexpectedError 1"]);
  state.failsOn = undefined;
  await world.advance(10_000);
  assert.deepEqual(await waiting(), []);
});

test("each decision about a request to publish is a line of log with its reason", async (t) => {
  const { publish, log } = await setUp(t);
  await publish("csi-1");
  await faultOf(publish("csi-2", { sharedSecret: "nobody-made-this" }));
  const lines = log.lines.filter((line) => line.message === "decided" && line.controller === "shared-publishes");
  assert.deepEqual(
    lines.map(({ key, phase, reason, actions }) => `${key} ${phase} ${reason} ${actions}`),
    [
      "csi-1 unreviewed Writes review",
      "csi-1 unread Writes countReadOnly,read",
      "csi-1 unread Writes read",
      "csi-1 unreviewed Writes review",
      "csi-1 unmounted Writes reserve,record,mount",
      "csi-1 unfilled Writes write",
      "csi-2 refused ShareNotFound refuse",
    ],
  );
});

test("volumes of one kind are emptied also where the other kind of share cannot be listed", async (t) => {
  const { world, users, publish, state, shown, driver } = await setUp(t, { forbids: /\/sharedconfigmaps/ });
  assert.match(driver.ready?.() ?? "", /SharedConfigMap/);
  await publish("csi-1");
  assert.equal(shown("csi-1"), "v.1");
  await users.unshare("SharedSecret", "one");
  await world.advance(5_000);
  assert.equal(shown("csi-1"), undefined);
  assert.ok(state.forbids);
});
