/** The manifests of shared resources, as the requirement document asks for them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import { sharedResourceCrds } from "../api/crds/shared-resource.ts";
import { componentRows } from "../api/manifests/rows.ts";
import { shareConfiguration } from "../api/manifests/webhook-configurations.ts";
import { shareConditions } from "../api/names.ts";
import { allowListSources, shareKinds } from "../api/share-lists.ts";
import { besideVolumesMiB, mebibyte } from "../api/share-memory.ts";
import { parseQuantity, type Quantity, wholeUnits } from "../base/quantity.ts";
import { fittingLimits } from "../components/shared-resource/node/plan-memory.ts";
import { podMakers } from "../rules/pod-specs.ts";
import { command } from "./commands/shared-resource.ts";
import { deployFiles, installationOf } from "./deploy.ts";
import { planFor } from "./install/selection.ts";

const installation = installationOf("1.2.3");
const objects = Object.entries(deployFiles(installation))
  .filter(([path]) => path.endsWith(".yaml") && !path.startsWith("helm/"))
  .flatMap(([path, text]) => parseAllDocuments(text).map((document) => ({ path, object: document.toJS() })))
  .filter(({ object }) => object !== null);
const named = (kind: string, name: string) =>
  objects.filter(({ object }) => object.kind === kind && object.metadata?.name === name).map(({ object }) => object);

test("the memory limit of the driver's container holds what the defaults of its flags allow, and not much more", () => {
  const [daemonSet] = named("DaemonSet", "shared-resource-csi-driver-node");
  const [{ resources, args }] = daemonSet.spec.template.spec.containers;
  assert.ok(!args.some((arg: string) => arg.includes("-memory=")), "the flags have their defaults");
  const bytesOf = (given: Quantity): number => Number(wholeUnits(given));
  const defaultOf = (flag: string): number => bytesOf(command.flags[flag]?.default as Quantity);
  const limits = {
    volumeBytes: defaultOf("volumeMemory"),
    namespaceBytes: defaultOf("namespaceMemory"),
    nodeBytes: defaultOf("nodeMemory"),
  };
  const containerBytes = bytesOf(parseQuantity(resources.limits.memory));
  const besideBytes = besideVolumesMiB(limits.volumeBytes / mebibyte) * mebibyte;
  assert.deepEqual(fittingLimits(limits, { containerBytes, besideBytes }), limits);
  assert.ok(containerBytes - limits.nodeBytes - besideBytes < 64 * mebibyte);
});

const [configuration] = named("ValidatingWebhookConfiguration", "validation.webhook.csidriversharedresource");
const [webhook] = configuration.webhooks;

test("R26, R29, R30: the selector has the three expressions of the document, and no other", () =>
  assert.deepEqual(webhook.namespaceSelector, {
    matchExpressions: [
      { key: "runlevel", operator: "NotIn", values: ["0", "1"] },
      { key: "openshift.io/run-level", operator: "NotIn", values: ["0", "1"] },
      { key: "csi.sharedresource.openshift.io/skip-validation", operator: "NotIn", values: ["true"] },
    ],
  }));

test("R27, R28, R68: the webhook has the name that alerts of the API server know, and failurePolicy Ignore", () => {
  assert.equal(configuration.webhooks.length, 1);
  assert.equal(webhook.name, "pod.csi.sharedresource.openshift.io");
  assert.equal(webhook.failurePolicy, "Ignore");
  assert.equal(webhook.clientConfig.service.path, "/resource-validation");
});

interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

test("R21, R32, R33: every kind that makes pods is in a rule, pods for CREATE only, all others for UPDATE too", () => {
  const rules = webhook.rules as readonly Rule[];
  for (const { kind, group, plural } of podMakers) {
    const matching = rules.filter(
      ({ apiGroups, resources }) => apiGroups.includes(group) && resources.includes(plural),
    );
    assert.equal(matching.length, 1, kind);
    for (const { operations, apiVersions, scope } of matching) {
      assert.deepEqual(operations, kind === "Pod" ? ["CREATE"] : ["CREATE", "UPDATE"]);
      assert.ok(apiVersions.includes("v1"));
      assert.equal(scope, "*");
    }
  }
  assert.deepEqual(rules.find(({ apiGroups }) => apiGroups.includes("apps"))?.apiVersions, ["v1", "v1beta1"]);
});

test("R85: no mutating webhook has anything to do with shares or pods", () => {
  const mutating = objects.filter(({ object }) => object.kind === "MutatingWebhookConfiguration");
  for (const { object } of mutating) assert.doesNotMatch(JSON.stringify(object), /sharedresource|"pods"|"deployments"/);
});

test("R30: the namespaces of webhook and driver carry the label that exempts them", () => {
  const namespaces = objects.filter(({ object }) => object.kind === "Namespace").map(({ object }) => object);
  assert.ok(namespaces.length >= 2);
  for (const { metadata } of namespaces)
    assert.equal(metadata.labels["csi.sharedresource.openshift.io/skip-validation"], "true");
});

test("R13, R18: the lists are installed as ConfigMaps of the webhook's namespace, with the entitlement as their only entry", () => {
  const lists = shareKinds.flatMap((kind) => named("ConfigMap", allowListSources[kind].configMap));
  assert.deepEqual(
    lists.map(({ metadata, data }) => [metadata.name, metadata.namespace, data]),
    [
      [
        "ocp-sharedsecret-list",
        installation.namespace,
        { "openshift-etc-pki-entitlement": "openshift-config-managed:etc-pki-entitlement" },
      ],
      ["ocp-sharedconfigmap-list", installation.namespace, {}],
    ],
  );
});

test("R9: driver, controller and webhook are rows of one table, from images of one version", () => {
  const rows = componentRows.filter(({ name }) => /^(shared-resource.*|webhook)$/.test(name));
  assert.deepEqual(rows.map(({ name }) => name).sort(), ["shared-resource", "shared-resource-controller", "webhook"]);
  const images = ["shared-resource-csi-driver-node", "shared-resource-controller", "snapshot-validation-deployment"]
    .flatMap((name) => [...named("Deployment", name), ...named("DaemonSet", name)])
    .flatMap(({ spec }) => spec?.template?.spec?.containers?.map(({ image }: { image?: string }) => image) ?? [])
    .filter((image) => image !== undefined);
  assert.ok(images.length >= 3);
  for (const image of images) assert.match(image, /:1\.2\.3(-driver)?$/);
});

test("the driver serves metrics over TLS where the replaced one does, with the certificate that OpenShift makes", () => {
  const [service] = named("Service", "shared-resource-csi-driver-node-metrics");
  const secret = "shared-resource-csi-driver-node-metrics-serving-cert";
  assert.equal(service.metadata.annotations["service.beta.openshift.io/serving-cert-secret-name"], secret);
  const port = service.spec.ports.find((each: { port: number }) => each.port === 443);
  assert.equal(port.targetPort, "provisioner-m");
  const [{ spec }] = named("DaemonSet", "shared-resource-csi-driver-node").map((found) => found.spec.template);
  const [container] = spec.containers;
  assert.ok(
    container.ports.some((each: object) => isDeepStrictEqual(each, { name: "provisioner-m", containerPort: 6000 })),
  );
  const volume = spec.volumes.find((each: { secret?: object }) => each.secret !== undefined);
  assert.deepEqual(volume.secret, { secretName: secret, optional: true });
  const mount = container.volumeMounts.find((each: { name: string }) => each.name === volume.name);
  assert.equal(mount.mountPath, "/etc/secrets");
  assert.ok(container.args.includes("--tls-cert-file=/etc/secrets/tls.crt"));
});

test("R86: no component may write webhook configurations, but those of the webhook's own where it renews its certificate", () => {
  const writers = componentRows
    .flatMap((row) => [...row.clusterRules, ...row.namespaceRules].map((right) => ({ name: row.name, right })))
    .filter(({ right: { resources = [], verbs } }) => {
      const isWriting = verbs.some((verb) => !["get", "list", "watch"].includes(verb));
      return isWriting && resources.some((resource) => /webhookconfigurations$|^\*$/.test(resource));
    });
  const always = writers.filter(({ right }) => right.forRenewal !== true);
  assert.deepEqual(always, []);
  for (const { name, right } of writers)
    assert.deepEqual([name, (right.resourceNames ?? []).length > 0], ["webhook", true]);
});

test("R57: the configuration for shares is installed where the webhook and one of the components of shares are", () => {
  const has = (...names: readonly string[]): boolean =>
    planFor(names, installation).objects.some(({ metadata }) => metadata.name === configuration.metadata.name);
  assert.deepEqual(
    [
      has("webhook"),
      has("shared-resource"),
      has("webhook", "shared-resource"),
      has("webhook", "shared-resource-controller"),
    ],
    [false, false, true, true],
  );
});

test("R56: the API is v1alpha1, and OpenShift admits the driver's volumes in restricted namespaces", () => {
  for (const { spec } of sharedResourceCrds())
    assert.deepEqual(
      spec?.versions.map(({ name }) => name),
      ["v1alpha1"],
    );
  const [driver] = named("CSIDriver", "csi.sharedresource.openshift.io");
  assert.equal(driver.metadata.labels["security.openshift.io/csi-ephemeral-volume-profile"], "restricted");
  assert.deepEqual(driver.spec.volumeLifecycleModes, ["Ephemeral"]);
});

test("R34: Available and Ready are constants, and the schema says who writes them", () => {
  assert.deepEqual(shareConditions, { available: "Available", ready: "Ready" });
  const schema = JSON.stringify(sharedResourceCrds());
  for (const type of Object.values(shareConditions)) assert.match(schema, new RegExp(`${type}(: | by )`));
});

test("the configuration for tests and for clusters is the same but for its client", () => {
  const place = { client: { url: "https://127.0.0.1" } };
  const [local] = shareConfiguration(place).webhooks as unknown as [typeof webhook];
  assert.deepEqual({ ...local, clientConfig: undefined }, { ...webhook, clientConfig: undefined });
});
