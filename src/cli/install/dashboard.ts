/** The Grafana dashboard: the panels of all components, two in a row. */
import type { ComponentRow } from "../../api/manifests/component.ts";
import type { PanelRow } from "../../api/manifests/monitoring.ts";

const [width, height] = [12, 8];
const source = { type: "prometheus", uid: "${datasource}" };

export function dashboard(rows: readonly ComponentRow[]) {
  const panels = rows.flatMap(({ panels: own }) => own);
  return {
    uid: "snapkeep",
    title: "snapkeep: volume snapshots",
    tags: ["kubernetes", "storage", "snapshots"],
    timezone: "browser",
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: { list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }] },
    panels: panels.map(panelObject),
  };
}

const panelObject = ({ title, unit, queries }: PanelRow, index: number) => ({
  id: index + 1,
  title,
  type: "timeseries",
  datasource: source,
  gridPos: { x: (index % 2) * width, y: Math.floor(index / 2) * height, w: width, h: height },
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  targets: queries.map(({ expression, legend }, at) => ({
    refId: String.fromCharCode("A".charCodeAt(0) + at),
    datasource: source,
    expr: expression,
    legendFormat: legend,
  })),
});
