/** Server-side apply, and who is recorded as owner of what. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, patch, replace, type Script, type Step, script } from "../script.ts";
import { aThing, things } from "./custom.ts";

const configMaps = "/api/v1/namespaces/$NS/configmaps";
const deployments = "/apis/apps/v1/namespaces/$NS/deployments";
const owned = { managedFields: true };

interface ApplyOptions {
  readonly manager?: string;
  readonly more?: string;
}

const apply = (path: string, body: unknown, { manager = "me", more = "" }: ApplyOptions = {}): Step =>
  patch("apply", `${path}?fieldManager=${manager}${more}`, body, owned);
const by = (path: string, manager: string): string => `${path}?fieldManager=${manager}`;

const aMap = (data: JsonObject | undefined, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "m", ...metadata },
  ...(data === undefined ? {} : { data }),
});
const applyMap = (data: JsonObject | undefined, options: ApplyOptions = {}, metadata: JsonObject = {}): Step =>
  apply(`${configMaps}/m`, aMap(data, metadata), options);

const maps: readonly Script[] = [
  script("apply creates", applyMap({ x: "1" }, {}, { labels: { a: "1" } })),
  script("apply twice is once", applyMap({ x: "1" }), applyMap({ x: "1" })),
  script("apply changes its own", applyMap({ x: "1" }), applyMap({ x: "2" })),
  script(
    "apply drops what it no longer says",
    applyMap({ x: "1", y: "2" }, {}, { labels: { a: "1", b: "2" } }),
    applyMap({ x: "1" }, {}, { labels: { b: "2" } }),
  ),
  script(
    "apply keeps what another applied",
    applyMap({ x: "1", y: "2" }),
    applyMap({ y: "2" }, { manager: "other" }),
    applyMap({ x: "1" }),
  ),
  script("apply meets another's value", applyMap({ x: "1" }), applyMap({ x: "2" }, { manager: "other" })),
  script(
    "apply meets several of another's values",
    applyMap({ x: "1", y: "1" }, {}, { labels: { l: "1" } }),
    applyMap({ x: "2", y: "2" }, { manager: "other" }, { labels: { l: "2" } }),
  ),
  script(
    "apply by force takes another's value",
    applyMap({ x: "1", y: "1" }),
    applyMap({ x: "2" }, { manager: "other", more: "&force=true" }),
  ),
  script("apply agrees with another's value", applyMap({ x: "1" }), applyMap({ x: "1" }, { manager: "other" })),
  script("apply without a manager", patch("apply", `${configMaps}/m`, aMap({}))),
  script("apply with managed fields of its own", applyMap({ x: "1" }, {}, { managedFields: [{ manager: "x" }] })),
  script("apply of another kind", apply(`${configMaps}/m`, { ...aMap({}), kind: "Secret" })),
  script("apply of another version", apply(`${configMaps}/m`, { ...aMap({}), apiVersion: "v2" })),
  script("apply without a kind", apply(`${configMaps}/m`, { metadata: { name: "m" } })),
  script("apply under another name", apply(`${configMaps}/other`, aMap({}))),
  script("apply of what is no YAML", { ...apply(`${configMaps}/m`, "{{{") }),
  script(
    "apply in YAML",
    apply(`${configMaps}/m`, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  x: '1'\n"),
  ),
  script(
    "apply with an unknown field",
    apply(`${configMaps}/m`, { ...aMap({ x: "1" }), foo: 1 }),
    apply(`${configMaps}/m`, { ...aMap({ x: "1" }), foo: 1 }, { more: "&fieldValidation=Strict" }),
  ),
  script("apply without trace", applyMap({ x: "1" }, { more: "&dryRun=All" }), get(`${configMaps}/m`)),
  script("apply with a version that is past", applyMap({ x: "1" }), applyMap({ x: "2" }, {}, { resourceVersion: "1" })),
  script("apply removes what must be there from nobody", applyMap(undefined)),
];

const updates: readonly Script[] = [
  script(
    "a create is recorded",
    create(
      by(configMaps, "creator"),
      aMap({ x: "1" }, { labels: { a: "1" }, annotations: { n: "1" }, finalizers: ["example.com/x"] }),
      owned,
    ),
  ),
  script("a create without a manager is recorded by its program", create(configMaps, aMap({ x: "1" }))),
  script(
    "later writers own what they change",
    create(by(configMaps, "creator"), aMap({ x: "1", y: "1" })),
    patch("merge", by(`${configMaps}/m`, "editor"), { data: { x: "2" } }, owned),
    patch("json", by(`${configMaps}/m`, "remover"), [{ op: "remove", path: "/data/y" }], owned),
    replace(by(`${configMaps}/m`, "replacer"), aMap({ x: "2", z: "3" }, { labels: { a: "b" } }), owned),
  ),
  script(
    "a write that changes nothing is not recorded",
    create(by(configMaps, "creator"), aMap({ x: "1" })),
    patch("merge", by(`${configMaps}/m`, "editor"), { data: { x: "1" } }, owned),
  ),
  script("apply meets an updater's value", create(by(configMaps, "creator"), aMap({ x: "1" })), applyMap({ x: "2" })),
  script("apply beside an updater", create(by(configMaps, "creator"), aMap({ x: "1" })), applyMap({ y: "2" })),
  script("apply over its own update", create(by(configMaps, "me"), aMap({ x: "1" })), applyMap({ x: "2" })),
  script(
    "an update takes what was applied",
    applyMap({ x: "1", y: "1" }),
    patch("merge", by(`${configMaps}/m`, "editor"), { data: { x: "2" } }, owned),
    applyMap({ x: "1", y: "1" }),
  ),
  script(
    "an updater removes what was applied",
    applyMap({ x: "1", y: "1" }),
    patch("merge", by(`${configMaps}/m`, "editor"), { data: { x: null } }, owned),
  ),
  script(
    "managed fields are cleared",
    create(by(configMaps, "creator"), aMap({ x: "1" })),
    patch("merge", by(`${configMaps}/m`, "editor"), { metadata: { managedFields: [{}] } }, owned),
    patch("merge", by(`${configMaps}/m`, "editor"), { data: { x: "2" } }, owned),
    applyMap({ y: "1" }),
  ),
  script(
    "kubectl moves from the client's side to the server's",
    create(
      by(configMaps, "kubectl-client-side-apply"),
      aMap(
        { x: "1" },
        { annotations: { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(aMap({ x: "1" })) } },
      ),
    ),
    applyMap({ x: "2" }, { manager: "kubectl" }),
  ),
];

const aDeployment = (spec: JsonObject, top: JsonObject = {}): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec: { ...top, selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec } },
});
const applyDeployment = (spec: JsonObject, options: ApplyOptions = {}, top: JsonObject = {}): Step =>
  apply(`${deployments}/d`, aDeployment(spec, top), options);
const one = { name: "one", image: "i1" };
const two = { name: "two", image: "i2" };

const workloads: readonly Script[] = [
  script(
    "apply of a workload",
    applyDeployment({
      containers: [{ ...one, ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }], args: ["x"] }],
    }),
  ),
  script(
    "apply drops a container",
    applyDeployment({ containers: [one, two] }),
    applyDeployment({ containers: [two] }),
  ),
  script(
    "apply adds a container beside another's",
    applyDeployment({ containers: [one] }),
    applyDeployment({ containers: [two] }, { manager: "other" }),
  ),
  script(
    "apply meets an image of another",
    applyDeployment({ containers: [one] }),
    applyDeployment({ containers: [{ name: "one", image: "new" }] }, { manager: "other" }),
  ),
  script(
    "apply meets an atomic list of another",
    applyDeployment({ containers: [{ ...one, args: ["a"] }] }),
    applyDeployment({ containers: [{ ...one, args: ["a", "b"] }] }, { manager: "other" }),
  ),
  script(
    "apply orders containers",
    applyDeployment({ containers: [one, two] }),
    applyDeployment({ containers: [two, one] }),
  ),
  script("apply with the same key twice", applyDeployment({ containers: [one, one] })),
  script(
    "apply removes the last environment variable",
    applyDeployment({ containers: [{ ...one, env: [{ name: "A", value: "1" }] }] }),
    applyDeployment({ containers: [one] }),
  ),
  script(
    "a status is written by another",
    applyDeployment({ containers: [one] }),
    patch(
      "merge",
      by(`${deployments}/d/status`, "controller"),
      { status: { replicas: 1, conditions: [{ type: "Available", status: "True" }] } },
      owned,
    ),
  ),
];

const applyThing = (fields: JsonObject, options: ApplyOptions = {}): Step =>
  apply(`${things}/t`, aThing(fields), options);

const customs: readonly Script[] = [
  script(
    "apply of a custom object",
    applyThing({ text: "abc", set: ["a"], map: [{ key: "k", value: "v" }], labels: { l: "1" }, open: { x: { y: 1 } } }),
  ),
  script(
    "apply of a set by two",
    applyThing({ set: ["a", "b"] }),
    applyThing({ set: ["b", "c"] }, { manager: "other" }),
    applyThing({ set: ["b"] }),
  ),
  script(
    "apply of a keyed list by two",
    applyThing({ map: [{ key: "a", value: "1" }] }),
    applyThing({ map: [{ key: "b", value: "2" }] }, { manager: "other" }),
    applyThing({ map: [] }),
  ),
  script(
    "apply of a plain list by two",
    applyThing({ list: ["a"] }),
    applyThing({ list: ["b"] }, { manager: "other" }),
  ),
  script("apply of a bad custom object", applyThing({ text: "a", number: 99 })),
  script(
    "apply drops a field of a custom object",
    applyThing({ text: "abc", nested: { note: "x" } }),
    applyThing({ text: "abc" }),
  ),
  script(
    "apply of a custom status",
    applyThing({}),
    apply(`${things}/t/status`, { ...aThing(), status: { phase: "Ready" } }, { manager: "controller" }),
  ),
  script(
    "a custom object is recorded",
    create(by(things, "creator"), aThing({ set: ["a"], labels: { l: "1" } }), owned),
    patch("merge", by(`${things}/t/status`, "controller"), { status: { count: 1 } }, owned),
  ),
  script("apply with the same set entry twice", applyThing({ set: ["a", "a"] })),
  script(
    "apply of an unknown field of a custom object",
    applyThing({ foo: 1 }),
    applyThing({ foo: 1 }, { more: "&fieldValidation=Strict" }),
  ),
];

export const applyScripts: readonly Script[] = [...maps, ...updates, ...workloads, ...customs];
