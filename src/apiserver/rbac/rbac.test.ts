import assert from "node:assert/strict";
import { test } from "node:test";
import { aContext, created, updated } from "../../../test/strategy.ts";
import { Fault } from "../../base/fault.ts";
import { bootstrapObjects } from "../builtin/bootstrap.ts";
import type { ApiObject, Attributes, Reader, User } from "../contracts.ts";
import { Refusal } from "../status.ts";
import { createAuthorizer } from "./authorize.ts";
import { rbacStrategies } from "./objects.ts";
import { reviewStrategies } from "./reviews.ts";
import { parseTokens } from "./tokens.ts";

const rbac = "rbac.authorization.k8s.io";
const plural: Readonly<Record<string, string>> = {
  Role: "roles",
  ClusterRole: "clusterroles",
  RoleBinding: "rolebindings",
  ClusterRoleBinding: "clusterrolebindings",
};

function readerOf(objects: readonly ApiObject[]): Reader {
  const list = (collection: string, namespace?: string) =>
    objects.filter(
      ({ kind, metadata }) =>
        `${rbac}/${plural[kind]}` === collection && (namespace === undefined || metadata.namespace === namespace),
    );
  return {
    list,
    get: (collection, namespace, name) =>
      list(collection, namespace === "" ? undefined : namespace).find(({ metadata }) => metadata.name === name),
  };
}

const role = (name: string, rule: object, namespace?: string): ApiObject => ({
  apiVersion: `${rbac}/v1`,
  kind: namespace === undefined ? "ClusterRole" : "Role",
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  rules: [rule as never],
});
const binding = (name: string, roleRef: object, subject: object, namespace?: string): ApiObject => ({
  apiVersion: `${rbac}/v1`,
  kind: namespace === undefined ? "ClusterRoleBinding" : "RoleBinding",
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  roleRef: roleRef as never,
  subjects: [subject as never],
});

const alice: User = { name: "alice", groups: ["dev", "system:authenticated"] };
const robot: User = { name: "system:serviceaccount:team:robot", groups: ["system:serviceaccounts"] };
const master: User = { name: "root", groups: ["system:masters"] };

const stored = [
  ...bootstrapObjects(),
  role("reader", { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }, "team"),
  binding("readers", { kind: "Role", name: "reader" }, { kind: "User", name: "alice" }, "team"),
  role("statuses", { apiGroups: ["apps"], resources: ["*/status"], verbs: ["*"] }),
  binding("statuses", { kind: "ClusterRole", name: "statuses" }, { kind: "Group", name: "dev" }),
  role("one", { apiGroups: [""], resources: ["secrets"], resourceNames: ["mine"], verbs: ["get"] }),
  binding("one", { kind: "ClusterRole", name: "one" }, { kind: "ServiceAccount", name: "robot", namespace: "team" }),
  role("paths", { nonResourceURLs: ["/metrics", "/debug/*"], verbs: ["get"] }),
  binding("paths", { kind: "ClusterRole", name: "paths" }, { kind: "User", name: "alice" }),
  binding("lost", { kind: "ClusterRole", name: "gone" }, { kind: "User", name: "lost" }),
  binding("viewers", { kind: "ClusterRole", name: "view" }, { kind: "User", name: "viewer" }, "team"),
  binding("editors", { kind: "ClusterRole", name: "edit" }, { kind: "User", name: "editor" }, "team"),
];
const authorizer = createAuthorizer(readerOf(stored));

/** "verb group/resource/subresource name@namespace" */
function asked(text: string): Attributes {
  const [verb = "", what = "", where = ""] = text.split(" ");
  if (what.startsWith("/")) return { kind: "path", verb, path: what };
  const [group = "", resource = "", subresource = ""] = what.split("|");
  const [name = "", namespace = ""] = where.split("@");
  return { kind: "resource", verb, group, version: "v1", resource, subresource, namespace, name };
}

const viewer: User = { name: "viewer", groups: [] };
const editor: User = { name: "editor", groups: [] };
const cases: readonly { user: User; request: string; allowed: boolean; reason?: string }[] = [
  { user: master, request: "delete apps|deployments x@anywhere", allowed: true, reason: "" },
  {
    user: alice,
    request: "list |pods @team",
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "readers/team" of Role "reader" to User "alice"',
  },
  { user: alice, request: "list |pods @other", allowed: false, reason: "" },
  { user: alice, request: "list |pods @", allowed: false },
  { user: alice, request: "get |pods|log x@team", allowed: false },
  {
    user: alice,
    request: "patch apps|deployments|status x@anywhere",
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "statuses" of ClusterRole "statuses" to Group "dev"',
  },
  { user: alice, request: "patch apps|deployments x@anywhere", allowed: false },
  { user: alice, request: "get /metrics", allowed: true },
  { user: alice, request: "get /debug/pprof", allowed: true },
  { user: alice, request: "get /metrics/other", allowed: false },
  { user: alice, request: "get /apis/apps", allowed: true },
  { user: alice, request: "create authorization.k8s.io|selfsubjectaccessreviews @", allowed: true },
  {
    user: robot,
    request: "get |secrets mine@anywhere",
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "one" of ClusterRole "one" to ServiceAccount "robot/team"',
  },
  { user: robot, request: "get |secrets other@anywhere", allowed: false },
  { user: robot, request: "list |secrets @anywhere", allowed: false },
  {
    user: { name: "lost", groups: [] },
    request: "get |pods x@team",
    allowed: false,
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  },
  { user: viewer, request: "list |persistentvolumeclaims @team", allowed: true },
  { user: viewer, request: "create |persistentvolumeclaims @team", allowed: false },
  { user: viewer, request: "get |secrets x@team", allowed: false },
  { user: editor, request: "create |persistentvolumeclaims @team", allowed: true },
  { user: editor, request: "list |pods @team", allowed: true },
  { user: editor, request: `create ${rbac}|roles @team`, allowed: false },
];

for (const { user, request, allowed, reason } of cases)
  test(`${user.name} may ${allowed ? "" : "not "}${request}`, () => {
    const decision = authorizer.authorize(user, asked(request));
    assert.equal(decision.allowed, allowed);
    if (reason !== undefined) assert.equal(decision.reason, reason);
  });

test("the token file names users and groups; everybody in it is authenticated", () => {
  const users = parseTokens('# people\nt1,alice,7,"dev, qa"\n\nt2,bob,8\n"t,3","eve ""the"" spy",9,x\n');
  assert.deepEqual(users.get("t1"), { name: "alice", uid: "7", groups: ["dev", "qa", "system:authenticated"] });
  assert.deepEqual(users.get("t2")?.groups, ["system:authenticated"]);
  assert.equal(users.get("t,3")?.name, 'eve "the" spy');
  assert.equal(users.get("t4"), undefined);
  assert.throws(
    () => parseTokens("t1,alice,1\nt2"),
    (reason) => reason instanceof Fault && /line 2/.test(reason.message),
  );
});

const review = (kind: string, spec: object): ApiObject => ({
  apiVersion: "authorization.k8s.io/v1",
  kind,
  metadata: {},
  spec: spec as never,
});
const context = aContext({ reader: readerOf(stored), user: alice });
const answer = async (kind: string, spec: object): Promise<ApiObject> => {
  const strategy = reviewStrategies[`authorization.k8s.io/${kind}`];
  assert.ok(strategy?.answer !== undefined);
  return strategy.answer(review(kind, spec), context);
};

test("a SubjectAccessReview is answered for the given user and groups", async () => {
  const resourceAttributes = { verb: "list", resource: "pods", namespace: "team" };
  const { status } = await answer("SubjectAccessReview", { user: "alice", resourceAttributes });
  assert.deepEqual(status, {
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "readers/team" of Role "reader" to User "alice"',
  });
  const other = await answer("SubjectAccessReview", { user: "bob", resourceAttributes });
  assert.deepEqual(other.status, { allowed: false });
});

test("a SelfSubjectAccessReview needs no user", async () => {
  const { status } = await answer("SelfSubjectAccessReview", {
    nonResourceAttributes: { verb: "get", path: "/debug/x" },
  });
  assert.equal((status as { allowed: boolean }).allowed, true);
});

test("an access review without attributes, with both kinds, or without a user is rejected", async () => {
  const both = { resourceAttributes: {}, nonResourceAttributes: { path: "/version", verb: "get" } };
  await assert.rejects(
    () => answer("SubjectAccessReview", both),
    (reason) =>
      reason instanceof Refusal &&
      reason.message ===
        '.authorization.k8s.io "" is invalid: [spec.nonResourceAttributes: Invalid value: {"Path":"/version","Verb":"get"}: cannot be specified in combination with resourceAttributes, spec.user: Invalid value: "": at least one of user or group must be specified]',
  );
  await assert.rejects(() => answer("SelfSubjectAccessReview", {}), /exactly one of nonResourceAttributes or/);
  await assert.rejects(
    () => answer("LocalSubjectAccessReview", { user: "a", resourceAttributes: { namespace: "x" } }),
    /spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace/,
  );
});

test("a SelfSubjectRulesReview lists the caller's rules in a namespace, with non-resource rules separately", async () => {
  const { status } = await answer("SelfSubjectRulesReview", { namespace: "team" });
  const { resourceRules, nonResourceRules } = status as {
    resourceRules: { resources: string[] }[];
    nonResourceRules: { nonResourceURLs: string[] }[];
  };
  assert.ok(resourceRules.some(({ resources }) => resources.includes("pods")));
  assert.ok(nonResourceRules.some(({ nonResourceURLs }) => nonResourceURLs.includes("/metrics")));
  await assert.rejects(() => answer("SelfSubjectRulesReview", {}), /no namespace on request/);
});

const aBinding = binding("b", { kind: "ClusterRole", name: "view" }, { kind: "User", name: "u" }, "team");
const invalid: readonly { kind: string; object: object; says: readonly string[] }[] = [
  {
    kind: "Role",
    object: { rules: [{ nonResourceURLs: ["/x"] }, { verbs: ["get"] }] },
    says: [
      "rules[0].verbs: Required value: verbs must contain at least one value",
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      "rules[1].apiGroups: Required value: resource rules must supply at least one api group",
      "rules[1].resources: Required value: resource rules must supply at least one resource",
    ],
  },
  {
    kind: "ClusterRole",
    object: { rules: [], aggregationRule: {} },
    says: [
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
    ],
  },
  {
    kind: "ClusterRoleBinding",
    object: {
      roleRef: { kind: "Role", name: "" },
      subjects: [
        { kind: "ServiceAccount", name: "x", apiGroup: "y" },
        { kind: "Robot", name: "" },
      ],
    },
    says: [
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      "roleRef.name: Required value",
      'subjects[0].apiGroup: Unsupported value: "y": supported values: ""',
      "subjects[0].namespace: Required value",
      "subjects[1].name: Required value",
      'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    ],
  },
];

for (const { kind, object, says } of invalid)
  test(`a ${kind} is rejected when: ${says[0]}`, () => {
    const strategy = rbacStrategies[`${rbac}/${kind}`] ?? {};
    assert.deepEqual(
      created(strategy, { apiVersion: `${rbac}/v1`, kind, metadata: { name: "x" }, ...object }).says,
      says,
    );
  });

test("a binding gets default API groups, and its roleRef is immutable", () => {
  const strategy = rbacStrategies[`${rbac}/RoleBinding`] ?? {};
  const { object, says } = created(strategy, aBinding);
  assert.deepEqual(says, []);
  assert.deepEqual(object.roleRef, { apiGroup: rbac, kind: "ClusterRole", name: "view" });
  assert.deepEqual(object.subjects, [{ kind: "User", apiGroup: rbac, name: "u" }]);
  const outcome = updated(strategy, object, (body) => {
    body.roleRef = { kind: "ClusterRole", name: "edit" };
  });
  assert.deepEqual(outcome.says, [
    `roleRef: Invalid value: {"APIGroup":"${rbac}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
  ]);
});
