/**
 * End-to-end tests run what ships: a component has the rights of the rendered roles. A role that a harness writes itself hides what an
 * installation lacks, so each one is listed here, with whose it is.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { root, withoutComments } from "./sources.ts";

const files = ["test/e2e/**/*.ts", "bench/**/*.ts"]
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .toSorted()
  .map((path) => ({ path, text: withoutComments(readFileSync(resolve(root, path), "utf8")) }));
const found = (pattern: RegExp): readonly string[] =>
  files.flatMap(({ path, text }) => [...text.matchAll(pattern)].map((match) => `${path}: ${match[1] ?? match[0]}`));

/** Everything after these folders is about RBAC itself: what the embedded server and kubectl make of roles. */
const isAboutRoles = (path: string): boolean => /^test\/e2e\/(differential|kubectl)\//.test(path);

/** A list of verbs, in whatever form, a flag of kubectl that makes one, and a role that Kubernetes ships. */
const roles =
  /\bverbs"?: ?(\[[^\]]*\]|[A-Za-z][\w.]*)|\b(?<!["'.])verbs(?= ?[,}])|--(?:verb|clusterrole)=[\w*,-]+|"(?:cluster-admin|edit|view)"/g;

test("no harness writes a role of its own for a component: what a test writes belongs to owners, strangers and users of tools", () => {
  const written = found(roles).filter((one) => !isAboutRoles(one));
  assert.deepEqual(written, [
    // A user of `snapkeep access`.
    'test/e2e/access.test.ts: ["create"]',
    // Users whom nothing but a policy holds back.
    'test/e2e/admission-guards.test.ts: "cluster-admin"',
    // The harness itself: a token without a role may do nothing.
    'test/e2e/control-plane.test.ts: ["list"]',
    // A user of `snapkeep explain` who may look at snapshots alone.
    'test/e2e/explain/stage.ts: ["get", "list"]',
    // A user of `snapkeep gather` with one namespace.
    'test/e2e/gather.test.ts: ["get", "list"]',
    // Owners of shares: the Secret that they lend to the driver, and the permission to use a share.
    'test/e2e/harness/share-driver.ts: ["get", "list", "watch"]',
    'test/e2e/harness/share-driver.ts: ["use"]',
    // A stranger in the namespace of a driver.
    'test/e2e/provisioner-stored-calls.test.ts: ["get", "list", "update"]',
    // Reads the rendered roles.
    "test/e2e/rbac/rights.ts: verbs",
    // An owner who lends a Secret, and one single right of the shipped ones at a time.
    'test/e2e/rbac/share-lives.ts: ["get", "list", "watch"]',
    "test/e2e/rbac/trial.ts: [verb]",
    'test/e2e/shared-resource-admission.test.ts: ["get"]',
    // The user who installs, with the rights that the guide lists.
    "test/e2e/shared-resource-install.test.ts: --clusterrole=snapkeep-installer",
  ]);
});

test("a role is found in whatever form a harness writes it", () => {
  for (const text of [
    'rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]',
    "rules: [{ apiGroups, resources, verbs }]",
    "const rule = { apiGroups, verbs, resources };",
    "rules: [{ ...all, verbs: everything }]",
    '{"rules":[{"verbs":["get"]}]}',
    'kubectl("create", "clusterrole", "x", "--verb=get,list", "--resource=secrets")',
    'kubectl("create", "clusterrolebinding", "x", "--clusterrole=cluster-admin")',
    'roleRef: { kind: "ClusterRole", name: "edit" }',
  ])
    assert.notDeepEqual([...text.matchAll(roles)], [], text);
  for (const text of ["verb: rule.verbs[0]", "const text = `may ${verbs.join()}`"])
    assert.deepEqual([...text.matchAll(roles)], [], text);
});

test("a share driver is started with the account that ships", () => {
  const others = found(/startShareDriver\([^;]*?kubeconfig: ([\w.]+[kK]ubeconfig)\b/g);
  assert.deepEqual(others, [
    // It takes the volumes away that a driver without one of its rights has left, and asks the API server for nothing.
    "test/e2e/rbac/share-driver-life.ts: plane.kubeconfig",
  ]);
});

test("a user with all rights is the administrator of a control plane, and no component", () => {
  assert.deepEqual(
    found(/"system:masters"/g).filter((one) => !isAboutRoles(one)),
    [
      // The client of this package with a certificate instead of a token.
      'test/e2e/client-access.test.ts: "system:masters"',
      'test/e2e/harness/control-plane.ts: "system:masters"',
    ],
  );
});

test("components are started by the harness, which gives them what ships; a command line of its own has a reason", () => {
  assert.deepEqual(
    files.filter(({ text }) => /src\/main\.ts/.test(text)).map(({ path }) => path),
    [
      // How a component ends and hands over, with the shipped account or with credentials that are wrong.
      "test/e2e/component.test.ts",
      // Drivers have no rights; their flags are what is tested.
      "test/e2e/directory-driver.test.ts",
      "test/e2e/harness/components.ts",
      "test/e2e/harness/directory-driver.ts",
      // The API server itself.
      "test/e2e/harness/embedded.ts",
      // Commands of a user: as the guides print them, an update of a stored object, an installation.
      "test/e2e/harness/guides.ts",
      "test/e2e/migrate-in-flight.test.ts",
      "test/e2e/pods/chart.test.ts",
      "test/e2e/pods/directory-driver-node.test.ts",
      "test/e2e/pods/install.test.ts",
      "test/e2e/pods/shared-resource-installed.test.ts",
      "test/e2e/pods/walk.test.ts",
      // Single rights of the share driver.
      "test/e2e/rbac/share-lives.ts",
      "test/e2e/shared-resource-install.test.ts",
    ],
  );
});
