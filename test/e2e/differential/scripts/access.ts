/** Roles, bindings, and who may do what. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, type Person, patch, remove, replace, type Script, type Step, script } from "../script.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const roles = `${rbac}/namespaces/$NS/roles`;
const clusterRoles = `${rbac}/clusterroles`;
const bindings = `${rbac}/namespaces/$NS/rolebindings`;
const clusterBindings = `${rbac}/clusterrolebindings`;
const pods = "/api/v1/namespaces/$NS/pods";
const maps = "/api/v1/namespaces/$NS/configmaps";
const review = "/apis/authorization.k8s.io/v1";

const role = (...rules: readonly JsonObject[]): JsonObject => ({ metadata: { name: "$ID" }, rules: [...rules] });
const binding = (roleRef: JsonObject, ...subjects: readonly JsonObject[]): JsonObject => ({
  metadata: { name: "$ID" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", ...roleRef },
  subjects: [...subjects],
});
const user = (name: string): JsonObject => ({ kind: "User", name });
const dev = { kind: "Group", name: "dev" };

const may = (rule: JsonObject, person: Person = "alice"): readonly Step[] => [
  create(roles, role(rule)),
  create(bindings, binding({ kind: "Role", name: "$ID" }, user(person))),
];
/** The authorizer of the real server looks at a cache: ask until it has seen the role. */
const asks = (resourceAttributes: JsonObject, who: JsonObject = { user: "alice" }, allowed?: boolean): Step =>
  create(
    `${review}/subjectaccessreviews`,
    { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec: { ...who, resourceAttributes } },
    allowed === undefined ? {} : { until: ({ status }) => (status as JsonObject).allowed === allowed },
  );
const inSpace = (more: JsonObject): JsonObject => ({ namespace: "$NS", ...more });

const invalidRoles: Readonly<Record<string, JsonObject>> = {
  "no verbs": { apiGroups: [""], resources: ["pods"] },
  "no groups": { verbs: ["get"], resources: ["pods"] },
  "no resources": { verbs: ["get"], apiGroups: [""] },
  paths: { verbs: ["get"], nonResourceURLs: ["/x"] },
  "paths and resources": { verbs: ["get"], nonResourceURLs: ["/x"], resources: ["pods"] },
};
const invalidBindings: Readonly<Record<string, JsonObject>> = {
  "no role": binding({ kind: "Role", name: "" }),
  "a role of another group": binding({ apiGroup: "x", kind: "Role", name: "r" }),
  "something that is no role": binding({ kind: "Pod", name: "r" }),
  "a path for a name": binding({ kind: "Role", name: "a/b%" }),
  "an unknown subject": binding({ kind: "Role", name: "r" }, { kind: "Robot", name: "x" }),
  "an unnamed user": binding({ kind: "Role", name: "r" }, { kind: "User", name: "" }),
  "a user of another group": binding({ kind: "Role", name: "r" }, { kind: "User", name: "x", apiGroup: "y" }),
  "an account of a group": binding({ kind: "Role", name: "r" }, { kind: "ServiceAccount", name: "x", apiGroup: "y" }),
  "an account of nowhere": binding({ kind: "ClusterRole", name: "r" }, { kind: "ServiceAccount", name: "X X" }),
};

const alice = { as: "alice" } as const;
const group = "rbac.authorization.k8s.io";
const writes = ["create", "update", "patch"];
const onPods = (...verbs: readonly string[]): JsonObject => ({
  apiGroups: [""],
  resources: ["pods"],
  verbs: [...verbs],
});
const onRoles = (resources: readonly string[], verbs: readonly string[], more: JsonObject = {}): JsonObject => ({
  apiGroups: [group],
  resources: [...resources],
  verbs: [...verbs],
  ...more,
});
const named = (name: string, body: JsonObject): JsonObject => ({ ...body, metadata: { name } });
const aRole = (name: string, ...rules: readonly JsonObject[]): JsonObject => named(name, role(...rules));
const aBinding = (name: string, roleRef: JsonObject): JsonObject => named(name, binding(roleRef, user("eve")));
const applied = (kind: string, body: JsonObject): JsonObject => ({ apiVersion: `${group}/v1`, kind, ...body });

/** Alice has these rules in the namespace, and the authorizer knows. */
const aliceHolds = (...rules: readonly JsonObject[]): readonly Step[] => [
  create(roles, role(...rules)),
  create(bindings, binding({ kind: "Role", name: "$ID" }, user("alice"))),
  asks(inSpace({ verb: "get", resource: "pods" }), { user: "alice" }, true),
];
/** The same in all namespaces and for what has none; taken from her again after the steps. */
const aliceHoldsEverywhere = (rules: readonly JsonObject[], ...steps: readonly Step[]): readonly Step[] => [
  create(clusterRoles, role(...rules)),
  create(clusterBindings, binding({ kind: "ClusterRole", name: "$ID" }, user("alice"))),
  asks({ verb: "get", resource: "pods" }, { user: "alice" }, true),
  ...steps,
  remove(`${clusterBindings}/$ID`),
  asks({ verb: "get", resource: "pods" }, { user: "alice" }, false),
];

const escalations: readonly Script[] = [
  script(
    "a role grants no more than its author has",
    ...aliceHolds(onPods("get", "list"), onRoles(["roles"], writes)),
    create(roles, aRole("less", onPods("get")), alice),
    create(roles, aRole("more", onPods("get", "watch", "delete")), alice),
    create(
      roles,
      aRole(
        "much",
        onPods("*"),
        { apiGroups: ["", "apps"], resources: ["secrets", "pods/log"], resourceNames: ["a", "b"], verbs: ["get"] },
        { apiGroups: ["*"], resources: ["*/scale"], verbs: ["update"] },
      ),
      alice,
    ),
    create(roles, { metadata: { generateName: "some-" }, rules: [onPods("delete")] }, alice),
    create(roles, aRole("invalid", { resources: ["pods"] }), alice),
    patch("merge", `${roles}/less`, { rules: [onPods("get", "list")] }, alice),
    patch("merge", `${roles}/less`, { rules: [onPods("get", "delete")] }, alice),
    patch("json", `${roles}/less`, [{ op: "add", path: "/rules/0/verbs/-", value: "delete" }], alice),
    replace(`${roles}/less`, aRole("less", onPods("delete")), alice),
    replace(`${roles}/absent`, aRole("absent", onPods("delete")), alice),
    patch("apply", `${roles}/applied?fieldManager=me`, applied("Role", aRole("applied", onPods("delete"))), alice),
    patch("apply", `${roles}/applied?fieldManager=me`, applied("Role", aRole("applied", onPods("get"))), alice),
  ),
  script(
    "of a role that grants more only what the garbage collector writes may be changed",
    ...aliceHolds(onPods("get"), onRoles(["roles"], writes)),
    create(roles, aRole("more", onPods("delete"))),
    patch("merge", `${roles}/more`, { metadata: { finalizers: ["example.com/a"] } }, alice),
    patch("merge", `${roles}/more`, { metadata: { labels: { a: "b" } } }, alice),
    patch("merge", `${roles}/more`, { metadata: { finalizers: null } }, alice),
  ),
  script(
    "a role with everything for who may escalate",
    ...aliceHolds(onPods("get"), onRoles(["roles"], [...writes, "escalate"])),
    create(roles, aRole("more", onPods("*")), alice),
    patch("merge", `${roles}/more`, { rules: [onPods("delete")] }, alice),
  ),
  script(
    "a role with everything for who may escalate one",
    ...aliceHolds(
      onPods("get"),
      onRoles(["roles"], writes),
      onRoles(["roles"], ["escalate"], { resourceNames: ["one"] }),
    ),
    create(roles, aRole("one", onPods("*")), alice),
    replace(`${roles}/one`, aRole("one", onPods("*")), alice),
    create(roles, aRole("other", onPods("get"))),
    patch("merge", `${roles}/one`, { rules: [onPods("delete")] }, alice),
    patch("merge", `${roles}/other`, { rules: [onPods("delete")] }, alice),
  ),
  script(
    "a binding leads to no more than its author has",
    ...aliceHolds(onPods("get", "list"), onRoles(["rolebindings"], writes)),
    create(roles, aRole("less", onPods("get"))),
    create(roles, aRole("more", onPods("delete"))),
    create(bindings, aBinding("less", { kind: "Role", name: "less" }), alice),
    create(bindings, aBinding("more", { kind: "Role", name: "more" }), alice),
    create(bindings, aBinding("wide", { kind: "ClusterRole", name: "$ID-wide" }), alice),
    create(bindings, aBinding("absent", { kind: "Role", name: "absent" }), alice),
    create(bindings, aBinding("odd", { kind: "Pod", name: "less" }), alice),
    create(bindings, aBinding("given", { kind: "Role", name: "more" })),
    patch("merge", `${bindings}/given`, { subjects: [user("alice")] }, alice),
    patch("merge", `${bindings}/less`, { subjects: [user("alice")] }, alice),
    patch("merge", `${bindings}/given`, { metadata: { finalizers: ["example.com/a"] } }, alice),
  ),
  script(
    "a binding to everything for who may bind",
    ...aliceHolds(
      onPods("get"),
      onRoles(["rolebindings"], writes),
      onRoles(["roles"], ["bind"], { resourceNames: ["one"] }),
      onRoles(["clusterroles"], ["bind"]),
    ),
    create(roles, aRole("one", onPods("*"))),
    create(roles, aRole("other", onPods("*"))),
    create(bindings, aBinding("one", { kind: "Role", name: "one" }), alice),
    create(bindings, aBinding("other", { kind: "Role", name: "other" }), alice),
    create(bindings, aBinding("admin", { kind: "ClusterRole", name: "cluster-admin" }), alice),
    create(bindings, aBinding("absent", { kind: "ClusterRole", name: "$ID-absent" }), alice),
  ),
  script(
    "what cannot be resolved is told of",
    ...aliceHolds(onPods("get"), onRoles(["roles"], writes)),
    create(bindings, aBinding("lost", { kind: "Role", name: "lost" })),
    create(bindings, named("hers", binding({ kind: "Role", name: "gone" }, user("alice")))),
    create(roles, aRole("more", onPods("delete")), {
      ...alice,
      until: ({ message }) => String(message).includes("resolution errors"),
    }),
  ),
  script(
    "a cluster role grants no more than its author has, and aggregates only for who has everything",
    ...aliceHoldsEverywhere(
      [
        onPods("get", "list"),
        { nonResourceURLs: ["/healthz/*"], verbs: ["get"] },
        onRoles(["clusterroles", "clusterrolebindings"], writes),
      ],
      create(clusterRoles, aRole("$ID-less", onPods("get")), alice),
      create(clusterRoles, aRole("$ID-more", onPods("delete")), alice),
      create(clusterRoles, aRole("$ID-path", { nonResourceURLs: ["/healthz/a"], verbs: ["get"] }), alice),
      create(clusterRoles, aRole("$ID-paths", { nonResourceURLs: ["/a", "/b*"], verbs: ["get", "put"] }), alice),
      create(
        clusterRoles,
        { ...aRole("$ID-all"), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { $ID: "yes" } }] } },
        alice,
      ),
      create(clusterRoles, {
        ...aRole("$ID-all"),
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { $ID: "yes" } }] },
      }),
      patch("merge", `${clusterRoles}/$ID-all`, { metadata: { labels: { a: "b" } } }, alice),
      patch("merge", `${clusterRoles}/$ID-all`, { aggregationRule: null }, alice),
      create(clusterBindings, aBinding("$ID-less", { kind: "ClusterRole", name: "$ID-less" }), alice),
      create(clusterBindings, aBinding("$ID-admin", { kind: "ClusterRole", name: "cluster-admin" }), alice),
      create(clusterBindings, aBinding("$ID-gone", { kind: "ClusterRole", name: "$ID-gone" }), alice),
      create(clusterBindings, aBinding("$ID-odd", { kind: "Role", name: "x" }), alice),
    ),
  ),
];

export const accessScripts: readonly Script[] = [
  ...Object.entries(invalidRoles).map(([name, rule]) =>
    script(`a role with ${name}`, create(roles, role(rule)), create(clusterRoles, role(rule))),
  ),
  ...Object.entries(invalidBindings).map(([name, body]) =>
    script(`a binding with ${name}`, create(bindings, body), create(clusterBindings, body)),
  ),
  script(
    "a binding keeps its role",
    create(bindings, binding({ kind: "ClusterRole", name: "view" }, user("x"), dev)),
    patch("merge", `${bindings}/$ID`, { roleRef: { name: "edit" } }),
    patch("merge", `${bindings}/$ID`, { subjects: null }),
  ),
  script("a role aggregates nothing", create(clusterRoles, { metadata: { name: "$ID" }, aggregationRule: {} })),
  script("a role with a name of its own kind", create(clusterRoles, { metadata: { name: "team:$ID" }, rules: [] })),
  script("a stranger lists pods", get(pods, { as: "bob" })),
  script("a stranger lists pods everywhere", get("/api/v1/pods", { as: "bob" })),
  script("a stranger reads a pod's status", get(`${pods}/x/status`, { as: "bob" })),
  script("a stranger creates", create(maps, { metadata: { name: "m" } }, { as: "bob" })),
  script("a stranger deletes", remove(`${maps}/m`, { as: "bob" })),
  script("a stranger deletes everything", remove(maps, { as: "bob" })),
  script("a stranger patches", patch("merge", `${maps}/m`, {}, { as: "bob" })),
  script("a stranger watches", get(`${maps}?watch=true`, { as: "bob" })),
  script("a stranger reads a node", get("/api/v1/nodes/x", { as: "bob" })),
  script("a stranger reads a custom kind", get("/apis/example.com/v1/things", { as: "bob" })),
  script("a stranger reads a page", get("/metrics", { as: "bob" })),
  script("a stranger reads the namespace", get("/api/v1/namespaces/$NS", { as: "bob" })),
  script(
    "a role lets its people in, and no further",
    ...may({ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "create"] }),
    asks(inSpace({ verb: "create", resource: "configmaps" }), { user: "alice" }, true),
    create(maps, { metadata: { name: "m" } }, { as: "alice" }),
    get(`${maps}/m`, { as: "alice" }),
    remove(`${maps}/m`, { as: "alice" }),
    get("/api/v1/namespaces/default/configmaps", { as: "alice" }),
  ),
  script(
    "a role for one name",
    ...may({ apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get", "list"] }),
    asks(inSpace({ verb: "get", resource: "configmaps", name: "mine" }), { user: "alice" }, true),
    get(`${maps}/mine`, { as: "alice" }),
    get(`${maps}/other`, { as: "alice" }),
    get(maps, { as: "alice" }),
  ),
  script(
    "a role for a subresource",
    ...may({ apiGroups: [""], resources: ["pods/status"], verbs: ["*"] }),
    asks(inSpace({ verb: "patch", resource: "pods", subresource: "status" }), { user: "alice" }, true),
    asks(inSpace({ verb: "patch", resource: "pods" })),
  ),
  script(
    "a role for a subresource of anything",
    ...may({ apiGroups: ["*"], resources: ["*/scale"], verbs: ["get"] }),
    asks(
      inSpace({ verb: "get", group: "apps", resource: "deployments", subresource: "scale" }),
      { user: "alice" },
      true,
    ),
    asks(inSpace({ verb: "get", group: "apps", resource: "deployments", subresource: "status" })),
  ),
  script(
    "a binding to a group",
    create(clusterRoles, role({ apiGroups: [""], resources: ["nodes"], verbs: ["list"] })),
    create(clusterBindings, binding({ kind: "ClusterRole", name: "$ID" }, { kind: "Group", name: "group-$ID" })),
    asks({ verb: "list", resource: "nodes" }, { user: "x", groups: ["group-$ID"] }, true),
    asks({ verb: "list", resource: "nodes" }, { user: "x", groups: ["other"] }),
    asks({ verb: "list", resource: "nodes" }, { groups: ["group-$ID"] }),
  ),
  script(
    "a binding to an account",
    create(roles, role({ apiGroups: [""], resources: ["pods"], verbs: ["list"] })),
    create(
      bindings,
      binding({ kind: "Role", name: "$ID" }, { kind: "ServiceAccount", name: "robot", namespace: "$NS" }),
    ),
    asks(inSpace({ verb: "list", resource: "pods" }), { user: "system:serviceaccount:$NS:robot" }, true),
    asks(inSpace({ verb: "list", resource: "pods" }), { user: "system:serviceaccount:default:robot" }),
  ),
  script(
    "a binding to a role that does not exist",
    create(bindings, binding({ kind: "Role", name: "gone-$ID" }, user("carol-$ID"))),
    create(clusterBindings, binding({ kind: "ClusterRole", name: "gone-$ID" }, user("carol-$ID"))),
    create(
      `${review}/subjectaccessreviews`,
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "carol-$ID", resourceAttributes: inSpace({ verb: "list", resource: "pods" }) },
      },
      { until: ({ status }) => String((status as JsonObject).reason).includes("clusterrole.rbac") },
    ),
  ),
  script(
    "a path is allowed",
    create(clusterRoles, role({ nonResourceURLs: ["/metrics", "/debug/*"], verbs: ["get"] })),
    create(clusterBindings, binding({ kind: "ClusterRole", name: "$ID" }, user("dave-$ID"))),
    create(
      `${review}/subjectaccessreviews`,
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: "dave-$ID", nonResourceAttributes: { path: "/debug/x", verb: "get" } },
      },
      { until: ({ status }) => (status as JsonObject).allowed === true },
    ),
  ),
  script(
    "a review of nothing, of nobody, and of too much",
    create(`${review}/subjectaccessreviews`, { spec: { user: "x" } }),
    create(`${review}/subjectaccessreviews`, { spec: { resourceAttributes: { verb: "get" } } }),
    create(`${review}/subjectaccessreviews`, {
      spec: { user: "x", resourceAttributes: {}, nonResourceAttributes: { path: "/", verb: "get" } },
    }),
    create(`${review}/selfsubjectaccessreviews`, { spec: {} }),
    create(`${review}/selfsubjectaccessreviews`, { spec: { resourceAttributes: { verb: "get", resource: "pods" } } }),
    create(
      `${review}/selfsubjectaccessreviews`,
      { spec: { resourceAttributes: { verb: "get", resource: "pods" } } },
      { as: "bob" },
    ),
    get(`${review}/selfsubjectaccessreviews`),
  ),
  script(
    "a review within a namespace",
    create(`${review}/namespaces/$NS/localsubjectaccessreviews`, {
      metadata: { namespace: "$NS" },
      spec: { user: "x", resourceAttributes: { namespace: "elsewhere", verb: "get", resource: "pods" } },
    }),
    create(`${review}/namespaces/$NS/localsubjectaccessreviews`, {
      metadata: { namespace: "$NS" },
      spec: { user: "x", resourceAttributes: { namespace: "$NS", verb: "get", resource: "pods" } },
    }),
  ),
  script(
    "a person's rules are listed",
    create(`${review}/selfsubjectrulesreviews`, { spec: { namespace: "$NS" } }, { as: "bob" }),
    create(`${review}/selfsubjectrulesreviews`, { spec: {} }, { as: "bob" }),
  ),
  script(
    "a person asks who they are",
    create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { as: "alice" }),
  ),
  ...escalations,
];
