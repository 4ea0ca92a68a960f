/** The Helm chart: the objects of the rows, with the chart's values in place of what an installation chooses. */
import { stringify } from "yaml";
import type { Addition, ComponentRow, Installation, ManifestObject } from "../../api/manifests/component.ts";
import { object } from "../../api/manifests/component.ts";
import { crdObjects, manifestFiles, monitoringObjects, namespaceObjects } from "../../api/manifests/objects.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { policyObjects, shareComponents } from "./admission.ts";
import { keyOf, schemaText, valueRows, valuesText } from "./chart-values.ts";
import { dashboard } from "./dashboard.ts";

const tag = "{{ .Values.image.tag | default .Chart.AppVersion }}";
const driverNamespace = '{{ .Values.driverNamespace | default (printf "%s-drivers" .Release.Namespace) }}';

/** Path below deploy/helm/snapkeep → text. */
export function chartFiles(rows: readonly ComponentRow[], version: string): Readonly<Record<string, string>> {
  const installation: Installation = {
    version,
    namespace: "{{ .Release.Namespace }}",
    driverNamespace,
    image: `{{ .Values.image.repository }}:${tag}`,
    driverImage: `{{ .Values.image.repository }}:${tag}-driver`,
    certificates: "self",
    kubeletFolder: "{{ .Values.kubeletDir }}",
  };
  const values = valueRows(rows);
  return {
    "Chart.yaml": chartYaml(version),
    "values.yaml": `${generated}${valuesText(values)}`,
    "values.schema.json": schemaText(values),
    "templates/NOTES.txt": notes(rows),
    ...Object.fromEntries(crdObjects(rows, { version }).map((crd) => [`crds/${crd.metadata.name}.yaml`, yaml(crd)])),
    ...Object.fromEntries(rows.map((row) => [`templates/${row.name}.yaml`, template(row, installation)])),
    "templates/admission-policies.yaml": policiesTemplate(installation),
    "templates/namespace.yaml": namespaceTemplate(rows, installation),
    "templates/dashboard.yaml": dashboardTemplate,
    "files/dashboard.json": `${JSON.stringify(dashboard(rows), undefined, 2)}\n`,
  };
}

const generated = "# Written by `npm run docs` from src/api/manifests; change those.\n";
const yaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });

const chartYaml = (version: string): string =>
  `${generated}${yaml({
    apiVersion: "v2",
    name: "snapkeep",
    description: "Takes, protects, restores and deletes CSI volume snapshots in Kubernetes.",
    type: "application",
    version,
    appVersion: version,
    kubeVersion: ">=1.30.0-0",
  })}`;

/** A template action that stands where a YAML value does; its quotes are removed after printing. */
const action = (text: string): string => `@@${text}@@`;

function printed(objects: readonly ManifestObject[]): string {
  return objects
    .map((item) => `---\n${yaml(item)}`)
    .join("")
    .replace(/^( *)- "?@@more (.*?)@@"?$/gm, (_, indent: string, path: string) =>
      [`{{- with ${path} }}`, `{{- toYaml . | nindent ${indent.length} }}`, "{{- end }}"].join("\n"),
    )
    .replace(/^( *)([\w]+): "?@@yaml (.*?)@@"?$/gm, (_, indent: string, key: string, path: string) =>
      [`{{- with ${path} }}`, `${indent}${key}:`, `{{- toYaml . | nindent ${indent.length + 2} }}`, "{{- end }}"].join(
        "\n",
      ),
    )
    .replace(/"?@@(.*?)@@"?/g, (_, text: string) => `{{ ${text.replaceAll('\\"', '"')} }}`)
    .replace(
      /: "(.*\{\{.*\}\}.*)"$/gm,
      (_, text: string) => `: ${text.includes('\\"') ? `'${text.replaceAll('\\"', '"')}'` : `"${text}"`}`,
    );
}

function template(row: ComponentRow, installation: Installation): string {
  const key = keyOf(row);
  const objects = manifestFiles(row, installation).flatMap((file) => file.objects);
  const additions = row.additions(installation).flatMap((addition) => {
    const condition = conditionOf(addition, key);
    return condition === undefined ? [] : [{ ...addition, condition }];
  });
  const parts = [
    `{{- if ${isInstalled(row)} }}\n`,
    row.certificateSecret === undefined ? "" : certificatePrelude(row),
    printed([...certificateObjects(row, installation), ...objects.map((item) => withValues(item, key))]),
    ...additions.map(
      ({ condition, files = [] }) =>
        `{{- if ${condition} }}\n${printed(files.flatMap((file) => file.objects.map((item) => withValues(item, key))))}{{- end }}\n`,
    ),
    `{{- if .Values.monitoring.enabled }}\n${printed(monitoringObjects(row, installation).map(withTemplatesKept))}{{- end }}\n`,
    "{{- end }}\n",
  ];
  return `${generated}${parts.join("")}`;
}

/** Only the webhook has a certificate: policies do without it. */
const isInstalled = (row: ComponentRow): string =>
  row.certificateSecret === undefined
    ? `.Values.${keyOf(row)}.enabled`
    : `and .Values.${keyOf(row)}.enabled (ne .Values.admission "policies")`;

/** Prometheus fills in the labels of an alert, with templates that look like those of Helm. */
const withTemplatesKept = (item: ManifestObject): ManifestObject =>
  JSON.parse(JSON.stringify(item).replace(/\{\{ \$[^{}]* \}\}/g, (text) => action(`\`${text}\``)));

/** Undefined: the chart leaves it out. */
const conditionOf = ({ folder, neededBy }: Addition, key: string): string | undefined => {
  if (folder === "claims") return `.Values.${key}.claims`;
  return neededBy && `or ${neededBy.map((name) => `.Values.${keyOf({ name })}.enabled`).join(" ")}`;
};

function withValues(item: ManifestObject, key: string): ManifestObject {
  if (item.kind === "Deployment" || item.kind === "DaemonSet") return workloadWithValues(item, key);
  if (item.kind.endsWith("WebhookConfiguration")) return configurationWithValues(item, key);
  return item;
}

interface Workload {
  readonly spec: { readonly replicas?: number; readonly template: { readonly spec: JsonObject } };
}

function workloadWithValues(item: ManifestObject, key: string): ManifestObject {
  const { spec } = item as unknown as Workload;
  const pod = spec.template.spec;
  const strategy = (spec as unknown as { readonly strategy?: { readonly type: string } }).strategy?.type;
  const containers = (pod.containers as readonly JsonObject[]).map((container, index) => ({
    ...container,
    imagePullPolicy: action(".Values.image.pullPolicy"),
    ...(index > 0
      ? {}
      : {
          args: [...(container.args as readonly string[]), action(`more .Values.${key}.extraArgs`)],
          resources: action(`yaml .Values.${key}.resources`),
        }),
  }));
  const hasReplicas = spec.replicas !== undefined && strategy === "RollingUpdate";
  const podSpec = {
    ...pod,
    imagePullSecrets: action("yaml .Values.image.pullSecrets"),
    nodeSelector: action(`yaml .Values.${key}.nodeSelector`),
    ...(pod.tolerations === undefined ? { tolerations: action(`yaml .Values.${key}.tolerations`) } : {}),
    containers,
  };
  return {
    ...item,
    spec: {
      ...spec,
      ...(hasReplicas ? { replicas: action(`.Values.${key}.replicas`) } : {}),
      template: { ...spec.template, spec: podSpec },
    },
  } as ManifestObject;
}

function configurationWithValues(item: ManifestObject, key: string): ManifestObject {
  const { webhooks } = item as unknown as { readonly webhooks: readonly JsonObject[] };
  const filled = webhooks.map((webhook) => ({
    ...webhook,
    clientConfig: { ...(webhook.clientConfig as JsonObject), caBundle: action("$bundle") },
    // The policy of the others is fixed.
    ...(item.metadata.name === snapshotConfigurationName
      ? { failurePolicy: action(`.Values.${key}.failurePolicy`) }
      : {}),
  }));
  return { ...item, webhooks: filled } as ManifestObject;
}

/** Those of an earlier release stay; the webhook renews them in the same Secret, and trusts more than one authority meanwhile. */
function certificatePrelude({ certificateSecret: secret, service }: ComponentRow): string {
  const names = [`%s.%s.svc`, `%s.%s.svc.cluster.local`, `%s.%s`].map(
    (pattern) => `(printf "${pattern}" "${service?.name}" .Release.Namespace)`,
  );
  return `{{- $stored := (lookup "v1" "Secret" .Release.Namespace "${secret}").data | default dict }}
{{- $authority := index $stored "ca.crt" }}
{{- $authorityKey := index $stored "ca.key" }}
{{- $certificate := index $stored "tls.crt" }}
{{- $key := index $stored "tls.key" }}
{{- $others := list (index $stored "ca-next.crt") (index $stored "ca-previous.crt") }}
{{- if not $certificate }}
{{- $made := genCA "snapkeep webhook authority" 3650 }}
{{- $serving := genSignedCert "${service?.name}" nil (list ${names.join(" ")} "${service?.name}") 365 $made }}
{{- $authority = $made.Cert | b64enc }}
{{- $authorityKey = $made.Key | b64enc }}
{{- $certificate = $serving.Cert | b64enc }}
{{- $key = $serving.Key | b64enc }}
{{- end }}
{{- $bundle := printf "%s%s%s" (index $others 0 | default "" | b64dec) ($authority | default "" | b64dec) (index $others 1 | default "" | b64dec) | b64enc }}
`;
}

function certificateObjects(row: ComponentRow, { namespace }: Installation): readonly ManifestObject[] {
  if (row.certificateSecret === undefined) return [];
  const data = {
    "ca.crt": action("$authority"),
    "ca.key": action("$authorityKey"),
    "tls.crt": action("$certificate"),
    "tls.key": action("$key"),
  };
  const secret = { metadata: { name: row.certificateSecret, namespace }, type: "kubernetes.io/tls", data };
  return [object("v1", "Secret", secret)];
}

function namespaceTemplate(rows: readonly ComponentRow[], installation: Installation): string {
  const drivers = rows.filter(({ workload }) => workload.unrestricted !== undefined);
  const condition = drivers.map((row) => `.Values.${keyOf(row)}.enabled`).join(" ");
  return `${generated}{{- if or ${condition} false }}\n${printed(namespaceObjects(drivers, installation))}{{- end }}\n`;
}

function policiesTemplate({ namespace }: Installation): string {
  const parts = [
    `{{- if ne .Values.admission "webhook" }}\n${printed(policyObjects(namespace, ["snapshots", "guards"]))}`,
    `{{- if or ${shareComponents.map((name) => `.Values.${keyOf({ name })}.enabled`).join(" ")} }}\n`,
    `${printed(policyObjects(namespace, ["shares"]))}{{- end }}\n`,
    `{{- if and .Values.webhook.claims (eq .Values.admission "policies") }}\n`,
    `${printed(policyObjects(namespace, ["claims"]))}{{- end }}\n{{- end }}\n`,
  ];
  return `${generated}${parts.join("")}`;
}

const dashboardTemplate = `${generated}{{- if .Values.monitoring.dashboard }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: snapkeep-dashboard
  namespace: "{{ .Release.Namespace }}"
  labels:
    grafana_dashboard: "1"
data:
  snapkeep.json: |-
{{ .Files.Get "files/dashboard.json" | indent 4 }}
{{- end }}
`;

const notes = (
  rows: readonly ComponentRow[],
): string => `snapkeep {{ .Chart.AppVersion }} is installed in {{ .Release.Namespace }}:
${rows.map((row) => `{{- if ${isInstalled(row)} }}\n  - ${row.name}: ${row.summary}\n{{- end }}\n`).join("")}
See the pods:   kubectl get pods -A -l app.kubernetes.io/name=snapkeep
Check drift:    snapkeep install --check --namespace={{ .Release.Namespace }}
Enforce restricted pods in this namespace:
  kubectl label namespace {{ .Release.Namespace }} pod-security.kubernetes.io/enforce=restricted
CustomResourceDefinitions, snapshots and volumes stay when the release is uninstalled.
`;
