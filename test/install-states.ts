/** States of a cluster for the rows of `install-table.ts`, and what is looked at afterwards. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { ManifestObject } from "../src/api/manifests/component.ts";
import { installationLabel } from "../src/api/manifests/component.ts";
import { claimConfiguration, snapshotConfigurationName } from "../src/api/manifests/webhook-configurations.ts";
import { isObject, type JsonObject, type JsonValue } from "../src/base/json.ts";
import { realWorld } from "../src/base/world.ts";
import { installationOf } from "../src/cli/deploy.ts";
import { at, listAt, nameOf } from "../src/cli/install/fields.ts";
import { isPodOf } from "../src/cli/install/pods.ts";
import { createResources, type Resources } from "../src/cli/install/resources.ts";
import { waitUntilServed } from "../src/cli/install/rollout.ts";
import {
  describe,
  electionsOf,
  type InstallPlan,
  isWorkload,
  partsWithSecrets,
  planFor,
} from "../src/cli/install/selection.ts";
import type { createClient } from "../src/kube/client.ts";
import { createAuthority } from "../src/runtime/certificates.ts";
import { deleteCrds } from "./e2e/harness/crds.ts";

export interface InstallSession {
  readonly client: ReturnType<typeof createClient>;
  /** A command and its arguments. */
  snapkeep(command: string, ...argv: readonly string[]): Promise<Ended>;
  /** Pods become ready while this runs. */
  whilePodsAreReady<T>(prefix: string, work: () => Promise<T>): Promise<T>;
}

export interface Ended {
  readonly code: number;
  readonly text: string;
}

/** A session with two namespaces of one row. */
export interface RowSession extends InstallSession {
  readonly resources: Resources;
  readonly one: string;
  readonly two: string;
  /** `snapkeep install` with these arguments. */
  install(...argv: readonly string[]): Promise<Ended>;
}

export const rowSession = (session: InstallSession, one: string, two: string): RowSession => ({
  ...session,
  resources: createResources(session.client, new AbortController().signal),
  one,
  two,
  install: (...argv) => session.snapkeep("install", ...argv),
});

type SetUp = (session: RowSession) => Promise<unknown>;

const version = "1.2.3";
export const allComponents = ["snapshot-controller", "webhook"];
export const drivers = ["directory-driver", "shared-resource"];
export const planIn = (namespace: string, names = allComponents): InstallPlan =>
  planFor(names, installationOf(version, { namespace }));

const rbac = "rbac.authorization.k8s.io/v1";
export const binding = {
  apiVersion: rbac,
  kind: "ClusterRoleBinding",
  metadata: { name: "snapkeep-snapshot-controller" },
};
export const role = { ...binding, kind: "ClusterRole" };
const storage = "storage.k8s.io/v1";
export const csiDriver = { apiVersion: storage, kind: "CSIDriver", metadata: { name: "directory.snapkeep.dev" } };
export const storageClass = { apiVersion: storage, kind: "StorageClass", metadata: { name: "directory" } };
export const validation = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: snapshotConfigurationName },
};
export const leaderLease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "kube-system", name: "snapshot-controller-leader" },
};
export const secretIn = (namespace: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace, name: "snapshot-validation-secret" },
});
const serviceIn = (namespace: string) => ({ namespace, name: "snapshot-validation-service" });
export const claimsFor = (namespace: string): ManifestObject =>
  claimConfiguration({ client: { service: serviceIn(namespace) } }) as unknown as ManifestObject;

/** The definitions of cert-manager's kinds that an installation uses; its controllers are not there. */
const certManagerCrds = (["Issuer", "Certificate"] as const).map((kind) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.cert-manager.io` },
    spec: {
      group: "cert-manager.io",
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
});
export const withCertManager: SetUp = async (session) => {
  for (const crd of certManagerCrds) await apply(session, crd);
  await waitUntilServed(session.resources, certManagerCrds, {
    world: realWorld,
    signal: new AbortController().signal,
    msMax: 30_000,
    progress: () => undefined,
  });
};
export const installedWithCertManager: SetUp = async (session) => {
  await withCertManager(session);
  await must(session.install("--apply", `--namespace=${session.one}`, "--certificates=cert-manager"));
};
/** cert-manager's part, once: the configuration for claims gets its caBundle a while after it was applied, and must not refuse before. */
export const injectedLate: SetUp = async (session) => {
  await installedWithCertManager(session);
  setTimeout(() => void injects(session), 0);
};
async function injects(session: RowSession): Promise<void> {
  const claims = claimsFor(session.one);
  const policies: unknown[] = [];
  const { certificate } = createAuthority("cert-manager", realWorld.now());
  for (let looks = 0; policies.length < 5 && looks < 1_200; looks++) {
    await realWorld.sleep(50);
    const stored = await session.resources.read(claims).catch(() => undefined);
    policies.push(...listAt(stored, "webhooks").map(({ failurePolicy }) => failurePolicy));
  }
  await edited(session, claims, (stored) => {
    for (const webhook of listAt(stored, "webhooks") as unknown as { clientConfig: { caBundle?: string } }[])
      if (policies.every((policy) => policy === "Ignore"))
        webhook.clientConfig.caBundle = Buffer.from(certificate).toString("base64");
  });
}
/** Returns when they are gone: a CRD that is created again before would go with the old one. */
export const withoutCertManager = ({ client }: RowSession): Promise<void> =>
  deleteCrds(
    client,
    certManagerCrds.map(({ metadata }) => metadata.name),
  );

export const nothing: SetUp = async () => undefined;

async function must(ended: Promise<Ended>): Promise<void> {
  const { code, text } = await ended;
  assert.equal(code, 0, text);
}
export const installed: SetUp = ({ install, one }) => must(install("--apply", `--namespace=${one}`));
export const installedDrivers: SetUp = ({ install, one }) =>
  must(install("--apply", `--namespace=${one}`, `--components=${drivers.join(",")}`));
export const installedWithClaims: SetUp = ({ install, one }) =>
  must(install("--apply", `--namespace=${one}`, "--admission-claims"));
export const inTransit: SetUp = async (session) => {
  await installed(session);
  await must(session.install("--apply", `--namespace=${session.two}`, "--adopt"));
};

export async function edited({ resources }: RowSession, object: ManifestObject, edit: (stored: JsonObject) => void) {
  const stored = await resources.read(object);
  if (stored === undefined) return;
  edit(stored);
  await resources.replace(stored);
}

export const apply = async ({ resources }: RowSession, object: object): Promise<void> => {
  await resources.apply(object as ManifestObject);
};

/** The manifests that 0.2.0 rendered. */
function manifestsOf020(namespace: string): readonly JsonObject[] {
  const text = readFileSync(join(import.meta.dirname, "fixtures/install-0.2.0.yaml"), "utf8");
  const moved = text.replace(/^( *(?:name|namespace): )snapkeep(-drivers)?$/gm, `$1${namespace}$2`);
  return parseAllDocuments(moved).flatMap((document) => {
    const object = document.toJSON() as JsonValue;
    return isObject(object) ? [object] : [];
  });
}

/** As 0.2.0 left it: without labels of the installation, and with a Secret that has no labels at all. */
export const installed020: SetUp = async (session) => {
  const { one, resources } = session;
  for (const object of manifestsOf020(one))
    if (await resources.serves(object as unknown as ManifestObject)) await apply(session, object);
  await must(session.snapkeep("certs", "--apply", `--namespace=${one}`));
};

/** An uninstallation of that release was interrupted after it had deleted the bindings. */
export const half020: SetUp = async (session) => {
  await installed020(session);
  await removed(session, ({ kind }) => /Binding$|Configuration$/.test(kind));
};

async function removed({ resources, one }: RowSession, isMeant: (object: ManifestObject) => boolean): Promise<void> {
  for (const object of [...planIn(one).objects, secretIn(one)].filter(isMeant)) {
    const stored = await resources.read(object);
    if (stored !== undefined) await resources.remove(stored);
  }
}

/** The chart's objects have Helm's annotations, and not the label of the program. */
export const installedByHelm: SetUp = async (session) => {
  await installed(session);
  const annotations = { "meta.helm.sh/release-name": "snaps", "meta.helm.sh/release-namespace": session.one };
  for (const object of partsWithSecrets(planIn(session.one)).flat())
    await edited(session, object, ({ metadata }) => {
      delete (metadata as { labels: JsonObject }).labels[installationLabel];
      (metadata as JsonObject).annotations = annotations;
    });
};

/** An uninstallation of a release that did not know the configuration of claims. */
export const leftClaimsBehind: SetUp = (session) => apply(session, claimsFor(session.one));

export const withClaims: SetUp = async (session) => {
  await installed(session);
  await apply(session, claimsFor(session.one));
};

/** An administrator lets claims pass while the webhook is down. */
export const withLaxClaims: SetUp = async (session) => {
  await installedWithClaims(session);
  await edited(session, claimsFor(session.one), (stored) => {
    for (const webhook of stored.webhooks as unknown as { failurePolicy: string }[]) webhook.failurePolicy = "Ignore";
  });
};

export const withSharedConfiguration: SetUp = async (session) => {
  await installed(session);
  const configuration = claimsFor(session.one) as unknown as JsonObject;
  const [own] = configuration.webhooks as readonly JsonObject[];
  const other = { ...own, name: "other.example.com", clientConfig: { service: serviceIn(session.two) } };
  await apply(session, { ...configuration, webhooks: [own, other] });
};

const labels = { app: "upstream" };
const deploymentOf = (namespace: string, name: string, containers: readonly object[]) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace, name },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers, volumes: [{ name: "socket", emptyDir: {} }] } },
  },
});
const namespaceOf = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** external-snapshotter's own objects have the names of ours, in its namespace. */
export const upstreamIn: SetUp = async (session) => {
  const place = { namespace: session.one, name: "snapshot-controller" };
  await apply(session, namespaceOf(session.one));
  await apply(session, { apiVersion: "v1", kind: "ServiceAccount", metadata: place });
  const container = { name: "snapshot-controller", image: "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0" };
  await apply(session, deploymentOf(place.namespace, place.name, [container]));
};

const mounts = { volumeMounts: [{ name: "socket", mountPath: "/csi" }] };
const sidecar = (name: string, image: string) => ({
  name,
  image,
  args: ["--csi-address=/csi/csi.sock", "--leader-election=true"],
  ...mounts,
});
/** A driver with the sidecars that the two are to replace; with the socket that they need, or without. */
export const driverWith =
  (hasSocket: boolean, ...sidecars: readonly string[]): SetUp =>
  async (session) => {
    await apply(session, namespaceOf(session.one));
    const args = hasSocket ? ["--endpoint=unix:///csi/csi.sock"] : [];
    await apply(
      session,
      deploymentOf(session.one, "my-driver", [
        { name: "driver", image: "driver:1", args, ...(hasSocket ? mounts : {}) },
        ...sidecars.map((name) => sidecar(name, `registry.k8s.io/sig-storage/${name}:v8.6.0`)),
      ]),
    );
  };

export const ruled: SetUp = (session) => apply(session, { ...role, rules: [] });
export const classOfOthers: SetUp = (session) =>
  apply(session, { ...storageClass, provisioner: "other.example.com", volumeBindingMode: "Immediate" });

/** Pods of our Deployment, as a kubelet and a node's mounts would leave them. */
export const withStuckPods: SetUp = async (session) => {
  await session.install("--apply", `--namespace=${session.one}`, "--timeout=1s");
  const { client, resources, one: namespace } = session;
  const [deployment] = planIn(namespace).objects.filter(isWorkload);
  const template = at(await resources.read(deployment as ManifestObject), "spec", "template") as JsonObject;
  const waiting = { reason: "ErrImagePull", message: "not found" };
  const container = { name: "c", ready: false, state: { waiting }, image: "any", imageID: "", restartCount: 0 };
  const pods: readonly (readonly [string, JsonObject[]])[] = [
    ["without-image", [container]],
    ["without-volume", []],
  ];
  for (const [name, containerStatuses] of pods) {
    const metadata = { ...(template.metadata as JsonObject), namespace, name };
    await client.create("Pod", { ...template, metadata } as never);
    const body = { status: { phase: "Pending", containerStatuses } };
    await client.patch({ kind: "Pod", namespace, name }, { type: "merge", body }, { subresource: "status" });
  }
  await apply(session, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name: "mount" },
    involvedObject: { kind: "Pod", namespace, name: "without-volume" },
    type: "Warning",
    reason: "FailedMount",
    message: "no such volume",
  });
};

const microTime = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");
const heldBy = (holderIdentity: string) => ({
  spec: { holderIdentity, leaseDurationSeconds: 3_600, renewTime: microTime(realWorld.now()) },
});

/** Each lease is held by a pod of its workload, as its process would hold it. */
async function electedIn(session: RowSession, namespace: string, names: readonly string[]): Promise<void> {
  for (const { lease, workload } of electionsOf(planIn(namespace, [...names]))) {
    const stored = (await session.resources.read(workload)) ?? {};
    const pod = (await session.resources.list("v1", "Pod")).find((one) => isPodOf(one, stored));
    assert.ok(pod !== undefined, describe(workload));
    await apply(session, { ...lease, ...heldBy(`${nameOf(pod)}_1`) });
  }
}
export const working =
  (names = allComponents): SetUp =>
  async (session) => {
    await must(session.install("--apply", `--namespace=${session.one}`, `--components=${names.join(",")}`));
    await electedIn(session, session.one, names);
  };
/** A replica of the webhook renews the certificates. */
export const renewing =
  (setUp: SetUp, place: "one" | "two" = "one"): SetUp =>
  async (session) => {
    await setUp(session);
    await electedIn(session, session[place], ["webhook"]);
  };
export const upstreamLeads: SetUp = async (session) => {
  await installed(session);
  await apply(session, { ...leaderLease, ...heldBy("upstream-7_1") });
};

export const withoutCertificate: SetUp = async (session) => {
  await installed(session);
  await removed(session, ({ kind }) => kind === "Secret");
};
export const withoutAuthority: SetUp = async (session) => {
  await installed(session);
  await edited(session, validation, (stored) => {
    for (const webhook of listAt(stored, "webhooks") as unknown as { clientConfig: { caBundle?: string } }[])
      delete webhook.clientConfig.caBundle;
  });
};
export const withPolicy =
  (failurePolicy: "Fail" | "Ignore"): SetUp =>
  async (session) => {
    await installed(session);
    await edited(session, validation, (stored) => {
      for (const webhook of stored.webhooks as unknown as { failurePolicy: string }[])
        webhook.failurePolicy = failurePolicy;
    });
  };

/** An uninstallation has ended, and its namespace has not: somebody's finalizer holds an object in it. */
export const ending: SetUp = async (session) => {
  await installed(session);
  const held = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: session.one, name: "held" } };
  await apply(session, { ...held, metadata: { ...held.metadata, finalizers: ["example.com/held"] } });
  await must(session.install("--uninstall", `--namespace=${session.one}`));
  setTimeout(() => void released(session, held), 300);
};
const released = (session: RowSession, held: ManifestObject): Promise<void> =>
  edited(session, held, (stored) => {
    delete (stored.metadata as { finalizers?: unknown }).finalizers;
  }).catch(() => undefined);
