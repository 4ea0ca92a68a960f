/**
 * Mistakes of manifests that concern no rule of admission: fields that do not exist, webhook configurations that match nothing, and
 * entries of allow-lists. For whoever reads manifests.
 */
import { kindRows } from "../api/kinds.ts";
import { allowListSources } from "../api/share-lists.ts";
import { isObject, type JsonObject, type JsonValue, parse } from "../base/json.ts";
import { type ErrorCode, fix } from "../errors/codes.ts";
import { type FieldViolation, violationAt } from "./object-rules.ts";
import { entriesAt, memberAt } from "./pod-specs.ts";
import { allowListIn, dataOf } from "./share-allow-lists.ts";
import { textMember, valueAt, valueText } from "./values.ts";

export interface ManifestHint {
  readonly severity: "error" | "warning";
  readonly violation: FieldViolation;
}

type Hints = (object: JsonObject) => readonly ManifestHint[];

const hint = (
  code: ErrorCode,
  field: string,
  message: string,
  severity: ManifestHint["severity"] = "error",
): ManifestHint => ({ severity, violation: violationAt(code, field, message) });

/** "dataSourceRef2" of the requirement document, and the spellings that people confuse. */
const unknownSources: Hints = (claim) => {
  const spec = valueAt(claim, "spec");
  return Object.keys(isObject(spec) ? spec : {})
    .filter((name) => /^data_?-?source/i.test(name) && name !== "dataSource" && name !== "dataSourceRef")
    .map((name) =>
      hint(
        "SNAP-137",
        `spec.${name}`,
        `is not a field of claims, so that the volume would be empty; ${fix("SNAP-137", "dataSourceRef")}`,
      ),
    );
};

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const sourceFields = ["dataSource", "dataSourceRef"] as const;

/** A stored claim shows its lost source only in what remembers how it was written: kubectl's annotation, and the managed fields. */
const droppedSource: Hints = (claim) => {
  if (sourceFields.some((name) => valueAt(claim, `spec.${name}`) !== undefined)) return [];
  const written = parsed(memberAt(claim, ["metadata", "annotations", lastApplied]));
  const managed = entriesAt(claim, ["metadata", "managedFields"]).map((entry) =>
    memberAt(entry, ["fieldsV1", "f:spec"]),
  );
  const name = sourceFields.find(
    (field) =>
      isObject(memberAt(written, ["spec", field])) ||
      managed.some((fields) => isObject(fields) && Object.hasOwn(fields, `f:${field}`)),
  );
  if (name === undefined) return [];
  const kind = memberAt(written, ["spec", name, "kind"]);
  const was = kind === undefined ? "was set" : `was a ${valueText(kind)}`;
  return [
    hint(
      "SNAP-138",
      `spec.${name}`,
      `${was} when this claim was written, and the API server dropped it: the volume was created empty; ${fix("SNAP-138")}`,
      "warning",
    ),
  ];
};

function parsed(text: JsonValue | undefined): JsonValue | undefined {
  try {
    return typeof text === "string" ? parse(text) : undefined;
  } catch {
    return undefined;
  }
}

const workloads = ["deployment", "statefulset", "daemonset", "replicaset", "job", "cronjob", "service"];
/** Singular → plural, of what rules are written for most. */
const plurals: ReadonlyMap<string, string> = new Map([
  ...Object.values(kindRows).map(({ singular, plural }) => [singular, plural] as const),
  ...workloads.map((name) => [name, `${name}s`] as const),
]);
const snapshotGroup = "snapshot.storage.k8s.io";

const webhookRules: Hints = (configuration) =>
  entriesAt(configuration, ["webhooks"]).flatMap((webhook, index) => {
    if (!isObject(webhook)) return [];
    const field = `webhooks[${index}]`;
    return [
      ...entriesAt(webhook, ["rules"]).flatMap((rule, at) =>
        isObject(rule) ? ruleHints(rule, `${field}.rules[${at}]`) : [],
      ),
      ...bundleHints(valueAt(webhook, "clientConfig.caBundle"), `${field}.clientConfig.caBundle`),
    ];
  });

function ruleHints(rule: JsonObject, field: string): readonly ManifestHint[] {
  const texts = (name: string): readonly JsonValue[] => entriesAt(rule, [name]);
  const empty = ["operations", "apiGroups", "apiVersions", "resources"]
    .filter((name) => texts(name).length === 0)
    .map((name) =>
      hint(
        "SNAP-141",
        `${field}.${name}`,
        `lists nothing, so that the rule matches nothing; ${name === "apiGroups" ? 'write [""] for the core group' : "list at least one"}`,
      ),
    );
  const singular = texts("resources").flatMap((name, index) => {
    const plural = typeof name === "string" ? plurals.get(name) : undefined;
    return plural === undefined || plural === name
      ? []
      : [
          hint(
            "SNAP-141",
            `${field}.resources[${index}]`,
            `is ${valueText(name)}, which no resource is called; write ${valueText(plural)}`,
          ),
        ];
  });
  const versions = texts("apiVersions");
  const misses =
    texts("apiGroups").includes(snapshotGroup) &&
    versions.length > 0 &&
    !versions.includes("v1") &&
    !versions.includes("*");
  return [
    ...empty,
    ...singular,
    ...(misses
      ? [
          hint(
            "SNAP-142",
            `${field}.apiVersions`,
            "does not list v1, the only version that today's CRDs serve; add v1",
            "warning",
          ),
        ]
      : []),
  ];
}

function bundleHints(bundle: JsonValue | undefined, field: string): readonly ManifestHint[] {
  const text = typeof bundle === "string" ? bundle.replaceAll(/\s/g, "") : "";
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
    ? []
    : [hint("SNAP-143", field, `is not base64; ${fix("SNAP-143")}`)];
}

/** An entry that cannot be read allows nothing, and the webhook says so only in its log. */
const allowListEntries: Hints = (configMap) => {
  const name = textMember(configMap, "metadata.name");
  if (!Object.values(allowListSources).some((source) => source.configMap === name)) return [];
  return allowListIn(dataOf(configMap)).skipped.map((reason) =>
    hint("SNAP-153", "data", `${reason}; the entry allows nothing`),
  );
};

const byKind: Readonly<Record<string, Hints>> = {
  "/PersistentVolumeClaim": (claim) => [...unknownSources(claim), ...droppedSource(claim)],
  "/ConfigMap": allowListEntries,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhookRules,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhookRules,
};

export function manifestHints(group: string, object: JsonObject): readonly ManifestHint[] {
  const key = `${group}/${String(object.kind ?? "")}`;
  return Object.hasOwn(byKind, key) ? (byKind[key]?.(object) ?? []) : [];
}
