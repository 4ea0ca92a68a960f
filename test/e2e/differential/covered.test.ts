/** The calls that components make in the simulation are those that are compared with a real server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type KindName, kindRows } from "../../../src/api/kinds.ts";
import type { KubeApi } from "../../../src/kube/api.ts";
import { judged, scheduleOf } from "../../sim/campaign.ts";
import type { Step } from "./script.ts";
import { componentCallScripts } from "./scripts/component-calls.ts";

const seeds = 200;
const callKindsMin = 20;

const callOf = (verb: string, kind: string, subresource = ""): string => `${verb} ${kind} ${subresource}`.trimEnd();

function callIn({ method, path, type = "" }: Step): string {
  const [place = "", query = ""] = path.replace("/namespaces/$NS", "").split("?");
  // "/api/v1/plural/name/subresource" or "/apis/group/v1/plural/…"
  const [plural, name, subresource] = place.split("/").slice(place.startsWith("/apis/") ? 4 : 3);
  const kind = Object.keys(kindRows).find((known) => kindRows[known as KindName].plural === plural);
  const reading = query.includes("watch=true") ? "watch" : name === undefined ? "list" : "get";
  const verbs: Readonly<Record<string, string>> = { GET: reading, POST: "create", PUT: "replace", DELETE: "delete" };
  return callOf(verbs[method] ?? `patch ${type}`, kind ?? "", subresource);
}

/** Tells of every call before it is made. */
const noting = (api: KubeApi, note: (call: string) => void): KubeApi => ({
  get: (ref, options) => {
    note(callOf("get", ref.kind));
    return api.get(ref, options);
  },
  list: (kind, query) => {
    note(callOf("list", kind));
    return api.list(kind, query);
  },
  create: (kind, object, options) => {
    note(callOf("create", kind, options?.subresource));
    return api.create(kind, object, options);
  },
  replace: (kind, object, options) => {
    note(callOf("replace", kind, options?.subresource));
    return api.replace(kind, object, options);
  },
  patch: (ref, patch, options) => {
    note(callOf(`patch ${patch.type}`, ref.kind, options?.subresource));
    return api.patch(ref, patch, options);
  },
  delete: (ref, options) => {
    note(callOf("delete", ref.kind));
    return api.delete(ref, options);
  },
  watch: (kind, query, take) => {
    note(callOf("watch", kind));
    return api.watch(kind, query, take);
  },
});

test("every kind of call that a component makes is compared with a real server", async () => {
  const made = new Set<string>();
  const sabotage = () => ({ api: (api: KubeApi): KubeApi => noting(api, (call) => made.add(call)) });
  for (let seed = 1; seed <= seeds; seed++) await judged({ ...(await scheduleOf(seed)), sabotage });
  assert.ok(made.size >= callKindsMin, `only ${made.size} kinds of calls were made`);
  const compared = new Set(componentCallScripts.flatMap(({ steps }) => steps.map(callIn)));
  assert.deepEqual(
    [...made].filter((call) => !compared.has(call)),
    [],
  );
});
