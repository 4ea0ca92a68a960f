import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../base/fault.ts";
import { isObject, type JsonValue } from "../../base/json.ts";
import { bundleObject } from "./bundle-object.ts";
import { gather } from "./collect.ts";
import { componentsIn } from "./components.ts";

const canary = "c4n4ry-s3cr3t";
const encoded = Buffer.from(canary).toString("base64");

const pod = (name: string, container: object, more: object = {}): JsonValue =>
  ({
    metadata: { name, namespace: "drivers", ...more },
    spec: { containers: [{ name: "main", ...container }] },
    status: { containerStatuses: [{ name: "main", restartCount: 1 }] },
  }) as JsonValue;

test("components are found by the label of our manifests, by their image, and by what they run", () => {
  const found = componentsIn({
    items: [
      pod("labelled", { image: "x" }, { labels: { "app.kubernetes.io/name": "snapkeep" } }),
      pod("by-image", { image: "registry.example/snapkeep:1.0", args: ["webhook", "--http-endpoint=:8080"] }),
      pod("by-command", { image: "node:24", command: ["node", "/snapkeep/snapkeep.js", "csi-snapshotter"] }),
      pod("other", { image: "registry.example/snapkeeper:1.0" }),
    ],
  });
  assert.deepEqual(
    found.map((component) => [component.pod, component.statusPort, component.hasPrevious]),
    [
      ["labelled", undefined, true],
      ["by-image", "8080", true],
      ["by-command", undefined, true],
    ],
  );
});

test("R11: data, earlier versions of an object, and values of foreign variables are not in a bundle", () => {
  const object = {
    metadata: {
      name: "x",
      managedFields: [{ manager: canary }],
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"data":"${encoded}"}`, kept: "yes" },
    },
    data: { password: encoded },
    stringData: { password: canary },
    binaryData: { password: encoded },
    spec: {
      containers: [
        {
          env: [
            { name: "PASSWORD", value: canary },
            { name: "RESERVED_SHARED_SECRET_NAMES", value: "a:b:c" },
          ],
        },
      ],
    },
  };
  const text = JSON.stringify([bundleObject(object, "Pod"), bundleObject({ items: [object] }, "Pod")]);
  assert.ok(!text.includes(canary) && !text.includes(encoded), text);
  assert.match(text, /"kept":"<redacted, 3 characters>".*a:b:c/);
});

/** One item per page, however many are wanted. */
function pageOf(answer: JsonValue, query: URLSearchParams): JsonValue {
  if (!isObject(answer) || !Array.isArray(answer.items) || !query.has("limit")) return answer;
  const from = Number(query.get("continue") ?? 0);
  const rest = answer.items.length - from - 1;
  const metadata = rest > 0 ? { continue: String(from + 1), remainingItemCount: rest } : {};
  return { ...answer, metadata, items: answer.items.slice(from, from + 1) };
}

/** Answers by path; whatever has no answer is not found, or denied where nothing but one namespace may be read. */
function bundleOf(
  answers: Readonly<Record<string, JsonValue>>,
  texts: Readonly<Record<string, string>>,
  {
    namespaces = [],
    denies = () => false,
  }: { namespaces?: readonly string[]; denies?: (path: string) => boolean } = {},
) {
  const files = new Map<string, string>();
  const asked: { path: string; accept: string | undefined }[] = [];
  const api = {
    getPath: async (path: string, { accept }: { accept?: string | undefined } = {}) => {
      asked.push({ path, accept });
      const [place = "", query] = path.split("?");
      const answer = answers[place];
      if (denies(place)) throw new Fault("PermissionDenied", `${place} is forbidden`);
      if (answer === undefined) throw new Fault("NotFound", `${path} not found`);
      return pageOf(answer, new URLSearchParams(query));
    },
    getText: async (path: string) => {
      const answer = texts[path];
      if (answer === undefined) throw new Fault("PermissionDenied", `${path} is forbidden`);
      return answer;
    },
  };
  const gathered = gather({
    api,
    namespaces,
    logLinesMax: 10,
    version: "1.2.3",
    signal: new AbortController().signal,
    write: async (file, text) => void files.set(file, text),
    progress: () => undefined,
  });
  return { gathered, files, asked };
}

test("R11: a bundle has objects, conditions, configurations, leases, settings, logs and metrics, and names what is missing", async () => {
  const log = "/api/v1/namespaces/drivers/pods/webhook/log?container=main&timestamps=true&tailLines=10";
  const { gathered, files, asked } = bundleOf(
    {
      "/api/v1/pods": {
        items: [pod("webhook", { image: "snapkeep:1", args: ["webhook", "--http-endpoint=:8080"] })],
      },
      "/apis/sharedresource.openshift.io/v1alpha1/sharedsecrets": {
        kind: "SharedSecretList",
        items: [
          {
            metadata: { name: "keys" },
            status: { conditions: [{ type: "Available", status: "False", reason: "ReferenceNotFound", message: "m" }] },
          },
          { metadata: { name: "second-page" } },
          { metadata: { name: "third-page" } },
        ],
      },
      "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": { items: [] },
      "/apis/coordination.k8s.io/v1/leases": { items: [] },
      "/api/v1/namespaces/drivers/configmaps/ocp-sharedsecret-list": { data: { "openshift-a": "n:x" } },
      "/api/v1/namespaces/drivers/secrets": {
        items: [{ metadata: { name: "certs", annotations: { x: canary } }, data: { key: encoded } }],
      },
    },
    {
      [log]: `started\nAuthorization: Bearer ${canary}${canary}\n`,
      [`${log}&previous=true`]: "failed\n",
      "/api/v1/namespaces/drivers/pods/webhook%3A8080/proxy/metrics": "metric_total 1\n",
    },
  );
  const { components, problems, notServed } = await gathered;
  const lists = asked.filter(({ path }) => !/\/(configmaps|customresourcedefinitions)\//.test(path));
  assert.ok(lists.every(({ path }) => path.includes("limit=500")));
  assert.equal(components.length, 1);
  const file = (name: string): string => files.get(name) ?? "";
  assert.equal(file("version.txt"), "snapkeep 1.2.3\n");
  assert.equal(file("conditions.txt"), "SharedSecret keys Available=False ReferenceNotFound: m\n");
  assert.match(file("objects/sharedsecrets.yaml"), /name: keys.*name: second-page.*name: third-page/s);
  assert.doesNotMatch(file("objects/sharedsecrets.yaml"), /continue|remainingItemCount/);
  for (const name of ["validatingwebhookconfigurations", "leases"]) assert.ok(files.has(`objects/${name}.yaml`), name);
  assert.match(file("namespaces/drivers/configmaps/ocp-sharedsecret-list.yaml"), /openshift-a: n:x/);
  assert.match(file("namespaces/drivers/secrets.yaml"), /name: certs/);
  assert.match(asked.find(({ path }) => path.includes("/secrets?"))?.accept ?? "", /PartialObjectMetadataList/);
  assert.match(file("components/drivers/webhook/main/current.log"), /^started\n.*\*\*\*/);
  assert.equal(file("components/drivers/webhook/main/previous.log"), "failed\n");
  assert.equal(file("components/drivers/webhook/main/metrics.txt"), "metric_total 1\n");
  assert.ok(!files.has("components/drivers/webhook/main/volumes.txt"));
  assert.deepEqual(problems, []);
  assert.ok(notServed.includes("VolumeSnapshot"));
  assert.match(file("not-served.txt"), /^VolumeSnapshot$/m);
  const everything = [...files.values()].join("\n");
  assert.ok(!everything.includes(canary) && !everything.includes(encoded));
});

const inOneNamespace = (path: string): boolean => !path.includes("/namespaces/drivers/");
const ofDrivers = {
  "/api/v1/namespaces/drivers/pods": { items: [pod("webhook", { image: "snapkeep:1" })] },
  "/api/v1/namespaces/drivers/persistentvolumeclaims": { items: [{ metadata: { name: "data" } }] },
};

test("who may read one namespace gets a bundle of it, and every list that is denied is named", async () => {
  const { gathered, files } = bundleOf(ofDrivers, {}, { namespaces: ["drivers"], denies: inOneNamespace });
  const { components, problems } = await gathered;
  assert.deepEqual(
    components.map(({ namespace, pod: name }) => `${namespace}/${name}`),
    ["drivers/webhook"],
  );
  assert.match(files.get("objects/persistentvolumeclaims.yaml") ?? "", /name: data/);
  assert.ok(problems.some((problem) => /^objects\/persistentvolumes\.yaml: .*forbidden/.test(problem)));
  assert.ok(problems.some((problem) => /^objects\/namespaces\.yaml: .*forbidden/.test(problem)));
  assert.ok(!problems.some((problem) => problem.startsWith("objects/persistentvolumeclaims.yaml")));
});

test("who may not list pods and names no namespace is told of --namespace", async () => {
  const { gathered } = bundleOf(ofDrivers, {}, { denies: inOneNamespace });
  const { components, problems } = await gathered;
  assert.equal(components.length, 0);
  assert.match(problems[0] ?? "", /^pods of all namespaces: .*forbidden; --namespace reads single namespaces$/);
});

test("R11: the node driver of shares is asked to write its records into the log, before the log is read", async () => {
  const log = "/api/v1/namespaces/drivers/pods/node/log?container=main&timestamps=true&tailLines=10";
  const order: string[] = [];
  const texts = new Proxy<Record<string, string>>(
    {
      "/api/v1/namespaces/drivers/pods/node%3A8080/proxy/volumes": "the log has 1 records of volumes\n",
      [log]: "record of a volume\n",
    },
    {
      get: (all, path: string) => {
        order.push(path);
        return all[path];
      },
    },
  );
  const words = ["shared-resource", "--mode=node", "--http-endpoint=:8080"];
  const { gathered, files } = bundleOf(
    { "/api/v1/pods": { items: [pod("node", { image: "snapkeep:1", args: words })] } },
    texts,
  );
  await gathered;
  assert.match(files.get("components/drivers/node/main/volumes.txt") ?? "", /has 1 records/);
  assert.match(files.get("components/drivers/node/main/current.log") ?? "", /record of a volume/);
  const [first, second] = order;
  assert.ok(first?.endsWith("/proxy/volumes") && second === log, order.join("\n"));
});
