/** Defaults of what nobody sends: a status is dropped from what is created, and a schema may get its defaults later. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, patch, remove, replace, type Script, script, watch } from "../script.ts";
import { aDefinition, definitions, install } from "./custom.ts";

const gauges = "/apis/schema.example.com/v1/namespaces/$NS/gauges";
const name = "gauges.schema.example.com";
const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

const schema = (extras: { status?: JsonObject; spec?: JsonObject } = {}): JsonObject => ({
  type: "object",
  properties: {
    spec: { type: "object", properties: { unit: { type: "string", ...extras.spec } } },
    status: {
      type: "object",
      default: {},
      properties: { ready: { type: "boolean", default: false }, note: { type: "string" } },
      ...extras.status,
    },
  },
});

const version = {
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: "Ready", type: "boolean", jsonPath: ".status.ready" }],
};
const definition = aDefinition({ plural: "gauges", kind: "Gauge", schema: schema(), version });

const aGauge = (more: JsonObject = {}): JsonObject => ({
  apiVersion: "schema.example.com/v1",
  kind: "Gauge",
  metadata: { name: "g" },
  spec: {},
  ...more,
});

export const defaultScripts: readonly Script[] = [
  script(
    "a definition whose status has a default is established",
    ...install(definition, "/apis/schema.example.com/v1/gauges"),
  ),
  script(
    "a default of the status is shown from the first moment",
    create(`${gauges}?dryRun=All`, aGauge()),
    create(gauges, aGauge({ status: { ready: true, note: "mine" } }), { managedFields: true }),
    get(`${gauges}/g`),
    get(`${gauges}/g/status`),
    get(gauges),
    get(`${gauges}/g`, { accept: table }),
    get(gauges, { accept: table }),
    watch(gauges, "resourceVersion=0"),
  ),
  script(
    "a default of the status stays under writes of anything else",
    create(gauges, aGauge()),
    patch("merge", `${gauges}/g`, {}),
    patch("merge", `${gauges}/g`, { metadata: { labels: { a: "b" } } }, { managedFields: true }),
    patch("merge", `${gauges}/g`, { spec: { unit: "m" }, status: { ready: true } }),
    replace(`${gauges}/g`, aGauge()),
    remove(`${gauges}/g`),
  ),
  script(
    "a default of the status gives way to a write of it, and comes back",
    create(gauges, aGauge()),
    patch("merge", `${gauges}/g/status`, { status: { note: "on" } }, { managedFields: true }),
    patch("json", `${gauges}/g/status`, [{ op: "replace", path: "/status/ready", value: true }]),
    patch("merge", `${gauges}/g/status`, { status: { ready: null } }),
    patch("merge", `${gauges}/g/status`, { status: null }, { managedFields: true }),
    patch("json", `${gauges}/g/status`, [{ op: "remove", path: "/status" }]),
    remove(`${gauges}/g`),
  ),
  script(
    "a default that a schema got later is shown on what was stored before",
    create(gauges, aGauge()),
    patch("merge", `${definitions}/${name}`, {
      spec: {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema({ spec: { default: "m" } }) },
            ...version,
          },
        ],
      },
    }),
    get(`${gauges}/g`, { until: ({ spec }) => (spec as JsonObject).unit !== undefined }),
    get(gauges, { until: (_, status) => status === 200 }),
    patch("merge", `${gauges}/g`, { metadata: { labels: { a: "b" } } }, { managedFields: true }),
    remove(`${gauges}/g`),
  ),
];
