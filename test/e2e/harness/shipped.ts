/**
 * What an installation gives a component, and no more: the rights of its service account, its flags, its probes, its memory. All of it
 * is read from the rows of src/api/manifests that `snapkeep install` and deploy/ are rendered from.
 */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role } from "kubernetes-types/rbac/v1.js";
import type {
  ComponentRow,
  ContainerRow,
  DriverNeeds,
  ManifestObject,
  SidecarRow,
} from "../../../src/api/manifests/component.ts";
import { manifestFiles, namespaceObjects } from "../../../src/api/manifests/objects.ts";
import { componentRows, sidecarRows } from "../../../src/api/manifests/rows.ts";
import { installationOf } from "../../../src/cli/deploy.ts";
import type { ControlPlane } from "./control-plane.ts";
import type { Instance } from "./instance.ts";
import { type MemoryGroup, memoryGroup } from "./memory-group.ts";
import { freePort } from "./ports.ts";
import { until } from "./until.ts";

/** Not the namespaces that the suites of `snapkeep install` install into and remove. */
export const shipped = installationOf("0.0.0", { namespace: "shipped" });

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
  once(plane, component, () => {
    const row = componentRows.find(({ name }) => name === component) ?? assert.fail(`no component ${component}`);
    return install(plane, accessOf(row));
  });

/** A sidecar has the rights that its driver's account is given for it (docs/reference/permissions.md): one account per driver. */
export const shippedSidecarAccount = (
  plane: Plane,
  component: string,
  driver: string,
  needs: DriverNeeds = { topology: true, attachments: true, capacity: true },
): Promise<Account> =>
  once(plane, [component, driver, ...Object.values(needs)].join(" "), () => {
    const row = sidecarRows.find(({ name }) => name === component) ?? assert.fail(`no sidecar ${component}`);
    return install(plane, sidecarAccess(row, driver, needs));
  });

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
function accessOf(row: ComponentRow): Access {
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
function sidecarAccess(row: SidecarRow, driver: string, needs: DriverNeeds): Access {
  const name = `${row.name}-${driver}-${Object.values(needs).filter(Boolean).length}`.toLowerCase();
  const driverRow = componentRows.find(({ workload }) => workload.unrestricted !== undefined) as ComponentRow;
  const sidecar = { ...driverRow, name, serviceAccount: name, ...row.rights(driver, needs) };
  const [access] = manifestFiles(sidecar, shipped);
  return { row: sidecar, namespace: shipped.driverNamespace, objects: access?.objects ?? [] };
}

const resources: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  ServiceAccount: "/api/v1/serviceaccounts",
  ConfigMap: "/api/v1/configmaps",
  ...Object.fromEntries(
    rbacKinds.map((kind) => [kind, `/apis/rbac.authorization.k8s.io/v1/${kind.toLowerCase()}s`] as const),
  ),
};

/** Several installations can be on one control plane: cluster-wide names get a prefix of ours. The rules are as they ship. */
function ownNames(object: ManifestObject): ManifestObject {
  if (!object.kind.startsWith("ClusterRole")) return object;
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

async function install(plane: Plane, { row, namespace, objects }: Access): Promise<Account> {
  const places = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  const known = namespaceObjects(componentRows, shipped);
  for (const place of places)
    await create(
      plane,
      known.find(({ metadata }) => metadata.name === place) ??
        ({ apiVersion: "v1", kind: "Namespace", metadata: { name: place } } as ManifestObject),
    );
  for (const object of objects) await create(plane, ownNames(object));
  const { serviceAccount: name } = row;
  const user = `system:serviceaccount:${namespace}:${name}`;
  const roles = objects.filter(({ kind }) => /^(Cluster)?Role$/.test(kind)) as unknown as readonly (
    | ClusterRole
    | Role
  )[];
  for (const { metadata, rules = [] } of roles)
    if (rules[0] !== undefined) await untilAllowed(plane, user, rules[0], metadata?.namespace);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status, text } = await plane.request("POST", path, { spec: { expirationSeconds: tokenSeconds } });
  assert.equal(status, 201, text);
  const { token } = (JSON.parse(text) as { status: { token: string } }).status;
  return { namespace, name, user, token, kubeconfig: plane.kubeconfigFor(user.replaceAll(":", "."), token) };
}

/** Longer than any run. */
const tokenSeconds = 24 * 3_600;

/** The API server knows a new role a moment after it has stored it. */
async function untilAllowed({ request }: Plane, user: string, rule: PolicyRule, namespace?: string): Promise<void> {
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

const containersOf = (component: string): readonly ContainerRow[] => {
  const row = componentRows.find(({ name }) => name === component);
  if (row !== undefined) return row.workload.containers;
  const sidecar = sidecarRows.find(({ name }) => name === component) ?? assert.fail(`no component ${component}`);
  return [sidecar.container("", { path: "/csi/csi.sock", mount: { name: "socket", mountPath: "/csi" } })];
};

export interface ShippedContainer {
  /** Flags after the command; a mounted folder is the given one, a port a free one, and a given flag replaces the shipped one. */
  readonly flags: readonly string[];
  /** The address of the probes: /healthz and /readyz. */
  readonly statusUrl: string;
  readonly memory: MemoryGroup | undefined;
}

/** The first container of a component, as a process of this machine. `folders`: mount path → folder. */
export async function shippedContainer(
  instance: Pick<Instance, "folder">,
  component: string,
  { name, folders, flags }: ContainerPlace,
): Promise<ShippedContainer> {
  const [container = assert.fail(component)] = containersOf(component);
  const mounts = container.volumeMounts(shipped).map(({ mountPath, name: volume }) => {
    const folder = folders[mountPath] ?? join(instance.folder, name, volume);
    mkdirSync(folder, { recursive: true });
    return [mountPath, folder] as const;
  });
  const given = new Set(flags.map(flagName));
  const own = container
    .args(shipped)
    .slice(1)
    .filter((flag) => !given.has(flagName(flag)));
  const placed: string[] = [];
  for (const flag of own) placed.push(await freed(mounts.reduce(moved, flag)));
  const all = [...placed, ...flags];
  const [, address = ""] = all.map((flag) => /^--http-endpoint=(.+)$/.exec(flag)).find((match) => match !== null) ?? [];
  return {
    flags: all,
    statusUrl: `http://${address}`,
    memory: memoryGroup(instance.folder, name, container.memory[1]),
  };
}

export interface ContainerPlace {
  readonly name: string;
  readonly folders: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
}

const flagName = (flag: string): string => /^--?([^=]+)/.exec(flag)?.[1] ?? flag;
const moved = (flag: string, [from, to]: readonly [string, string]): string => {
  const at = flag.indexOf(from);
  const isPath = at > 0 && /(=|:\/\/)$/.test(flag.slice(0, at)) && /^(\/|$)/.test(flag.slice(at + from.length));
  return isPath ? `${flag.slice(0, at)}${to}${flag.slice(at + from.length)}` : flag;
};
const freed = async (flag: string): Promise<string> =>
  /=:\d+$/.test(flag) ? flag.replace(/=:\d+$/, `=127.0.0.1:${await freePort()}`) : flag;

/** The readiness probe, as the kubelet asks it. */
export const isReady = async (statusUrl: string): Promise<boolean> =>
  (await fetch(`${statusUrl}/readyz`).catch(() => undefined))?.ok === true;
