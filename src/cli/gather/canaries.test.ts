import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim } from "../../../test/builders.ts";
import { plantedCluster, spellingsOf } from "../../../test/gather-canaries.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonValue } from "../../base/json.ts";
import { sourceOf } from "../../rules/data-source.ts";
import { referenceOf } from "../../rules/shared-resources.ts";
import { commands } from "../commands.ts";
import { bundleObject, masked } from "./bundle-object.ts";
import { gather } from "./collect.ts";
import { openFlags, openWords } from "./open-words.ts";
import { redactLog } from "./redact-text.ts";

const namespace = "drivers";
const planted = plantedCluster(namespace);

/** The files of a bundle of an API server that has the planted objects and logs. */
async function bundle(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const objects = planted.objects.map(({ object, status, ...rest }) => ({
    ...rest,
    object: status === undefined ? object : { ...object, status },
  }));
  const at = (path: string): JsonValue | undefined => {
    const place = path.split("?", 1)[0] ?? "";
    const one = objects.find(
      ({ path: list, object }) => place === `${list}/${(object.metadata as { name: string }).name}`,
    );
    if (one !== undefined) return one.object;
    // A list of all namespaces has those of the namespace.
    const found = objects.filter(
      ({ path: list }) => list === place || list.replace(/\/namespaces\/[^/]+/, "") === place,
    );
    return found.length === 0 ? undefined : { kind: `${found[0]?.kind}List`, items: found.map(({ object }) => object) };
  };
  await gather({
    api: {
      getPath: async (path: string) => {
        const found = at(path);
        if (found === undefined) throw new Fault("NotFound", `${path} not found at https://me:${canaryOfUrl}@api`);
        return found;
      },
      getText: async (path: string) => (path.includes("/log?") ? planted.logs : planted.metrics),
    },
    namespaces: [namespace],
    logLinesMax: 100,
    version: "1.2.3",
    signal: new AbortController().signal,
    write: async (file, text) => void files.set(file, text),
    progress: () => undefined,
  });
  return files;
}
const canaryOfUrl = "c4n4ry-url-x7Qz";

test("no secret value is in a bundle, wherever it stands in objects, messages, logs and metrics", async () => {
  const files = await bundle();
  assert.ok(planted.canaries.length >= 60, `only ${planted.canaries.length}`);
  const everything = [...files.values()].join("\n");
  const found = planted.canaries.filter((canary) => spellingsOf(canary).some((text) => everything.includes(text)));
  assert.deepEqual(
    found.map(({ where }) => where),
    [],
  );
  assert.ok(!everything.includes(canaryOfUrl));
});

/** A bundle of nothing would pass too. */
test("beside the secrets, everything is in it", async () => {
  const files = await bundle();
  const file = (name: string): string =>
    files.get(name) ?? assert.fail(`${name} is not in ${[...files.keys()].join(" ")}`);
  const classes = file("objects/storageclasses.yaml");
  assert.match(classes, /password: <redacted, \d+ characters>/);
  assert.match(classes, /csi\.storage\.k8s\.io\/provisioner-secret-name: creds/);
  assert.match(file("objects/persistentvolumes.yaml"), /volumeHandle: nfs:\/\/\*\*\*@storage\.example\/v1/);
  assert.match(file("objects/persistentvolumes.yaml"), /csiProvisionerIdentity: kept-identity/);
  assert.match(file("objects/volumesnapshots.yaml"), /rpc error: login failed: password=\*\*\* was refused/);
  const lease = file("objects/leases.yaml");
  assert.match(lease, /"method":"create".*"bytes":"1024".*"secret":\{"name":"creds","namespace":"drivers"\}/);
  assert.match(lease, /"calls":\{"pvc-1":\[0,"drivers","canary","uid-1"\]\}/);
  const pods = file("namespaces/drivers/pods.yaml");
  for (const kept of [
    "--csi-address=/csi/csi.sock",
    "--v=4",
    "csi-snapshotter",
    "exitCode: 1",
    "https://***@storage.example",
  ])
    assert.ok(pods.includes(kept), kept);
  assert.match(
    file("objects/validatingwebhookconfigurations.yaml"),
    /url: https:\/\/hook\.example<redacted, \d+ characters>/,
  );
  assert.match(file("namespaces/drivers/secrets.yaml"), /name: creds/);
  const log = file("components/drivers/canary/main/current.log");
  assert.match(log, /"started" version="1\.2\.3" key="team\/monday"/);
  assert.match(log, /the end\n$/);
  assert.match(log, /Authorization: \*\*\*/);
});

test("text is redacted as a whole, and what is no secret stays", () => {
  const same = [
    "secret team/creds not found; create it, or name another in csi.storage.k8s.io/provisioner-secret-name",
    'parameter "csi.storage.k8s.io/snapshotter-secret-name" is missing',
    'I1119 06:00:00.000000 1 queue.go:1] "reconciled" key="team/monday" phase="ready" secretName="creds"',
    "class parameters csi.storage.k8s.io/secret-name and csiProvisionerSecretName name the same secret",
    "the token of the service account has expired",
    "volume 3f8a9c2d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9 is attached",
    "sidecar image registry.example/snapkeep@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "Failed to create snapshot content with error cannot find default snapshot class for driver d: annotate one class",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "image registry.example/snapkeep:1.2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    'parameters:{key:"csi.storage.k8s.io/provisioner-secret-name" value:"creds"}',
    "mounted 10.0.0.1:/export at /mnt, portal 10.0.0.2:3260,1 iqn.2026-11.example:disk-1",
    "see https://kubernetes.io/docs/concepts/storage#volume-snapshots, or mail a@example.com",
  ];
  for (const text of same) assert.equal(redactLog(text), text);
});

test("sources of claims and references of shares are read from a bundle as from the cluster", () => {
  const spec = {
    dataSourceRef: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday", namespace: "prod" },
  };
  const claim = aClaim({ spec: spec as never });
  assert.deepEqual(sourceOf(bundleObject(claim as never, "PersistentVolumeClaim") as never), sourceOf(claim));
  const share = { metadata: { name: "s" }, spec: { secretRef: { name: "token", namespace: "team" } } };
  assert.deepEqual(
    referenceOf("SharedSecret", bundleObject(share, "SharedSecret") as never),
    referenceOf("SharedSecret", share),
  );
});

test("every flag of a component keeps its value", async () => {
  const hidden: string[] = [];
  for (const { kind, name, load } of commands) {
    if (kind !== "component") continue;
    assert.match(name, openWords);
    const { flags } = (await load()).command;
    for (const flag of Object.keys(flags))
      hidden.push(
        ...[flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)].filter((word) => !openFlags.has(word)),
      );
  }
  assert.deepEqual(hidden, []);
});

test("an unknown kind and an unknown field keep their names, and lose their values", () => {
  const odd = {
    apiVersion: "v9",
    kind: "Odd",
    metadata: { name: "a", later: { x: "secret" } },
    spec: { list: ["b", 5, true, null, ""] },
  };
  assert.deepEqual(bundleObject(odd, "Odd"), {
    apiVersion: "v9",
    kind: "Odd",
    metadata: { name: "a", later: { x: "<redacted, 6 characters>" } },
    spec: { list: ["<redacted, 1 character>", "<redacted, 1 character>", true, null, ""] },
  });
  assert.equal(masked(12n), "<redacted, 2 characters>");
});

test("a certificate is kept, and a bundle that holds anything else is not", () => {
  const bundled = (text: string): JsonValue => {
    const caBundle = Buffer.from(text).toString("base64");
    const { webhooks } = bundleObject(
      { webhooks: [{ clientConfig: { caBundle } }] },
      "ValidatingWebhookConfiguration",
    ) as {
      webhooks: { clientConfig: { caBundle: string } }[];
    };
    return webhooks[0]?.clientConfig.caBundle === caBundle;
  };
  const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  assert.equal(bundled(certificate.repeat(2)), true);
  assert.equal(bundled(`${certificate}-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n`), false);
  assert.equal(bundled("MIIB"), false);
});

test("ten megabytes of text of any kind are redacted within seconds of the processor", () => {
  const size = 10 * 2 ** 20;
  for (const piece of [
    "a",
    "password",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "https://",
    '\\"',
    "token ",
    "A1b2",
    "x: y\n",
    "--",
  ]) {
    const before = process.cpuUsage();
    redactLog(piece.repeat(Math.floor(size / 10 / piece.length)));
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 20e6, `${piece}: ${(user + system) / 1e6} s`);
  }
});
