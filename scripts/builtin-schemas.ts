/**
 * Writes src/apiserver/schema/builtin.generated.json: what Kubernetes' own kinds look like, as facts without prose.
 * Run by hand after a change of Kubernetes' version: `node scripts/builtin-schemas.ts`. It reads the OpenAPI
 * documents in the Go module k8s.io/kubernetes, and enumerations in k8s.io/api. What only the Go types say stands in src/schema/go.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describeDefinition, type OpenApiSchema } from "./builtin-schemas-describe.ts";
import { createEnums } from "./builtin-schemas-enums.ts";

const kubernetes = "v1.36.4";

/** Group version → kinds. What they refer to comes along by itself. */
const wanted: Readonly<Record<string, readonly string[]>> = {
  api__v1: [
    ...["Namespace", "Secret", "ConfigMap", "ServiceAccount", "Node", "Pod", "PersistentVolumeClaim"],
    ...["PersistentVolume", "Event", "Service", "ReplicationController", "Binding"],
  ],
  apis__apps__v1: ["Deployment", "DaemonSet", "StatefulSet", "ReplicaSet"],
  apis__batch__v1: ["Job", "CronJob"],
  "apis__coordination.k8s.io__v1": ["Lease"],
  "apis__events.k8s.io__v1": ["Event"],
  "apis__storage.k8s.io__v1": [
    ...["StorageClass", "CSIDriver", "CSINode", "VolumeAttachment", "CSIStorageCapacity", "VolumeAttributesClass"],
  ],
  "apis__rbac.authorization.k8s.io__v1": ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
  "apis__authorization.k8s.io__v1": [
    ...["SubjectAccessReview", "SelfSubjectAccessReview", "LocalSubjectAccessReview", "SelfSubjectRulesReview"],
  ],
  "apis__authentication.k8s.io__v1": ["TokenRequest", "TokenReview", "SelfSubjectReview"],
  "apis__admissionregistration.k8s.io__v1": ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"],
  "apis__apiextensions.k8s.io__v1": ["CustomResourceDefinition"],
  apis__autoscaling__v2: ["HorizontalPodAutoscaler"],
  apis__policy__v1: ["Eviction"],
};

const cache = execFileSync("go", ["env", "GOMODCACHE"], { encoding: "utf8" }).trim();
const specs = join(cache, `k8s.io/kubernetes@${kubernetes}/api/openapi-spec/v3`);

const enumOf = createEnums(cache, "v0.36.4");

const names: string[] = [];
const definitions: Record<string, unknown> = {};
const kinds: Record<string, string> = {};

const readSchemas = (file: string): Record<string, OpenApiSchema> =>
  (
    JSON.parse(readFileSync(join(specs, `${file}_openapi.json`), "utf8")) as {
      components: { schemas: Record<string, OpenApiSchema> };
    }
  ).components.schemas;

/** A kind that is only the body of a subresource stands in the document of the resource: those of core. */
const coreSchemas = readSchemas("api__v1");

for (const [file, kindNames] of Object.entries(wanted)) {
  const schemas = { ...coreSchemas, ...readSchemas(file) };
  const [group = "", version = "v1"] = file.startsWith("apis__") ? file.split("__").slice(1) : ["", "v1"];
  for (const kind of kindNames) {
    const found = Object.entries(schemas).find(([, schema]) =>
      schema["x-kubernetes-group-version-kind"]?.some(
        (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
      ),
    );
    if (found === undefined) throw new Error(`${file} has no ${kind}`);
    kinds[`${group}/${version}/${kind}`] = found[0];
    include(found[0], schemas);
  }
}

/** Bodies that are no kinds of their own. */
for (const name of ["ListMeta", "Status", "DeleteOptions"])
  include(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`, coreSchemas);

function include(name: string, schemas: Record<string, OpenApiSchema>): void {
  if (names.includes(name)) return;
  names.push(name);
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`${name} is referred to and missing`);
  const { definition, refers } = describeDefinition(schema, (field) => enumOf(name, field));
  definitions[name] = definition;
  for (const other of refers) include(other, schemas);
}

const sorted = Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1)));
const lines = Object.entries(sorted).map(
  ([name, definition]) => `${JSON.stringify(name)}:${JSON.stringify(definition)}`,
);
const out = resolve(import.meta.dirname, "../src/apiserver/schema/builtin.generated.json");
writeFileSync(
  out,
  `{"kubernetes":"${kubernetes}",\n"kinds":${JSON.stringify(kinds)},\n"definitions":{\n${lines.join(",\n")}\n}}\n`,
);
console.log(`${names.length} definitions of ${Object.keys(kinds).length} kinds written to ${out}`);
