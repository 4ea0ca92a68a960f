/** Deleting: finalizers, preconditions, dependents, collections. And finding: labels and fields. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, gone, patch, remove, type Script, script } from "../script.ts";

const maps = "/api/v1/namespaces/$NS/configmaps";
const secrets = "/api/v1/namespaces/$NS/secrets";
const aMap = (name: string, metadata: JsonObject = {}): JsonObject => ({ metadata: { name, ...metadata } });
const held = { finalizers: ["example.com/hold"] };
const selected = (labels: string, more = ""): string => `${maps}?labelSelector=${encodeURIComponent(labels)}${more}`;
const byField = (fields: string): string => `${maps}?fieldSelector=${encodeURIComponent(fields)}`;

const labelled = [
  create(maps, aMap("a", { labels: { app: "db", tier: "1" } })),
  create(maps, aMap("b", { labels: { app: "web" } })),
  create(maps, aMap("c")),
];

const selectors = [
  "app=db",
  "app==db",
  "app!=db",
  "app in (db, web)",
  "app notin (db)",
  "app",
  "!app",
  "app=db,tier=1",
  "app=db,tier=2",
  "tier>0",
  "tier<1",
  "",
];
const badSelectors = [
  "a b",
  "app=",
  "app in",
  "app in (",
  "=x",
  "app=a b",
  "!",
  "a=b=c",
  "app in ()",
  "tier>x",
  ",",
  "a,,b",
];
const fields = ["metadata.name=a", "metadata.name!=a", "metadata.namespace=nowhere", "metadata.name=a,metadata.name=b"];
const badFields = ["metadata.labels=x", "name", "metadata.name>a", "spec.x=y", "metadata.name=a b"];

export const deletionScripts: readonly Script[] = [
  script(
    "an object is deleted, and gone",
    create(maps, aMap("m")),
    remove(`${maps}/m`),
    get(`${maps}/m`),
    remove(`${maps}/m`),
  ),
  script(
    "an object waits for its finalizer",
    create(maps, aMap("m", held)),
    remove(`${maps}/m`),
    get(`${maps}/m`),
    remove(`${maps}/m`),
    patch("merge", `${maps}/m`, { metadata: { finalizers: ["example.com/hold", "example.com/more"] } }),
    patch("merge", `${maps}/m`, { metadata: { labels: { a: "b" } } }),
    patch("merge", `${maps}/m`, { metadata: { finalizers: null } }),
    gone(`${maps}/m`),
  ),
  script(
    "a dry run deletes nothing",
    create(maps, aMap("m")),
    remove(`${maps}/m?dryRun=All`),
    remove(`${maps}/m`, { body: { dryRun: ["All"] } }),
    remove(`${maps}/m?dryRun=Some`),
    get(`${maps}/m`),
  ),
  script(
    "another incarnation is not deleted",
    create(maps, aMap("m")),
    remove(`${maps}/m`, { body: { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } } }),
    remove(`${maps}/m`, { body: { preconditions: { resourceVersion: "1" } } }),
    get(`${maps}/m`),
  ),
  script(
    "options of a deletion that make no sense",
    create(maps, aMap("m")),
    remove(`${maps}/m?propagationPolicy=Slowly`),
    remove(`${maps}/m?gracePeriodSeconds=x`),
    remove(`${maps}/m`, { body: { propagationPolicy: "Slowly" } }),
    remove(`${maps}/m`, { body: { orphanDependents: true, propagationPolicy: "Orphan" } }),
    get(`${maps}/m`),
  ),
  script(
    "a deletion that waits for dependents, and one that lets them go",
    create(maps, aMap("m")),
    remove(`${maps}/m`, { body: { propagationPolicy: "Foreground" } }),
    gone(`${maps}/m`),
    create(maps, aMap("n")),
    remove(`${maps}/n`, { body: { propagationPolicy: "Orphan" } }),
    gone(`${maps}/n`),
  ),
  script(
    "a collection is deleted by label",
    ...labelled,
    remove(selected("app")),
    get(`${maps}/a`),
    get(`${maps}/c`),
    remove(`${maps}?dryRun=All`),
    get(`${maps}/c`),
  ),
  script(
    "a collection of held objects is deleted",
    create(maps, aMap("a", { ...held, labels: { x: "y" } })),
    remove(selected("x=y")),
    get(`${maps}/a`),
    patch("merge", `${maps}/a`, { metadata: { finalizers: null } }),
    gone(`${maps}/a`),
  ),
  script(
    "what is owned by nobody goes",
    create(maps, aMap("m", { ownerReferences: [{ apiVersion: "v1", kind: "Secret", name: "no", uid: "no-such" }] })),
    gone(`${maps}/m`),
  ),
  script(
    "an owner of another kind is refused",
    create(maps, aMap("m", { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "e", uid: "u" }] })),
  ),
  ...selectors.map((text) => script(`maps are found by "${text}"`, ...labelled, get(selected(text)))),
  ...badSelectors.map((text) => script(`the selector "${text}" is refused`, get(selected(text)))),
  ...fields.map((text) => script(`maps are found by the fields "${text}"`, ...labelled, get(byField(text)))),
  ...badFields.map((text) => script(`the fields "${text}" are refused`, get(byField(text)))),
  script(
    "pages of a list",
    ...labelled,
    get(`${maps}?limit=2`),
    get(`${maps}?limit=1&labelSelector=app`),
    get(`${maps}?limit=-1`),
    get(`${maps}?limit=x`),
    get(`${maps}?resourceVersion=x`),
    get(`${maps}?resourceVersionMatch=Exact`),
    get(`${maps}?resourceVersion=1&resourceVersionMatch=Roughly`),
  ),
  script(
    "secrets are found by type",
    create(secrets, { metadata: { name: "a" } }),
    create(secrets, { metadata: { name: "b" }, type: "example.com/x" }),
    get(`${secrets}?fieldSelector=type%3Dexample.com/x`),
    get(`${secrets}?fieldSelector=type!%3Dexample.com/x`),
  ),
];
