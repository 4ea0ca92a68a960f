/**
 * The kinds Kubernetes itself defines, as far as we serve them. Discovery, routes and printing read these rows; what a kind
 * does beyond storing (defaults, validation) comes from `parts.strategies`.
 */
import { columnsFor } from "./columns/index.ts";
import type { Parts, Resource, Strategy, Subresource, Verb } from "./contracts.ts";
import { eventConversion } from "./event-conversion.ts";

const allVerbs: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const writable: readonly Verb[] = ["get", "patch", "update"];
const createOnly: readonly Verb[] = ["create"];

/** What a row says about how its kind is written; `parts.strategies` may add to it. */
type Traits = Pick<
  Strategy,
  | "createOnUpdate"
  | "dependents"
  | "fields"
  | "generation"
  | "nameRule"
  | "returnsDeleted"
  | "statusOnCreate"
  | "unconditionalUpdate"
>;

interface Row {
  readonly kind: string;
  readonly plural: string;
  readonly cluster?: true;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly Verb[];
  readonly status?: true;
  readonly subresources?: Readonly<Record<string, Subresource>>;
  readonly traits?: Traits;
}

interface Group {
  readonly group: string;
  readonly version: string;
  readonly rows: readonly Row[];
}

const all = { categories: ["all"] } as const;
const extensions = { categories: ["api-extensions"] } as const;
const workload = { generation: "spec" } as const;
/** Kinds that refuse a PUT without a resourceVersion. */
const guarded = { unconditionalUpdate: false } as const;

const same = (...fields: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.map((field) => [field, field]));
const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;
const under = (from: string, to: string): Readonly<Record<string, string>> =>
  Object.fromEntries(involved.map((name) => [`${from}.${name}`, `${to}.${name}`]));

/** Stored once, served by two groups that call its fields differently. */
const events = (about: string, fields: Readonly<Record<string, string>>): Row => ({
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  traits: {
    createOnUpdate: true,
    dependents: "none",
    fields: { ...under(about, "involvedObject"), ...same("reason", "type"), ...fields },
  },
});

const core: readonly Row[] = [
  { kind: "ConfigMap", plural: "configmaps", shortNames: ["cm"] },
  events("involvedObject", { reportingComponent: "reportingComponent", source: "source.component" }),
  {
    kind: "Namespace",
    plural: "namespaces",
    cluster: true,
    shortNames: ["ns"],
    verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
    status: true,
    subresources: { finalize: { verbs: ["update"] } },
    traits: { nameRule: "label", returnsDeleted: true, fields: same("status.phase") },
  },
  {
    kind: "Node",
    plural: "nodes",
    cluster: true,
    shortNames: ["no"],
    status: true,
    traits: { statusOnCreate: true, fields: same("spec.unschedulable") },
  },
  {
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    shortNames: ["pvc"],
    status: true,
    traits: { returnsDeleted: true },
  },
  {
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    cluster: true,
    shortNames: ["pv"],
    status: true,
    traits: { returnsDeleted: true },
  },
  {
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    ...all,
    status: true,
    subresources: {
      binding: { verbs: createOnly, kind: { group: "", version: "v1", kind: "Binding" } },
      eviction: { verbs: createOnly, kind: { group: "policy", version: "v1", kind: "Eviction" } },
    },
    traits: {
      ...workload,
      returnsDeleted: true,
      fields: same(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
      ),
    },
  },
  {
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    shortNames: ["rc"],
    ...all,
    status: true,
    traits: { ...workload, dependents: "orphan" },
  },
  { kind: "Secret", plural: "secrets", traits: { fields: same("type") } },
  {
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    shortNames: ["sa"],
    subresources: {
      token: { verbs: createOnly, kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" } },
    },
    traits: { returnsDeleted: true },
  },
  {
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    ...all,
    status: true,
    traits: {
      nameRule: "label1035",
      returnsDeleted: true,
      createOnUpdate: true,
      fields: same("spec.clusterIP", "spec.type"),
    },
  },
];

const apps: readonly Row[] = [
  { kind: "DaemonSet", plural: "daemonsets", shortNames: ["ds"], ...all, status: true, traits: workload },
  {
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    ...all,
    status: true,
    traits: workload,
  },
  {
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    ...all,
    status: true,
    traits: workload,
  },
  {
    kind: "StatefulSet",
    plural: "statefulsets",
    shortNames: ["sts"],
    ...all,
    status: true,
    traits: workload,
  },
];

const storage: readonly Row[] = [
  { kind: "CSIDriver", plural: "csidrivers", cluster: true, traits: { ...guarded, returnsDeleted: true } },
  { kind: "CSINode", plural: "csinodes", cluster: true, traits: { ...guarded, returnsDeleted: true } },
  { kind: "CSIStorageCapacity", plural: "csistoragecapacities", traits: guarded },
  {
    kind: "StorageClass",
    plural: "storageclasses",
    cluster: true,
    shortNames: ["sc"],
    traits: { returnsDeleted: true },
  },
  {
    kind: "VolumeAttachment",
    plural: "volumeattachments",
    cluster: true,
    status: true,
    traits: { ...guarded, returnsDeleted: true },
  },
];

const roles = { nameRule: "pathSegment", createOnUpdate: true } as const;
const answering = (kind: string, plural: string): Row => ({ kind, plural, cluster: true, verbs: createOnly });
const webhooks = {
  cluster: true,
  ...extensions,
  traits: { ...guarded, generation: "allButMetadata" },
} as const;

/** In the order the real server lists its groups. */
const groups: readonly Group[] = [
  { group: "", version: "v1", rows: core },
  { group: "apps", version: "v1", rows: apps },
  {
    group: "events.k8s.io",
    version: "v1",
    rows: [events("regarding", { reportingController: "reportingComponent" })],
  },
  {
    group: "authentication.k8s.io",
    version: "v1",
    rows: [answering("SelfSubjectReview", "selfsubjectreviews"), answering("TokenReview", "tokenreviews")],
  },
  {
    group: "authorization.k8s.io",
    version: "v1",
    rows: [
      { kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews", verbs: createOnly },
      answering("SelfSubjectAccessReview", "selfsubjectaccessreviews"),
      answering("SelfSubjectRulesReview", "selfsubjectrulesreviews"),
      answering("SubjectAccessReview", "subjectaccessreviews"),
    ],
  },
  {
    group: "batch",
    version: "v1",
    rows: [
      {
        kind: "CronJob",
        plural: "cronjobs",
        shortNames: ["cj"],
        ...all,
        status: true,
        traits: workload,
      },
      { kind: "Job", plural: "jobs", ...all, status: true, traits: { ...workload, dependents: "orphan" } },
    ],
  },
  {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    rows: [
      { kind: "ClusterRoleBinding", plural: "clusterrolebindings", cluster: true, traits: roles },
      { kind: "ClusterRole", plural: "clusterroles", cluster: true, traits: roles },
      { kind: "RoleBinding", plural: "rolebindings", traits: roles },
      { kind: "Role", plural: "roles", traits: roles },
    ],
  },
  { group: "storage.k8s.io", version: "v1", rows: storage },
  {
    group: "admissionregistration.k8s.io",
    version: "v1",
    rows: [
      { kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations", ...webhooks },
      { kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations", ...webhooks },
    ],
  },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    rows: [
      {
        kind: "CustomResourceDefinition",
        plural: "customresourcedefinitions",
        cluster: true,
        shortNames: ["crd", "crds"],
        ...extensions,
        status: true,
        traits: { ...guarded, generation: "spec" },
      },
    ],
  },
  {
    group: "coordination.k8s.io",
    version: "v1",
    rows: [{ kind: "Lease", plural: "leases", traits: { createOnUpdate: true, ...guarded } }],
  },
];

/** Where the objects of a kind are stored: "pods", or "storage.k8s.io/storageclasses". */
export const collectionOf = (group: string, plural: string): string => (group === "" ? plural : `${group}/${plural}`);
export const apiVersionOf = (group: string, version: string): string =>
  group === "" ? version : `${group}/${version}`;

/** The core group has no name, and its versions no slash. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";

const definitionsGroup = "apiextensions.k8s.io";
export const definitionsCollection = collectionOf(definitionsGroup, "customresourcedefinitions");

const known = new WeakMap<Parts, readonly Resource[]>();

/** The rows put together with what is particular to their kinds; made once per set of parts, whatever the number of servers. */
export function builtInResources(parts: Parts): readonly Resource[] {
  const made = known.get(parts) ?? groups.flatMap((group) => group.rows.map((row) => resourceOf(group, row, parts)));
  known.set(parts, made);
  return made;
}

function resourceOf({ group, version }: Group, row: Row, parts: Parts): Resource {
  const foreignEvent = group === "events.k8s.io";
  const shape = memoized(() => parts.schemas.builtIn(group, version, row.kind));
  return {
    group,
    version,
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    scope: row.cluster === true ? "cluster" : "namespace",
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    verbs: row.verbs ?? allVerbs,
    subresources: {
      ...row.subresources,
      ...(row.status === true ? { status: { verbs: writable } } : {}),
    },
    collection: foreignEvent ? "events" : collectionOf(group, row.plural),
    storedAs: foreignEvent ? "v1" : apiVersionOf(group, version),
    ...(foreignEvent ? { conversion: eventConversion } : {}),
    shape,
    columns: columnsFor(group, row.kind),
    strategy: {
      unconditionalUpdate: true,
      generation: "none",
      ...row.traits,
      ...(group === definitionsGroup ? { ...parts.schemas.definitions, ...parts.definitionEnd } : {}),
      ...parts.strategies[`${group}/${row.kind}`],
    },
  };
}

function memoized<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
