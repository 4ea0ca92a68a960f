/** The values of the Helm chart: one row each gives values.yaml, values.schema.json and the reference. */
import { stringify } from "yaml";
import type { ComponentRow } from "../../api/manifests/component.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";

import { admissionModes } from "./admission.ts";

export interface ValueRow {
  /** Keys with dots between them. */
  readonly path: string;
  readonly default: JsonValue;
  readonly schema: JsonObject;
  readonly help: string;
}

/** The key of a component: snapshot-controller → snapshotController. */
export const keyOf = ({ name }: Pick<ComponentRow, "name">): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const text = { type: "string" };
const bool = { type: "boolean" };
const anyObject = { type: "object" };

export function valueRows(rows: readonly ComponentRow[]): readonly ValueRow[] {
  return [
    { path: "image.repository", default: "snapkeep", schema: { ...text, minLength: 1 }, help: "Image without a tag." },
    { path: "image.tag", default: "", schema: text, help: "Empty: the version of the chart." },
    {
      path: "image.pullPolicy",
      default: "IfNotPresent",
      schema: { enum: ["Always", "IfNotPresent", "Never"] },
      help: "When nodes pull the image.",
    },
    {
      path: "image.pullSecrets",
      default: [],
      schema: { type: "array" },
      help: "Secrets of the registry, as [{name: …}].",
    },
    {
      path: "driverNamespace",
      default: "",
      schema: text,
      help: "Namespace of drivers, whose pods are privileged; the chart creates it. Empty: the release's namespace with -drivers.",
    },
    {
      path: "kubeletDir",
      default: "/var/lib/kubelet",
      schema: { ...text, pattern: "^/" },
      help: "The kubelet's folder on the nodes.",
    },
    {
      path: "admission",
      default: "webhook",
      schema: { enum: [...admissionModes] },
      help: "Who enforces the rules for snapshots: webhook, policies (the API server itself; the webhook is not installed), or both.",
    },
    {
      path: "monitoring.enabled",
      default: false,
      schema: bool,
      help: "Create ServiceMonitors and PrometheusRules; needs the Prometheus operator.",
    },
    {
      path: "monitoring.dashboard",
      default: false,
      schema: bool,
      help: "Create a ConfigMap with the Grafana dashboard.",
    },
    ...rows.flatMap(componentValues),
  ];
}

function componentValues(row: ComponentRow): readonly ValueRow[] {
  const key = keyOf(row);
  const { runs, containers } = row.workload;
  const [memory, memoryMax] = containers[0].memory;
  return [
    { path: `${key}.enabled`, default: row.isDefault, schema: bool, help: row.summary },
    ...(runs.kind === "replicas"
      ? [
          {
            path: `${key}.replicas`,
            default: runs.count,
            schema: { type: "integer", minimum: 0 },
            help: "Number of pods.",
          },
        ]
      : []),
    {
      path: `${key}.resources`,
      default: { requests: { cpu: "50m", memory }, limits: { memory: memoryMax } },
      schema: anyObject,
      help: "Requests and limits of its first container; docs/bench.md has the measurements.",
    },
    {
      path: `${key}.extraArgs`,
      default: [],
      schema: { type: "array", items: text },
      help: "More flags; docs/reference/flags.md lists them.",
    },
    { path: `${key}.nodeSelector`, default: {}, schema: anyObject, help: "Labels of the nodes that pods may run on." },
    { path: `${key}.tolerations`, default: [], schema: { type: "array" }, help: "Taints of nodes that pods tolerate." },
    ...(row.certificateSecret === undefined
      ? []
      : [
          {
            path: `${key}.failurePolicy`,
            default: "Ignore",
            schema: { enum: ["Ignore", "Fail"] },
            help: "Of the configuration for snapshots. Set Fail when the webhook is known to answer.",
          },
          {
            path: `${key}.claims`,
            default: false,
            schema: bool,
            help: "Also check the data sources of claims: such claims are refused while the webhook is down.",
          },
        ]),
  ];
}

function nested(rows: readonly ValueRow[], valueFor: (row: ValueRow) => JsonValue): JsonObject {
  const root: Record<string, JsonValue> = {};
  for (const row of rows) {
    const keys = row.path.split(".");
    const last = keys.pop() ?? "";
    let place = root;
    for (const key of keys) {
      place[key] ??= {};
      place = place[key] as Record<string, JsonValue>;
    }
    place[last] = valueFor(row);
  }
  return root;
}

export function schemaText(rows: readonly ValueRow[]): string {
  const close = (tree: JsonObject): JsonObject => ({
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(tree).map(([key, value]) => {
        const row = rows.find(({ path }) => path.endsWith(key) && isLeaf(value));
        return [key, row === undefined ? close(value as JsonObject) : (value as JsonObject)];
      }),
    ),
  });
  const marked = nested(rows, ({ schema, help }) => ({ ...schema, description: help }));
  const root = close(marked);
  const properties = { ...(root.properties as JsonObject), global: { type: "object" } };
  return `${JSON.stringify({ $schema: "http://json-schema.org/draft-07/schema#", ...root, properties }, undefined, 2)}\n`;
}

const isLeaf = (value: JsonValue | undefined): boolean =>
  typeof value === "object" && value !== null && "description" in value;

/** With each row's help above it. */
export function valuesText(rows: readonly ValueRow[]): string {
  const lines = stringify(nested(rows, (row) => row.default)).split("\n");
  const stack: string[] = [];
  const helps = new Map(rows.map(({ path, help }) => [path, help]));
  const documented = lines.flatMap((line) => {
    const [, indent = "", key] = /^( *)([\w]+):/.exec(line) ?? [];
    if (key === undefined) return [line];
    stack.length = indent.length / 2;
    stack.push(key);
    const help = helps.get(stack.join("."));
    return help === undefined ? [line] : [`${indent}# ${help}`, line];
  });
  return documented.join("\n");
}
