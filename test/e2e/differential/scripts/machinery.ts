/** What is the same for every kind: lists, selectors, pages, forms of an answer, watches, methods, bodies, discovery. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, patch, remove, replace, type Script, type Step, script, watch } from "../script.ts";

const maps = "/api/v1/namespaces/$NS/configmaps";
const map = (name: string, labels: JsonObject = {}): JsonObject => ({ metadata: { name, labels }, data: { k: name } });
/** Every new namespace of the real server gets a map of its own, sooner or later. */
const own = "fieldSelector=metadata.name!=kube-root-ca.crt";
const three: readonly Step[] = [
  create(maps, map("a", { app: "x", n: "1" })),
  create(maps, map("b", { app: "y", n: "2" })),
  create(maps, map("c", { app: "x" })),
];

const labelSelectors = [
  "app",
  "!n",
  "app=x",
  "app==x",
  "app!=x",
  "app in (x,y)",
  "app in (x, z),n",
  "app notin (x)",
  "n>1",
  "n<2",
  "",
  " app = x ",
  "app in ()",
  "app in (,)",
  "app=",
  "app in (x",
  "app in x",
  "app x",
  "app=x=y",
  ",",
  "app,",
  "=x",
  "app>x",
  "-app=x",
  "app=x y",
  "a/b/c=d",
  "app=-x",
  `${"a".repeat(64)}=b`,
  "app in (x) y",
  "()",
  "!",
  "!app=x",
];

const fieldSelectors = [
  "metadata.name=a",
  "metadata.name==a",
  "metadata.name!=a",
  "metadata.namespace=nowhere",
  "metadata.name=a,metadata.name=b",
  "data.k=a",
  "metadata.name",
  "metadata.name=a\\,b",
  "metadata.name=a\\x",
  "metadata.name=a=b",
  "=",
];

const listOptions = [
  "limit=0",
  "limit=-1",
  "limit=abc",
  "limit=1.5",
  "resourceVersion=0",
  "resourceVersion=abc",
  "resourceVersion=-1",
  "resourceVersion=999999999",
  "resourceVersion=0&resourceVersionMatch=NotOlderThan",
  "resourceVersion=0&resourceVersionMatch=Exact",
  "resourceVersionMatch=Exact",
  "resourceVersionMatch=NotOlderThan",
  "resourceVersion=0&resourceVersionMatch=Sometimes",
  "sendInitialEvents=true",
  "continue=abc&resourceVersion=5",
  "timeoutSeconds=abc",
  "pretty=true",
  "unknown=1",
];

const watchOptions = [
  "resourceVersionMatch=NotOlderThan",
  "resourceVersionMatch=Exact",
  "sendInitialEvents=true",
  "sendInitialEvents=true&resourceVersionMatch=Exact",
  "resourceVersion=abc",
  "labelSelector=a%20b",
  "fieldSelector=a.b%3Dc",
];

const forms = [
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;q=0.1, */*;q=0.5",
];

const bodies: Readonly<Record<string, string>> = {
  nothing: "",
  "half an object": "{",
  "a list": "[]",
  "an empty object": "{}",
  text: '"x"',
  "a number": "5",
  null: "null",
  "another kind": '{"kind":"Pod","apiVersion":"v1"}',
  "another version": '{"kind":"ConfigMap","apiVersion":"v2"}',
  "another group": '{"kind":"ConfigMap","apiVersion":"apps/v1"}',
  "a name that is a number": '{"metadata":{"name":5}}',
  "metadata that is text": '{"metadata":"x"}',
  "labels that are a list": '{"metadata":{"name":"x","labels":[]}}',
  "a label that is a number": '{"metadata":{"name":"x","labels":{"a":1}}}',
};

/** A list of any version comes from a cache, which may be behind: here it has caught up. */
const cached = get(`${maps}?labelSelector=app&resourceVersion=0`, {
  unseen: true,
  until: ({ items }) => Array.isArray(items) && items.length === three.length,
});

const methods = ["POST", "PUT", "PATCH", "DELETE"] as const;

const deleteOptions: Readonly<Record<string, JsonObject>> = {
  "no options": {},
  background: { propagationPolicy: "Background" },
  orphaning: { propagationPolicy: "Orphan" },
  "an unknown policy": { propagationPolicy: "Sideways" },
  "two policies": { propagationPolicy: "Background", orphanDependents: true },
  "the old word for it": { orphanDependents: false },
  "another uid": { preconditions: { uid: "other" } },
  "another version": { preconditions: { resourceVersion: "1" } },
  "a dry run": { dryRun: ["All"] },
  "half a dry run": { dryRun: ["Some"] },
  "a grace period": { gracePeriodSeconds: 5 },
  "a negative one": { gracePeriodSeconds: -5 },
  "another kind": { kind: "Pod", apiVersion: "v1" },
};

const updates: Readonly<Record<string, JsonObject>> = {
  "no version": { metadata: { name: "a" } },
  "version 0": { metadata: { name: "a", resourceVersion: "0" } },
  "an old version": { metadata: { name: "a", resourceVersion: "1" } },
  "no number as version": { metadata: { name: "a", resourceVersion: "abc" } },
  "another name": { metadata: { name: "b" } },
  "no name": { metadata: {} },
  "another namespace": { metadata: { name: "a", namespace: "elsewhere" } },
  "another uid": { metadata: { name: "a", uid: "00000000-0000-4000-8000-000000000000" } },
  "another date of birth": { metadata: { name: "a", creationTimestamp: "2001-01-01T00:00:00Z" } },
  "a date of death": { metadata: { name: "a", deletionTimestamp: "2001-01-01T00:00:00Z" } },
  "a generation": { metadata: { name: "a", generation: 7 } },
};

const queries = [
  "dryRun=All",
  "dryRun=Some",
  "dryRun=All&dryRun=All",
  "fieldManager=me",
  `fieldManager=${"x".repeat(129)}`,
  "fieldManager=a%01b",
  "fieldValidation=Strict",
  "fieldValidation=Sometimes",
  "force=true",
  "pretty=1",
];

const asked = (selector: string): string => encodeURIComponent(selector);

const repeatedKeys: Readonly<Record<string, string>> = {
  "a key twice": "metadata:\n  name: twice\ndata:\n  a: one\n  a: two\n",
  "keys twice at two levels": "metadata: {name: twice, name: twice}\ndata:\n  a: one\ndata:\n  b: one\n  b: two\n",
  "JSON that names a key twice": '{"metadata":{"name":"twice"},"data":{"a":"one","a":"two"}}',
};

export const machineryScripts: readonly Script[] = [
  ...labelSelectors.map((selector) =>
    script(`labels "${selector.slice(0, 30)}"`, ...three, get(`${maps}?${own}&labelSelector=${asked(selector)}`)),
  ),
  ...fieldSelectors.map((selector) =>
    script(`fields "${selector}"`, ...three, get(`${maps}?fieldSelector=${asked(selector)}&labelSelector=app`)),
  ),
  ...listOptions.map((options) =>
    script(`a list with ${options}`, ...three, cached, get(`${maps}?labelSelector=app&${options}`)),
  ),
  ...watchOptions.map((options) => script(`a watch with ${options}`, watch(maps, `labelSelector=app&${options}`))),
  ...forms.map((accept) =>
    script(
      `an answer as ${accept}`,
      ...three,
      get(`${maps}?labelSelector=app`, { accept }),
      get(`${maps}/a`, { accept }),
    ),
  ),
  script("a form nobody knows", get(`${maps}`, { accept: "application/json;as=Nothing;v=v1;g=meta.k8s.io" })),
  ...["None", "Object", "Metadata", "Everything"].map((include) =>
    script(
      `a table that includes ${include}`,
      ...three,
      get(`${maps}?labelSelector=app&includeObject=${include}`, {
        accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
      }),
    ),
  ),
  ...Object.entries(bodies).map(([name, body]) => script(`a body that is ${name}`, create(maps, body))),
  ...["text/plain", "application/json-patch+json", "application/JSON; charset=utf-8", "application/yaml"].map((type) =>
    script(`a body of type ${type}`, create(maps, '{"metadata":{"name":"t"}}', { type })),
  ),
  script(
    "a number out of range",
    create(maps, '{"metadata":{"name":"a"},"nothing":1e400}'),
    patch("merge", `${maps}/a`, '{"data":{"a":1e400}}'),
    patch("strategic", `${maps}/a`, '{"data":{"a":1e400}}'),
    patch("json", `${maps}/a`, '[{"op":"add","path":"/data","value":{"a":1e400}}]'),
  ),
  script("yaml", create(maps, "metadata:\n  name: y\ndata:\n  a: b\n", { type: "application/yaml" })),
  ...["Ignore", "Warn", "Strict"].flatMap((validation) => [
    ...Object.entries(repeatedKeys).map(([name, body]) =>
      script(
        `yaml with ${name}, ${validation}`,
        create(`${maps}?fieldValidation=${validation}`, body, { type: "application/yaml" }),
      ),
    ),
    ...Object.entries(repeatedKeys).map(([name, body]) =>
      script(
        `applied yaml with ${name}, ${validation}`,
        patch(
          "apply",
          `${maps}/twice?fieldManager=me&fieldValidation=${validation}`,
          body.startsWith("{")
            ? body.replace("{", '{"apiVersion":"v1","kind":"ConfigMap",')
            : `apiVersion: v1\nkind: ConfigMap\n${body}`,
        ),
      ),
    ),
  ]),
  ...["application/json", "application/merge-patch+json; charset=utf-8", "text/plain"].map((type) =>
    script(`a patch of type ${type}`, ...three, {
      method: "PATCH",
      path: `${maps}/a`,
      body: '{"data":{"z":"1"}}',
      type,
    }),
  ),
  ...methods.map((method) =>
    script(`${method} where it is not known`, {
      method,
      path: method === "POST" ? `${maps}/x` : method === "DELETE" ? "/api/v1/namespaces" : maps,
      body: "{}",
      type: method === "PATCH" ? "merge" : "application/json",
    }),
  ),
  script("a namespace in the path of something without", get("/api/v1/namespaces/$NS/nodes")),
  script(
    "a resource nobody knows",
    get("/api/v1/namespaces/$NS/foos"),
    get("/apis/apps/v1/foos"),
    get("/apis/foo.example.com/v1/foos"),
  ),
  script("a subresource nobody knows", ...three, get(`${maps}/a/status`), get(`${maps}/a/nothing`)),
  ...Object.entries(deleteOptions).map(([name, body]) =>
    script(`deleting with ${name}`, ...three, remove(`${maps}/a`, { body }), get(`${maps}/b`)),
  ),
  script("deleting many", ...three, remove(`${maps}?labelSelector=app%3Dx`), get(`${maps}?labelSelector=app`)),
  script(
    "deleting with options in the query",
    ...three,
    remove(`${maps}/a?gracePeriodSeconds=0&propagationPolicy=Background`),
  ),
  script("deleting with a wrong option in the query", ...three, remove(`${maps}/a?gracePeriodSeconds=x`)),
  ...Object.entries(updates).map(([name, body]) =>
    script(`updating with ${name}`, ...three, replace(`${maps}/a`, body), get(`${maps}/a`)),
  ),
  ...queries.map((query) =>
    script(
      `writing with ${query.slice(0, 40)}`,
      create(`${maps}?${query}`, map("q")),
      create(maps, map("q"), { unseen: true }),
      replace(`${maps}/q?${query}`, map("q", { a: "b" })),
      patch("merge", `${maps}/q?${query}`, { metadata: { labels: { c: "d" } } }),
    ),
  ),
  script(
    "finalizers",
    create(maps, { metadata: { name: "f", finalizers: ["example.com/a", "example.com/b"] } }),
    remove(`${maps}/f`),
    remove(`${maps}/f`),
    patch("merge", `${maps}/f`, { metadata: { finalizers: ["example.com/a", "example.com/c"] } }),
    patch("json", `${maps}/f`, [{ op: "remove", path: "/metadata/finalizers/1" }]),
    create(maps, { metadata: { name: "f" } }),
    patch("merge", `${maps}/f`, { metadata: { finalizers: null } }),
    get(`${maps}/f`),
  ),
  script(
    "pages",
    ...three,
    get(`${maps}?labelSelector=app&limit=2`),
    get(`${maps}?limit=1&labelSelector=app%3Dnothing`),
  ),
  script("what happened is told", ...three, watch(maps, "labelSelector=app%3Dx")),
  script(
    "a streamed list",
    ...three,
    watch(maps, "labelSelector=app&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
  ),
  script("one object is watched", ...three, watch(maps, "fieldSelector=metadata.name%3Db")),
  script(
    "a table is watched",
    ...three,
    watch(maps, "labelSelector=app", { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }),
  ),
  script("a version too old is watched", ...three, watch(maps, "resourceVersion=1"), {
    method: "GET",
    path: "/readyz",
  }),
  script(
    "groups and versions",
    get("/apis/storage.k8s.io"),
    get("/apis/coordination.k8s.io"),
    get("/api/v2"),
    get("/apis/nothing.example.com"),
  ),
  script(
    "paths nobody serves",
    get("/nothing"),
    get("/api/v1/namespaces/$NS/configmaps/a/b/c/d"),
    get("/apis/apps/v2"),
  ),
  ...["alice", "bob"].map((as) =>
    script(
      `${as}, who may do nothing`,
      get(maps, { as: as as "alice" }),
      get(`${maps}/a`, { as: as as "alice" }),
      create(maps, map("n"), { as: as as "alice" }),
      get("/api/v1/nodes", { as: as as "alice" }),
      get("/metrics", { as: as as "alice" }),
      get("/readyz", { as: as as "alice" }),
      remove(maps, { as: as as "alice" }),
      patch("merge", "/apis/apps/v1/namespaces/$NS/deployments/x/scale", {}, { as: as as "alice" }),
    ),
  ),
];
