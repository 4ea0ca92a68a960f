/** An object as it goes into a bundle: nothing in it that could be secret, nothing that only fills pages. Pure. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { redacted, redactText } from "../../base/redact.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Values of these variables are settings of our components; those of others are left out. */
const openVariables: ReadonlySet<string> = new Set([
  "KUBE_NODE_NAME",
  "NODE_NAME",
  "POD_NAMESPACE",
  "RESERVED_SHARED_SECRET_NAMES",
  "RESERVED_SHARED_CONFIGMAP_NAMES",
]);

/** The members that hold data of users. */
const dataMembers: readonly string[] = ["data", "stringData", "binaryData"];

export function bundleObject(object: JsonValue, { keepsData = false } = {}): JsonValue {
  if (!isObject(object)) return object;
  const { items, ...list } = object;
  if (Array.isArray(items)) return { ...list, items: items.map((item) => bundleObject(item, { keepsData })) };
  const kept = Object.fromEntries(
    Object.entries(object).filter(([name]) => keepsData || !dataMembers.includes(name)),
  ) as JsonObject;
  return cleaned({ ...kept, ...(isObject(object.metadata) ? { metadata: metadataOf(object.metadata) } : {}) });
}

/** The annotation repeats the whole object as it was written, data and all. */
function metadataOf({ managedFields: _dropped, annotations, ...metadata }: JsonObject): JsonObject {
  if (!isObject(annotations)) return metadata;
  const { [lastApplied]: _repeated, ...others } = annotations;
  return { ...metadata, annotations: others };
}

function cleaned(value: JsonValue): JsonValue {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "env" && Array.isArray(member) ? member.map(variable) : cleaned(member ?? null),
    ]),
  );
}

const variable = (value: JsonValue): JsonValue =>
  isObject(value) && typeof value.value === "string" && !openVariables.has(String(value.name))
    ? { ...value, value: redacted }
    : value;

/** Of a Secret: that it is there, and since when. */
export function secretSummary(secret: JsonValue): JsonObject {
  const { metadata } = isObject(secret) ? secret : {};
  const { name, namespace, creationTimestamp } = isObject(metadata) ? metadata : {};
  return { name: name ?? "", namespace: namespace ?? "", creationTimestamp: creationTimestamp ?? "" };
}
