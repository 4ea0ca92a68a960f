/** How a component is watched: ServiceMonitor and PrometheusRule of the Prometheus operator, and panels of the Grafana dashboard. */
import type { ComponentRow, Installation, ManifestObject } from "./component.ts";
import { labelsOf, namespaceOf } from "./component.ts";

export interface AlertRow {
  readonly name: string;
  readonly expression: string;
  /** How long the expression must hold, for example "15m". */
  readonly for: string;
  readonly severity: "info" | "warning" | "critical";
  readonly summary: string;
  /** What to do; printed with the alert and in the guide. */
  readonly remedy: string;
}

export interface PanelRow {
  readonly title: string;
  /** Grafana's unit: "s" seconds, "short" plain numbers, "reqps" per second, "bytes". */
  readonly unit: "s" | "short" | "reqps" | "bytes";
  readonly queries: readonly { readonly expression: string; readonly legend: string }[];
}

const group = "monitoring.coreos.com/v1";

export const metricsServiceName = ({ workload }: ComponentRow): string => `${workload.name}-metrics`;

export function serviceMonitor(row: ComponentRow, installation: Installation): ManifestObject {
  const endpoints = row.workload.containers.map(({ statusPort }) => ({ port: statusPort, path: "/metrics" }));
  return {
    apiVersion: group,
    kind: "ServiceMonitor",
    metadata: { name: row.workload.name, namespace: namespaceOf(row, installation), labels: labelsOf(row) },
    spec: {
      selector: { matchLabels: { ...labelsOf(row), "snapkeep.dev/service": "metrics" } },
      endpoints,
    },
  } as ManifestObject;
}

export function prometheusRule(row: ComponentRow, installation: Installation): readonly ManifestObject[] {
  if (row.alerts.length === 0) return [];
  const rule = {
    apiVersion: group,
    kind: "PrometheusRule",
    metadata: { name: row.workload.name, namespace: namespaceOf(row, installation), labels: labelsOf(row) },
    spec: { groups: [{ name: `snapkeep-${row.name}`, rules: row.alerts.map(alertingRule) }] },
  };
  return [rule];
}

export const alertingRule = (alert: AlertRow) => ({
  alert: alert.name,
  expr: alert.expression,
  for: alert.for,
  labels: { severity: alert.severity },
  annotations: {
    summary: alert.summary,
    description: alert.remedy,
    runbook: `docs/reference/alerts.md#${alert.name.toLowerCase()}`,
  },
});
