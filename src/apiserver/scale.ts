/** The /scale subresource: one number and a selector of any kind that says where it keeps them. */
import { clone, isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ApiObject, Metadata, Resource } from "./contracts.ts";
import { compilePath } from "./json-path.ts";

/** Scale itself, as far as decoding needs it. */
export const scaleResource: Resource = {
  group: "autoscaling",
  version: "v1",
  kind: "Scale",
  listKind: "ScaleList",
  plural: "scales",
  singular: "scale",
  scope: "namespace",
  shortNames: [],
  categories: [],
  verbs: ["get", "patch", "update"],
  subresources: {},
  collection: "",
  storedAs: "autoscaling/v1",
  shape: () => undefined,
  columns: [],
  strategy: {},
};

function valueAt(object: ApiObject, path: string | undefined): JsonValue | undefined {
  return path === undefined ? undefined : compilePath(path)?.(object)[0];
}

const numberOr0 = (value: JsonValue | undefined): number => (typeof value === "number" ? value : 0);

export function scaleFrom({ scale }: Resource, object: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = valueAt(object, scale?.labelSelector);
  const text = isObject(selector) ? selectorText(selector) : typeof selector === "string" ? selector : undefined;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: { replicas: numberOr0(valueAt(object, scale?.specReplicas)) },
    status: {
      replicas: numberOr0(valueAt(object, scale?.statusReplicas)),
      ...(text === undefined || text === "" ? {} : { selector: text }),
    },
  };
}

const defined = (object: JsonObject): Metadata =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** matchLabels and matchExpressions as they would stand in a query; a bare map is matchLabels. */
export function selectorText(selector: JsonObject): string {
  const labels = isObject(selector.matchLabels) ? selector.matchLabels : "matchExpressions" in selector ? {} : selector;
  const expressions = Array.isArray(selector.matchExpressions) ? selector.matchExpressions : [];
  const parts = [
    ...Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`),
    ...expressions.flatMap((expression) => (isObject(expression) ? [expressionText(expression)] : [])),
  ];
  return parts.sort().join(",");
}

function expressionText({ key, operator, values }: JsonObject): string {
  const list = Array.isArray(values) ? values.map(String).sort().join(",") : "";
  if (operator === "Exists") return String(key);
  if (operator === "DoesNotExist") return `!${String(key)}`;
  return `${String(key)} ${operator === "NotIn" ? "notin" : "in"} (${list})`;
}

/** The object with the replicas of a Scale written into it, guarded by the Scale's version. */
export function objectFromScale({ scale }: Resource, object: ApiObject, wanted: ApiObject): ApiObject {
  const copy = clone(object);
  const parts = (scale?.specReplicas ?? "").split(".").filter((part) => part !== "");
  const last = parts.pop();
  let holder: JsonObject = copy;
  for (const part of parts) {
    const next = holder[part];
    const inner = isObject(next) ? next : {};
    holder[part] = inner;
    holder = inner;
  }
  if (last !== undefined) holder[last] = isObject(wanted.spec) ? (wanted.spec.replicas ?? 0) : 0;
  const { resourceVersion } = wanted.metadata;
  if (resourceVersion !== undefined) copy.metadata.resourceVersion = resourceVersion;
  return copy;
}
