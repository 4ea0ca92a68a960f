/** What stands in every new cluster: four namespaces, and the roles that let anybody known look around. */
import type { JsonObject } from "../../base/json.ts";
import type { ApiObject } from "../contracts.ts";

const rbac = "rbac.authorization.k8s.io";
const marks = {
  labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
} as const;

const namespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Complete, because these are stored without passing through a request. */
const namespace = (name: string): ApiObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" },
});

const role = (name: string, rules: JsonObject[], labels: Readonly<Record<string, string>> = {}): ApiObject => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata: { name, labels: { ...marks.labels, ...labels }, annotations: { ...marks.annotations } },
  rules,
});

const bind = (name: string, ...groups: readonly string[]): ApiObject => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRoleBinding",
  metadata: { name, labels: { ...marks.labels }, annotations: { ...marks.annotations } },
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
  subjects: groups.map((group) => ({ apiGroup: rbac, kind: "Group", name: group })),
});

const health = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const discovery = ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez"];
const looking = ["get", "list", "watch"];
const writing = ["create", "delete", "deletecollection", "patch", "update"];

/** What people bind in their namespaces. A custom kind joins them by a role labelled for aggregation. */
const namespaced: readonly { readonly group: string; readonly resources: readonly string[] }[] = [
  {
    group: "",
    resources: [
      "configmaps",
      "events",
      "persistentvolumeclaims",
      "persistentvolumeclaims/status",
      "pods",
      "pods/log",
      "pods/status",
      "replicationcontrollers",
      "replicationcontrollers/scale",
      "serviceaccounts",
      "services",
      "services/status",
      "namespaces",
    ],
  },
  {
    group: "apps",
    resources: [
      "daemonsets",
      "deployments",
      "deployments/scale",
      "replicasets",
      "replicasets/scale",
      "statefulsets",
      "statefulsets/scale",
    ],
  },
  { group: "batch", resources: ["cronjobs", "jobs"] },
];

const rulesFor = (verbs: readonly string[], without: readonly string[] = []): JsonObject[] =>
  namespaced.map(({ group, resources }) => ({
    apiGroups: [group],
    resources: resources.filter((resource) => !without.includes(resource)),
    verbs: [...verbs],
  }));

const aggregating = (name: string, level: string, labels: Readonly<Record<string, string>> = {}): ApiObject => ({
  ...role(name, [], labels),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`${rbac}/aggregate-to-${level}`]: "true" } }] },
});
const joins = (level: string) => ({ [`${rbac}/aggregate-to-${level}`]: "true" });
const unwritable = [
  "events",
  "namespaces",
  "pods/log",
  "pods/status",
  "services/status",
  "persistentvolumeclaims/status",
];

export const bootstrapObjects = (): readonly ApiObject[] => [
  ...namespaces.map(namespace),
  role("cluster-admin", [
    { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
    { nonResourceURLs: ["*"], verbs: ["*"] },
  ]),
  role("system:discovery", [
    {
      nonResourceURLs: [...discovery, "/openapi", "/openapi/*", "/readyz", "/version", "/version/"],
      verbs: ["get"],
    },
  ]),
  role("system:basic-user", [
    {
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
      verbs: ["create"],
    },
    { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
  ]),
  role("system:public-info-viewer", [{ nonResourceURLs: health, verbs: ["get"] }]),
  aggregating("admin", "admin"),
  aggregating("edit", "edit", joins("admin")),
  aggregating("view", "view", joins("edit")),
  role("system:aggregate-to-view", rulesFor(looking), joins("view")),
  role(
    "system:aggregate-to-edit",
    [{ apiGroups: [""], resources: ["secrets"], verbs: looking }, ...rulesFor(writing, unwritable)],
    joins("edit"),
  ),
  role(
    "system:aggregate-to-admin",
    [{ apiGroups: [rbac], resources: ["rolebindings", "roles"], verbs: [...looking, ...writing] }],
    joins("admin"),
  ),
  bind("cluster-admin", "system:masters"),
  bind("system:discovery", "system:authenticated"),
  bind("system:basic-user", "system:authenticated"),
  bind("system:public-info-viewer", "system:authenticated", "system:unauthenticated"),
];
