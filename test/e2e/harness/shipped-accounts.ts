/**
 * The rights that an installation gives a component, and no more: the roles and bindings that `snapkeep install` and deploy/ are rendered
 * from, and a token of the service account they are bound to.
 */
import assert from "node:assert/strict";
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role } from "kubernetes-types/rbac/v1.js";
import type { ComponentRow, DriverNeeds, ManifestObject } from "../../../src/api/manifests/component.ts";
import { manifestFiles, namespaceObjects } from "../../../src/api/manifests/objects.ts";
import { allSidecarRows, componentRows } from "../../../src/api/manifests/rows.ts";
import type { ControlPlane } from "./control-plane.ts";
import type { Instance } from "./instance.ts";
import { shipped } from "./shipped.ts";
import { until } from "./until.ts";

export interface Account {
  readonly namespace: string;
  readonly name: string;
  /** As the API server calls it. */
  readonly user: string;
  readonly token: string;
  /** Path of a kubeconfig with its token. */
  readonly kubeconfig: string;
}

type Plane = Pick<ControlPlane, "instance" | "request" | "kubeconfigFor">;

const accounts = new WeakMap<Instance, Map<string, Promise<Account>>>();

/** The service account of a component as it is installed; made once per control plane. */
export const shippedAccount = (plane: Plane, component: string): Promise<Account> =>
  once(plane, component, () => install(plane, componentAccess(component)));

/** A sidecar has the rights that its driver's account is given for it (docs/reference/permissions.md): one account per driver. */
export const shippedSidecarAccount = (plane: Plane, component: string, driver: DescribedDriver): Promise<Account> =>
  once(plane, [component, ...Object.values(driver)].join(" "), () => install(plane, sidecarAccess(component, driver)));

function once({ instance }: Plane, key: string, make: () => Promise<Account>): Promise<Account> {
  const known = accounts.get(instance) ?? new Map<string, Promise<Account>>();
  accounts.set(instance, known);
  const account = known.get(key) ?? make();
  known.set(key, account);
  return account;
}

interface Access {
  readonly row: Pick<ComponentRow, "serviceAccount">;
  readonly namespace: string;
  readonly objects: readonly ManifestObject[];
}

const rbacKinds = ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
type Bound = ManifestObject & Pick<ClusterRoleBinding, "subjects" | "roleRef">;

/** Every rendered binding of the account, of whichever component, with its role; and the ConfigMaps that come with them. */
function componentAccess(component: string): Access {
  const row = componentRows.find(({ name }) => name === component) ?? assert.fail(`no component ${component}`);
  const objects = componentRows.flatMap((any) => manifestFiles(any, shipped)).flatMap((file) => file.objects);
  const account =
    objects.find(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === row.serviceAccount) ??
    assert.fail(`${row.name} has no service account`);
  const namespace = account.metadata.namespace ?? "";
  const bindings = objects.filter(({ kind }) => kind.endsWith("Binding")) as unknown as readonly Bound[];
  const own = bindings.filter(({ subjects = [] }) =>
    subjects.some((subject) => subject.name === row.serviceAccount && subject.namespace === namespace),
  );
  const roles = own.map(
    ({ metadata, roleRef }) =>
      objects.find(
        (role) =>
          role.kind === roleRef.kind &&
          role.metadata.name === roleRef.name &&
          role.metadata.namespace === metadata.namespace,
      ) ?? assert.fail(`the binding ${metadata.name} names no rendered role`),
  );
  const lists = objects.filter(({ kind }) => kind === "ConfigMap");
  return { row, namespace, objects: [account, ...roles, ...(own as unknown as ManifestObject[]), ...lists] };
}

/** The same objects for a driver of the test: its namespace is that of installed drivers. */
function sidecarAccess(component: string, { driver, ...needs }: DescribedDriver): Access {
  const row = allSidecarRows.find(({ name }) => name === component) ?? assert.fail(`no sidecar ${component}`);
  const asked = Object.entries(needs).flatMap(([need, isNeeded]) => (isNeeded ? [need] : []));
  const name = [row.name, driver, ...asked].join("-").toLowerCase();
  const driverRow = componentRows.find(({ workload }) => workload.unrestricted !== undefined) as ComponentRow;
  const sidecar = { ...driverRow, name, serviceAccount: name, ...row.rights(driver, needs) };
  const [access] = manifestFiles(sidecar, shipped);
  return { row: sidecar, namespace: shipped.driverNamespace, objects: access?.objects ?? [] };
}

/** What a driver is, and needs of its sidecars. */
export interface DescribedDriver extends DriverNeeds {
  readonly driver: string;
}

/** The shipped rights for a user that is no service account: replicas of one component, which the audit log tells apart. */
export async function bindShipped(
  plane: Plane,
  component: string,
  user: string,
  driver: DescribedDriver | undefined,
): Promise<void> {
  const { objects } = driver === undefined ? componentAccess(component) : sidecarAccess(component, driver);
  const bound = objects.map((object) => {
    const { kind, metadata } = object;
    if (!kind.endsWith("Binding")) return object;
    const own = {
      metadata: { ...metadata, name: `${metadata.name}-${user}` },
      subjects: [{ kind: "User", name: user }],
    };
    return { ...object, ...own } as ManifestObject;
  });
  await apply(plane, user, bound);
}

/** Whose rights they are, as the API server calls it and as a binding names it. */
type Subject = Pick<Account, "user"> & Partial<Pick<Account, "name" | "namespace">>;

/** Rights beside the shipped ones, in a role of their own; the text names them. */
export async function grantTo(
  plane: Plane,
  grantee: Subject,
  text: string,
  rules: readonly PolicyRule[],
): Promise<void> {
  const { user, name, namespace } = grantee;
  const own = ownName(grantee, text);
  const metadata = { name: own };
  const roleRef = { kind: "ClusterRole", name: own, apiGroup: "rbac.authorization.k8s.io" };
  const subject = name === undefined ? { kind: "User", name: user } : { kind: "ServiceAccount", namespace, name };
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await apply(plane, user, [
    { apiVersion, kind: "ClusterRole", metadata, rules } as ManifestObject,
    { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects: [subject] } as ManifestObject,
  ]);
}

const ownName = ({ user, name }: Subject, text: string): string => [name ?? user, text].join("-").replace(/\W+/g, "-");

/** What `grantTo` has given. The API server may know the rights for a moment longer. */
export async function revokeFrom({ request }: Plane, subject: Subject, text: string): Promise<void> {
  const name = `e2e-${ownName(subject, text)}`;
  for (const kind of ["ClusterRoleBinding", "ClusterRole"]) await request("DELETE", `${resources[kind]}/${name}`);
}

const resources: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  ServiceAccount: "/api/v1/serviceaccounts",
  ConfigMap: "/api/v1/configmaps",
  ...Object.fromEntries(
    rbacKinds.map((kind) => [kind, `/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`] as const),
  ),
};

/**
 * Several installations can be on one control plane: roles and bindings, of the cluster and of kube-system, get a prefix of ours, so that
 * `snapkeep install` does not find its own names taken. The rules are as they ship.
 */
function ownNames(object: ManifestObject): ManifestObject {
  if (!/^(Cluster)?Role/.test(object.kind)) return object;
  const { roleRef } = object as unknown as Partial<Bound>;
  const metadata = { ...object.metadata, name: `e2e-${object.metadata.name}` };
  return {
    ...object,
    metadata,
    ...(roleRef === undefined ? {} : { roleRef: { ...roleRef, name: `e2e-${roleRef.name}` } }),
  } as ManifestObject;
}

async function create({ request }: Plane, object: ManifestObject): Promise<void> {
  const [, root, resource] = /^(.*)\/(\w+)$/.exec(resources[object.kind] ?? "") ?? assert.fail(object.kind);
  const { namespace } = object.metadata;
  const path = [root, ...(namespace === undefined ? [] : ["namespaces", namespace]), resource].join("/");
  const { status, text } = await request("POST", path, object);
  assert.ok(status === 201 || status === 409, `${object.kind} ${object.metadata.name}: ${status} ${text}`);
}

/** The objects with their namespaces; the API server knows the roles when this ends. */
async function apply(plane: Plane, user: string, objects: readonly ManifestObject[]): Promise<void> {
  const places = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  const known = namespaceObjects(componentRows, shipped);
  for (const place of places)
    await create(
      plane,
      known.find(({ metadata }) => metadata.name === place) ??
        ({ apiVersion: "v1", kind: "Namespace", metadata: { name: place } } as ManifestObject),
    );
  for (const object of objects) await create(plane, ownNames(object));
  const roles = objects.filter(({ kind }) => /^(Cluster)?Role$/.test(kind)) as unknown as readonly (
    | ClusterRole
    | Role
  )[];
  for (const { metadata, rules = [] } of roles)
    if (rules[0] !== undefined) await untilAllowed(plane, user, rules[0], metadata?.namespace);
}

async function install(plane: Plane, { row, namespace, objects }: Access): Promise<Account> {
  const { serviceAccount: name } = row;
  const user = `system:serviceaccount:${namespace}:${name}`;
  await apply(plane, user, objects);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status, text } = await plane.request("POST", path, { spec: { expirationSeconds: tokenSeconds } });
  assert.equal(status, 201, text);
  const { token } = (JSON.parse(text) as { status: { token: string } }).status;
  return { namespace, name, user, token, kubeconfig: plane.kubeconfigFor(user.replaceAll(":", "."), token) };
}

/** Longer than any run. */
const tokenSeconds = 24 * 3_600;

/** The API server knows a new role a moment after it has stored it. */
export async function untilAllowed(
  { request }: Pick<Plane, "request">,
  user: string,
  rule: PolicyRule,
  namespace?: string,
): Promise<void> {
  const [resource = "", subresource] = (rule.resources?.[0] ?? "").split("/");
  const resourceAttributes = {
    group: rule.apiGroups?.[0] ?? "",
    resource,
    verb: rule.verbs[0],
    ...(subresource === undefined ? {} : { subresource }),
    ...(rule.resourceNames === undefined ? {} : { name: rule.resourceNames[0] }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" };
  await until({ what: `${user} may ${rule.verbs[0]} ${resource}`, everyMs: 10 }, async () => {
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const { text } = await request("POST", path, { ...review, spec: { user, resourceAttributes } });
    return (JSON.parse(text) as { status?: { allowed: boolean } }).status?.allowed === true ? true : undefined;
  });
}
