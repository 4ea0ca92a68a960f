/** Columns of namespaces, nodes, services, configuration, events, leases, bindings and webhooks. */
import { isObject, type JsonValue } from "../../base/json.ts";
import { ageSince } from "../age.ts";
import type { ApiObject, Column } from "../contracts.ts";
import {
  ageColumn,
  column,
  conditionOf,
  count,
  labelsText,
  listAt,
  nameColumn,
  or,
  sizeAt,
  textAt,
  wide,
} from "./basic.ts";

function nodeStatus(node: ApiObject): string {
  const ready = conditionOf(node, "Ready");
  const status = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return textAt(node, "spec", "unschedulable") === "true" ? `${status},SchedulingDisabled` : status;
}

const rolePrefix = "node-role.kubernetes.io/";

function nodeRoles({ metadata }: ApiObject): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key === rolePrefix ? [] : [key.slice(rolePrefix.length)];
    return key === "kubernetes.io/role" && value !== "" ? [value] : [];
  });
  return or([...new Set(roles)].sort().join(","), "<none>");
}

const nodeAddress = (node: ApiObject, type: string): string =>
  listAt(node, "status", "addresses")
    .filter((address) => textAt(address, "type") === type)
    .map((address) => textAt(address, "address"))[0] ?? "<none>";

const nodeInfo = (node: ApiObject, field: string): string => textAt(node, "status", "nodeInfo", field);

function kernel(node: ApiObject): string {
  const architecture = nodeInfo(node, "architecture");
  const version = or(nodeInfo(node, "kernelVersion"), "<unknown>");
  return architecture === "" ? version : `${version} (${architecture})`;
}

function externalAddress(service: ApiObject): string {
  const external = listAt(service, "spec", "externalIPs").map(String);
  switch (textAt(service, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return or(external.join(","), "<none>");
    case "LoadBalancer": {
      const balancers = listAt(service, "status", "loadBalancer", "ingress").map((one) =>
        or(textAt(one, "ip"), textAt(one, "hostname")),
      );
      const known = [...new Set(balancers.filter((address) => address !== ""))].sort();
      return or([...known, ...external].join(","), "<pending>");
    }
    case "ExternalName":
      return textAt(service, "spec", "externalName");
    default:
      return "<unknown>";
  }
}

function portText(port: JsonValue): string {
  const node = textAt(port, "nodePort");
  const number = textAt(port, "port");
  return `${number}${node === "" || node === "0" ? "" : `:${node}`}/${textAt(port, "protocol")}`;
}

const firstSeen = (event: ApiObject, now: number): string =>
  textAt(event, "firstTimestamp") === "" ? ageSince(event.eventTime, now) : ageSince(event.firstTimestamp, now);

function lastSeen(event: ApiObject, now: number): string {
  if (isObject(event.series)) return ageSince(event.series.lastObservedTime, now);
  return textAt(event, "lastTimestamp") === "" ? firstSeen(event, now) : ageSince(event.lastTimestamp, now);
}

function eventCount(event: ApiObject): number {
  if (isObject(event.series)) return Number(textAt(event, "series", "count") || 0);
  return Number(textAt(event, "count") || 0) || 1;
}

function eventObject(event: ApiObject): string {
  const kind = textAt(event, "involvedObject", "kind").toLowerCase();
  const name = textAt(event, "involvedObject", "name");
  return name === "" ? kind : `${kind}/${name}`;
}

function eventSource(event: ApiObject): string {
  const component = or(textAt(event, "source", "component"), textAt(event, "reportingComponent"));
  const instance = or(textAt(event, "source", "host"), textAt(event, "reportingInstance"));
  return instance === "" ? component : `${component}, ${instance}`;
}

/** events.k8s.io calls the same things by other names; both are printed from the core form. */
const coreEvent = (event: ApiObject): ApiObject =>
  event.regarding === undefined
    ? event
    : ({
        ...event,
        involvedObject: event.regarding,
        message: event.note,
        source: event.deprecatedSource,
        count: event.deprecatedCount,
        firstTimestamp: event.deprecatedFirstTimestamp,
        lastTimestamp: event.deprecatedLastTimestamp,
        reportingComponent: event.reportingController,
      } as ApiObject);

const onCore =
  (cell: Column["cell"]): Column["cell"] =>
  (event, now) =>
    cell(coreEvent(event), now);

const eventColumns: readonly Column[] = [
  column("Last Seen", onCore(lastSeen)),
  column("Type", (event) => textAt(event, "type")),
  column("Reason", (event) => textAt(event, "reason")),
  column("Object", onCore(eventObject)),
  wide(
    "Subobject",
    onCore((event) => textAt(event, "involvedObject", "fieldPath")),
  ),
  wide("Source", onCore(eventSource)),
  column(
    "Message",
    onCore((event) => textAt(event, "message").trim()),
  ),
  wide("First Seen", onCore(firstSeen)),
  wide("Count", onCore(eventCount)),
  column("Name", ({ metadata }) => metadata.name ?? "", { wide: true, format: "name" }),
];

const subjectsOf = (binding: ApiObject, kind: string): string =>
  listAt(binding, "subjects")
    .filter((subject) => textAt(subject, "kind") === kind)
    .map((subject) =>
      kind === "ServiceAccount"
        ? `${textAt(subject, "namespace")}/${textAt(subject, "name")}`
        : textAt(subject, "name"),
    )
    .join(", ");

const bindingColumns: readonly Column[] = [
  nameColumn,
  column("Role", (binding) => `${textAt(binding, "roleRef", "kind")}/${textAt(binding, "roleRef", "name")}`),
  ageColumn,
  wide("Users", (binding) => subjectsOf(binding, "User")),
  wide("Groups", (binding) => subjectsOf(binding, "Group")),
  wide("ServiceAccounts", (binding) => subjectsOf(binding, "ServiceAccount")),
];

const webhookColumns: readonly Column[] = [
  nameColumn,
  count("Webhooks", (configuration) => sizeAt(configuration, "webhooks")),
  ageColumn,
];

export const coreColumns: Readonly<Record<string, readonly Column[]>> = {
  "/Namespace": [nameColumn, column("Status", (namespace) => textAt(namespace, "status", "phase")), ageColumn],
  "/Node": [
    nameColumn,
    column("Status", nodeStatus),
    column("Roles", nodeRoles),
    ageColumn,
    column("Version", (node) => nodeInfo(node, "kubeletVersion")),
    wide("Internal-IP", (node) => nodeAddress(node, "InternalIP")),
    wide("External-IP", (node) => nodeAddress(node, "ExternalIP")),
    wide("OS-Image", (node) => or(nodeInfo(node, "osImage"), "<unknown>")),
    wide("Kernel-Version", kernel),
    wide("Container-Runtime", (node) => or(nodeInfo(node, "containerRuntimeVersion"), "<unknown>")),
  ],
  "/Service": [
    nameColumn,
    column("Type", (service) => textAt(service, "spec", "type")),
    column("Cluster-IP", (service) => String(listAt(service, "spec", "clusterIPs")[0] ?? "<none>")),
    column("External-IP", externalAddress),
    column("Port(s)", (service) => or(listAt(service, "spec", "ports").map(portText).join(","), "<none>")),
    ageColumn,
    wide("Selector", (service) =>
      labelsText(service.spec && isObject(service.spec) ? service.spec.selector : undefined),
    ),
  ],
  "/ConfigMap": [nameColumn, column("Data", (map) => sizeAt(map, "data") + sizeAt(map, "binaryData")), ageColumn],
  "/Secret": [
    nameColumn,
    column("Type", (secret) => textAt(secret, "type")),
    column("Data", (secret) => sizeAt(secret, "data")),
    ageColumn,
  ],
  "/ServiceAccount": [nameColumn, ageColumn],
  "/Event": eventColumns,
  "events.k8s.io/Event": eventColumns,
  "coordination.k8s.io/Lease": [
    nameColumn,
    column("Holder", (lease) => textAt(lease, "spec", "holderIdentity")),
    ageColumn,
  ],
  "rbac.authorization.k8s.io/RoleBinding": bindingColumns,
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingColumns,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhookColumns,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhookColumns,
};
