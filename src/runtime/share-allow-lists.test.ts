import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ref } from "../api/plan.ts";
import { allowListSources, type ShareKind, shareKinds } from "../api/share-lists.ts";
import { Fault } from "../base/fault.ts";
import { silent } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import { createAllowListReader } from "./share-allow-lists.ts";

interface Setup {
  readonly configMaps?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The failures of the first requests. */
  readonly failures?: Fault[];
}

function setUp({ configMaps = {}, environment = {}, failures = [] }: Setup) {
  const asked: string[] = [];
  const state = { configMaps, pauses: 0 };
  const get = async ({ namespace, name }: Ref) => {
    asked.push(`${namespace}/${name}`);
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    const data = state.configMaps[name];
    if (data === undefined) throw new Fault("NotFound", `${name} not found`);
    return { data } as never;
  };
  const reader = createAllowListReader({
    world: { ...realWorld, sleep: async () => void state.pauses++ },
    log: silent,
    environment,
    namespace: "drivers",
    connect: async () => ({ api: { get } }),
  });
  const names = (kind: ShareKind): readonly string[] => [...reader.current()[kind].keys()];
  return { reader, names, asked, state };
}

const never = new AbortController().signal;
const { SharedSecret: secrets, SharedConfigMap: configMaps } = allowListSources;

test("R13: exactly the two ConfigMaps of the driver's namespace are read", async () => {
  const { reader, asked } = setUp({});
  await reader.read(never);
  assert.deepEqual(asked.sort(), ["drivers/ocp-sharedconfigmap-list", "drivers/ocp-sharedsecret-list"]);
});

test("R15: each kind has its own list", async () => {
  const { reader, names } = setUp({
    configMaps: { [secrets.configMap]: { "openshift-s": "n:x" }, [configMaps.configMap]: { "openshift-c": "n:x" } },
  });
  await reader.read(never);
  assert.deepEqual(shareKinds.map(names), [["openshift-s"], ["openshift-c"]]);
});

test("R18: upstream's variables count until the ConfigMaps are read, and then only where there is none", async () => {
  const { reader, names } = setUp({
    configMaps: { [secrets.configMap]: { "openshift-new": "n:x" } },
    environment: { [secrets.variable]: "openshift-old:n:x", [configMaps.variable]: "openshift-c:n:x" },
  });
  assert.deepEqual(shareKinds.map(names), [["openshift-old"], ["openshift-c"]]);
  await reader.read(never);
  assert.deepEqual(shareKinds.map(names), [["openshift-new"], ["openshift-c"]]);
});

test("R46, R47, R59: the lists are read once; later changes and failures of the API server change nothing", async () => {
  const { reader, names, asked, state } = setUp({ configMaps: { [secrets.configMap]: { "openshift-s": "n:x" } } });
  await reader.read(never);
  state.configMaps = {};
  assert.deepEqual(names("SharedSecret"), ["openshift-s"]);
  assert.equal(asked.length, 2);
});

test("R74: reading is tried again until the API server answers", async () => {
  const { reader, names, state } = setUp({
    configMaps: { [secrets.configMap]: { "openshift-s": "n:x" } },
    failures: [new Fault("Unavailable", "no connection"), new Fault("PermissionDenied", "no role yet")],
  });
  await reader.read(never);
  assert.deepEqual(names("SharedSecret"), ["openshift-s"]);
  assert.ok(state.pauses > 0);
});
