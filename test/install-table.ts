/**
 * `snapkeep install` typed at clusters in every state: what is refused, what is named, what is done. Played on the embedded server and
 * on a real control plane. Pods do not run: --apply gives up waiting for them, which is no part of these rows.
 */
import assert from "node:assert/strict";
import { type CrdDraft, type CrdPhase, snapshotCrds } from "../src/api/crds/index.ts";
import type { ManifestObject } from "../src/api/manifests/component.ts";
import { versionAnnotation } from "../src/api/manifests/objects.ts";
import { claimConfiguration, snapshotConfigurationName } from "../src/api/manifests/webhook-configurations.ts";
import { isFault } from "../src/base/fault.ts";
import { isObject, type JsonObject } from "../src/base/json.ts";
import { realWorld } from "../src/base/world.ts";
import { installationOf } from "../src/cli/deploy.ts";
import { at } from "../src/cli/install/fields.ts";
import { installationLabel } from "../src/cli/install/ownership.ts";
import { createResources, type Resources } from "../src/cli/install/resources.ts";
import { describe, type InstallPlan, isWorkload, partsWithSecrets, planFor } from "../src/cli/install/selection.ts";
import { recordAnnotation } from "../src/cli/migrate/definition.ts";
import type { createClient } from "../src/kube/client.ts";

export interface InstallSession {
  readonly client: ReturnType<typeof createClient>;
  /** A command and its arguments. */
  snapkeep(command: string, ...argv: readonly string[]): Promise<Ended>;
}

interface Ended {
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

const rowSession = (session: InstallSession, one: string, two: string): RowSession => ({
  ...session,
  resources: createResources(session.client, new AbortController().signal),
  one,
  two,
  install: (...argv) => session.snapkeep("install", ...argv),
});

interface Expected {
  /** Absent: --apply, which waits for pods that cannot run. */
  readonly code?: 0 | 1;
  readonly says?: readonly RegExp[];
  readonly saysNot?: readonly RegExp[];
  after?(session: RowSession): Promise<void>;
  /** All stored objects of both installations stay as they are. */
  readonly changesNothing?: true;
}

export interface InstallRow extends Expected {
  readonly cluster: string;
  setUp(session: RowSession): Promise<unknown>;
  /** ONE and TWO are the names of the two namespaces. */
  readonly command: string;
}

const unchanged = (code: 0 | 1, ...says: readonly RegExp[]): Expected => ({ code, says, changesNothing: true });
const ends = (after: (session: RowSession) => Promise<void>): Expected => ({ after });

const version = "1.2.3";
const allComponents = ["snapshot-controller", "webhook"];
const drivers = ["directory-driver", "shared-resource"];
const csiDriver = { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: "directory.snapkeep.dev" } };
const planIn = (namespace: string, names = allComponents): InstallPlan =>
  planFor(names, installationOf(version, { namespace }));
const rbac = "rbac.authorization.k8s.io/v1";
const binding = { apiVersion: rbac, kind: "ClusterRoleBinding", metadata: { name: "snapkeep-snapshot-controller" } };
const role = { ...binding, kind: "ClusterRole" };

const serviceIn = (namespace: string) => ({ namespace, name: "snapshot-validation-service" });
const claimsFor = (namespace: string): ManifestObject =>
  claimConfiguration({
    client: { service: serviceIn(namespace) },
  }) as unknown as ManifestObject;

const nothing = async (): Promise<void> => undefined;
const installed = ({ install, one }: RowSession) => install("--apply", `--namespace=${one}`);

/** As a release that wrote no labels, or kubectl, leaves an installation. */
async function installedUnlabelled(session: RowSession): Promise<void> {
  await installed(session);
  for (const object of partsWithSecrets(planIn(session.one)).flat())
    await edited(session, object, ({ metadata }) => {
      const { labels, annotations } = metadata as { labels: JsonObject; annotations: JsonObject };
      delete labels[installationLabel];
      if (object.kind === "Secret") delete labels["app.kubernetes.io/name"];
      delete annotations["snapkeep.dev/version"];
    });
}

async function withoutBindings(session: RowSession): Promise<void> {
  await installedUnlabelled(session);
  const { resources, one } = session;
  for (const object of planIn(one).objects.filter(({ kind }) => /Binding$|Configuration$/.test(kind))) {
    const stored = await resources.read(object);
    if (stored !== undefined) await resources.remove(stored);
  }
}

async function installedByHelm(session: RowSession): Promise<void> {
  await installedUnlabelled(session);
  for (const object of partsWithSecrets(planIn(session.one)).flat())
    await edited(session, object, ({ metadata }) => {
      const release = { "meta.helm.sh/release-name": "snaps", "meta.helm.sh/release-namespace": session.one };
      (metadata as JsonObject).annotations = release;
    });
}

async function edited({ resources }: RowSession, object: ManifestObject, edit: (stored: JsonObject) => void) {
  const stored = await resources.read(object);
  if (stored === undefined) return;
  edit(stored);
  await resources.replace(stored);
}

const apply = async ({ resources }: RowSession, object: object): Promise<void> => {
  await resources.apply(object as ManifestObject);
};

/** An uninstallation of a release that did not know the configuration of claims. */
async function leftClaimsBehind(session: RowSession): Promise<void> {
  await apply(session, claimsFor(session.one));
}

const withClaims = async (session: RowSession): Promise<void> => {
  await installed(session);
  await apply(session, claimsFor(session.one));
};

async function withSharedConfiguration(session: RowSession): Promise<void> {
  await installed(session);
  const configuration = claimsFor(session.one) as unknown as JsonObject;
  const [own] = configuration.webhooks as readonly JsonObject[];
  const other = { ...own, name: "other.example.com", clientConfig: { service: serviceIn(session.two) } };
  await apply(session, { ...configuration, webhooks: [own, other] });
}

/** external-snapshotter's own objects have the names of ours, in its namespace. */
async function upstreamIn(session: RowSession): Promise<void> {
  await apply(session, { apiVersion: "v1", kind: "Namespace", metadata: { name: session.one } });
  const place = { namespace: session.one, name: "snapshot-controller" };
  await apply(session, { apiVersion: "v1", kind: "ServiceAccount", metadata: place });
  const container = { name: "snapshot-controller", image: "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0" };
  const labels = { app: "upstream" };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await apply(session, { apiVersion: "apps/v1", kind: "Deployment", metadata: place, spec });
}

/** Pods of our Deployment, as a kubelet and a node's mounts would leave them. */
async function withStuckPods(session: RowSession): Promise<void> {
  await installed(session);
  const { client, resources, one: namespace } = session;
  const [deployment] = planIn(namespace).objects.filter(isWorkload);
  const stored = await resources.read(deployment as ManifestObject);
  const template = at(stored, "spec", "template") as JsonObject;
  const waiting = { reason: "ErrImagePull", message: "not found" };
  const container = {
    name: "snapshot-controller",
    ready: false,
    state: { waiting },
    image: "any",
    imageID: "",
    restartCount: 0,
  };
  const pods: readonly (readonly [string, JsonObject[]])[] = [
    ["without-image", [container]],
    ["without-volume", []],
  ];
  for (const [name, containerStatuses] of pods) {
    await client.create("Pod", {
      ...template,
      metadata: { ...(template.metadata as JsonObject), namespace, name },
    } as never);
    const body = { status: { phase: "Pending", containerStatuses } };
    await client.patch({ kind: "Pod", namespace, name }, { type: "merge", body }, { subresource: "status" });
  }
  const involvedObject = { kind: "Pod", namespace, name: "without-volume" };
  await apply(session, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name: "mount" },
    involvedObject,
    type: "Warning",
    reason: "FailedMount",
    message: "no such volume",
  });
}
const stuckWords = (before: string, after: string): readonly RegExp[] => [
  new RegExp(`${before}Pod \\S+one/without-image: container snapshot-controller: ErrImagePull: not found${after}`, "m"),
  new RegExp(`${before}Pod \\S+one/without-volume: FailedMount: no such volume${after}`, "m"),
];

const leaderLease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "kube-system", name: "snapshot-controller-leader" },
};
async function upstreamLeads(session: RowSession): Promise<void> {
  await installed(session);
  const spec = { holderIdentity: "upstream-7_1", leaseDurationSeconds: 3_600, renewTime: microTime(realWorld.now()) };
  await apply(session, { ...leaderLease, spec });
}
const microTime = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");

const secretIn = (namespace: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace, name: "snapshot-validation-secret" },
});
async function withoutCertificate(session: RowSession): Promise<void> {
  await installed(session);
  const stored = await session.resources.read(secretIn(session.one));
  if (stored !== undefined) await session.resources.remove(stored);
}
async function withoutAuthority(session: RowSession): Promise<void> {
  await installed(session);
  await edited(session, validation, (stored) => {
    for (const { clientConfig } of stored.webhooks as unknown as readonly { clientConfig: { caBundle?: string } }[])
      delete clientConfig.caBundle;
  });
}

const ruled = async (session: RowSession): Promise<void> => apply(session, { ...role, rules: [] });

async function bindingNames({ resources }: RowSession, namespace: string | undefined): Promise<void> {
  const stored = await resources.read(binding);
  const [subject] = (stored?.subjects ?? []) as readonly JsonObject[];
  assert.equal(at(subject, "namespace"), namespace);
}
const claimsAre = async ({ resources, one }: RowSession, isThere: boolean): Promise<void> =>
  assert.equal((await resources.read(claimsFor(one))) !== undefined, isThere);
const isOwnedBy = async ({ resources }: RowSession, namespace: string): Promise<void> =>
  assert.equal(at(await resources.read(binding), "metadata", "labels", installationLabel), namespace);
const areGone = async ({ resources }: RowSession, objects: readonly ManifestObject[]): Promise<void> => {
  for (const object of objects) assert.equal(await resources.read(object), undefined, describe(object));
};
const isGone = (session: RowSession): Promise<void> => areGone(session, planIn(session.one).objects);

const validation = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: snapshotConfigurationName },
};
async function onlyWebhookIsLeft(session: RowSession): Promise<void> {
  await bindingNames(session, undefined);
  assert.notEqual(await session.resources.read(validation), undefined);
  await worksIn(session, session.one, "Deployment", "snapshot-validation-deployment");
}
/** The namespace and this workload in it are there, and stay. */
async function worksIn({ resources }: RowSession, namespace: string, kind: string, name: string): Promise<void> {
  for (const object of [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "apps/v1", kind, metadata: { namespace, name } },
  ]) {
    const stored = await resources.read(object);
    assert.notEqual(stored, undefined, describe(object));
    assert.equal(at(stored, "metadata", "deletionTimestamp"), undefined, describe(object));
  }
}
async function onlyShareDriverIsLeft(session: RowSession): Promise<void> {
  assert.equal(await session.resources.read(csiDriver), undefined);
  await worksIn(session, `${session.one}-drivers`, "DaemonSet", "shared-resource-csi-driver-node");
}
async function namespaceIsGone({ resources }: RowSession, name: string): Promise<void> {
  const stored = await resources.read({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  assert.ok(stored === undefined || at(stored, "metadata", "deletionTimestamp") !== undefined, name);
}
const driversAreGone = (session: RowSession): Promise<void> => namespaceIsGone(session, `${session.one}-drivers`);
async function onlyOtherWebhookIsLeft({ resources, one }: RowSession): Promise<void> {
  const stored = await resources.read(claimsFor(one));
  const webhooks = (stored?.webhooks ?? []) as readonly JsonObject[];
  assert.deepEqual(
    webhooks.map(({ name }) => name),
    ["other.example.com"],
  );
}

const refused = /belong to somebody else.*nothing was changed.*\[SNAP-804\]/;
const none = /nothing was deleted: there is no installation of these components in namespace .*\[SNAP-805\]/;
const ownerIsOne = /belongs to the installation in namespace \S*one/;

/** Each row is a state of the cluster, with what each command does. */
const table: readonly (readonly [string, InstallRow["setUp"], Readonly<Record<string, Expected>>])[] = [
  [
    "is empty",
    nothing,
    {
      "--apply -n ONE": ends((s) => isOwnedBy(s, s.one)),
      "--check -n ONE": unchanged(1, /^\+ ClusterRole /m),
      "--diff -n ONE": unchanged(0, /^\+ ClusterRole /m),
      "--uninstall -n ONE": unchanged(1, none),
      "--uninstall --dry-run -n ONE": unchanged(1, none),
    },
  ],
  [
    "has the installation",
    installed,
    {
      "--apply -n ONE": ends((s) => isOwnedBy(s, s.one)),
      "--diff -n ONE": unchanged(0, /as this release would install it/),
      "--check -n ONE": unchanged(1, /^x Deployment \S+\/snapshot-controller: /m, /^x Lease \S+: nobody holds it/m),
      "--check -n ONE -o json": unchanged(1, /"problems": \[\s*\{\s*"object": "Deployment /),
      "--uninstall --dry-run -n ONE": unchanged(0, /^would delete: ClusterRoleBinding/m, /^would delete: Namespace/m),
      "--uninstall -n ONE": { ...ends(isGone), code: 0, says: [/^deletes: ClusterRoleBinding/m] },
      "--uninstall -n ONE --components=webhook": {
        after: async (s) => {
          await bindingNames(s, s.one);
          await worksIn(s, s.one, "Deployment", "snapshot-controller");
        },
        code: 0,
        says: [/^deletes: Deployment \S+\/snapshot-validation-deployment/m],
      },
      "--uninstall -n ONE --components=snapshot-controller": {
        ...ends(onlyWebhookIsLeft),
        code: 0,
        says: [/^stays: Namespace \S+one, which is in use by \w+ \S+one\/snapshot-validation-deployment/m],
      },
      "--apply -n TWO": unchanged(1, refused, ownerIsOne),
      "--apply -n TWO --components=webhook": unchanged(1, refused),
      "--apply -n TWO --adopt": ends((s) => bindingNames(s, s.two)),
      "--check -n TWO": unchanged(
        1,
        /^! ClusterRoleBinding snapkeep-snapshot-controller: belongs to the installation/m,
      ),
      "--diff -n TWO": unchanged(0, /^! ClusterRole /m),
      "--uninstall -n TWO": unchanged(1, none, /there is one in \S*one/),
      "--uninstall -n TWO --dry-run": unchanged(1, none),
      "--uninstall -n ONE-drivers": unchanged(1, none),
      "--uninstall": unchanged(1, none),
    },
  ],
  [
    "has pods that do not run",
    withStuckPods,
    {
      "--check -n ONE": unchanged(1, ...stuckWords("^x ", "$")),
      "--apply -n ONE": { code: 1, says: [/^snapkeep install: not ready after/m, ...stuckWords("\\(", "\\)")] },
    },
  ],
  [
    "has the lease of external-snapshotter",
    upstreamLeads,
    {
      "--check -n ONE": unchanged(
        1,
        /^x Lease kube-system\/snapshot-controller-leader: upstream-7_1 holds it, which is no pod of Deployment \S+one\//m,
      ),
    },
  ],
  [
    "has lost the webhook's certificate",
    withoutCertificate,
    {
      "--check -n ONE": unchanged(
        1,
        /^x Secret \S+one\/snap\S+: authority certificate: there is none; snapkeep certs --apply --namespace=\S+one renews it$/m,
      ),
      "--check -n ONE --components=snapshot-controller": { ...unchanged(1), saysNot: [/Secret/] },
    },
  ],
  [
    "has a configuration without the authority of the certificate",
    withoutAuthority,
    {
      "--check -n ONE": unchanged(
        1,
        /^x ValidatingWebhookConfiguration webhook-val\S+: its caBundle does not have the authority of Secret \S+one\//m,
      ),
    },
  ],
  [
    "has two drivers",
    ({ install, one }) => install("--apply", `--namespace=${one}`, `--components=${drivers.join(",")}`),
    {
      "--check -n ONE --components=directory-driver": unchanged(
        1,
        /^x Lease \S+one-drivers\/external-snapshotter-leader-directory-snapkeep-dev: nobody holds it/m,
        /^x Lease \S+one-drivers\/directory-snapkeep-dev: nobody holds it/m,
      ),
      "--uninstall -n ONE --components=directory-driver --dry-run": unchanged(0, /^stays: Namespace \S+one-drivers, /m),
      "--uninstall -n ONE --components=directory-driver": { ...ends(onlyShareDriverIsLeft), code: 0 },
      "--uninstall -n ONE --components=directory-driver,shared-resource": { ...ends(driversAreGone), code: 0 },
    },
  ],
  [
    "has half of an installation, after --adopt from elsewhere",
    async (s) => {
      await installed(s);
      await s.install("--apply", `--namespace=${s.two}`, "--adopt");
    },
    {
      "--uninstall -n ONE": {
        ...ends((s) => bindingNames(s, s.two)),
        says: [/^stays: ClusterRoleBinding \S+, which belongs to the installation in namespace \S*two/m],
      },
    },
  ],
  [
    "has an installation without labels",
    installedUnlabelled,
    {
      "--apply -n ONE": ends((s) => isOwnedBy(s, s.one)),
      "--check -n ONE": unchanged(1, /snapkeep\.dev\/installation: absent → /),
      "--uninstall -n ONE": { ...ends(isGone), code: 0 },
      "--uninstall -n ONE --dry-run": unchanged(0, /^would delete: ClusterRoleBinding/m),
      "--apply -n TWO": unchanged(1, refused, ownerIsOne),
      "--apply -n TWO --adopt": ends((s) => bindingNames(s, s.two)),
      "--check -n TWO": unchanged(1, ownerIsOne),
      "--uninstall -n TWO": unchanged(1, none, /there is one in \S*one/),
    },
  ],
  [
    "has what an interrupted uninstallation of a release without labels left",
    withoutBindings,
    {
      "--uninstall -n TWO": unchanged(1, none),
      "--uninstall -n ONE --dry-run": unchanged(
        0,
        /^stays: ClusterRole snapkeep-snapshot-controller, of which nothing says whose installation it is/m,
        /^would delete: ServiceAccount \S+one\/snapshot-controller/m,
      ),
      "--uninstall -n ONE": {
        code: 0,
        after: async (s) => {
          assert.notEqual(await s.resources.read(role), undefined);
          for (const kind of ["Deployment", "Service", "ServiceAccount"])
            await areGone(
              s,
              planIn(s.one).objects.filter((object) => object.kind === kind),
            );
        },
        says: [/^stays: Namespace \S+one, which is in use by Secret \S+one\/snapshot-validation-secret/m],
      },
      "--apply -n ONE": ends((s) => isOwnedBy(s, s.one)),
      "--apply -n TWO": ends((s) => isOwnedBy(s, s.two)),
    },
  ],
  [
    "has a Helm release",
    installedByHelm,
    {
      "--apply -n ONE": unchanged(1, refused, /belongs to Helm release \S+\/snaps/),
      "--check -n ONE": unchanged(1, /Helm release/),
      "--uninstall -n ONE": unchanged(1, none, /belongs to Helm release/),
      "--uninstall -n TWO": unchanged(1, none),
      "--apply -n ONE --adopt": ends((s) => isOwnedBy(s, s.one)),
    },
  ],
  [
    "has a role of somebody else under our name",
    ruled,
    {
      "--apply -n ONE": unchanged(1, refused, /ClusterRole snapkeep-snapshot-controller belongs to somebody else/),
      "--uninstall -n ONE": unchanged(1, none),
      "--apply -n ONE --adopt": ends((s) => isOwnedBy(s, s.one)),
    },
  ],
  [
    "has external-snapshotter in the namespace",
    upstreamIn,
    {
      "--apply -n ONE": unchanged(1, refused, /Deployment \S+\/snapshot-controller belongs to somebody else/),
      "--uninstall -n ONE": unchanged(1, none),
    },
  ],
  [
    "has a configuration of claims that kubectl has applied",
    withClaims,
    {
      "--uninstall -n ONE": {
        ...ends((s) => claimsAre(s, false)),
        code: 0,
        says: [/^deletes: MutatingWebhookConfiguration claim-sources/m],
      },
      "--uninstall -n ONE --dry-run": unchanged(0, /^would delete: MutatingWebhookConfiguration claim-sources/m),
      "--uninstall -n TWO": unchanged(1, none),
      "--uninstall -n ONE --components=snapshot-controller": ends((s) => claimsAre(s, true)),
    },
  ],
  [
    "has a configuration of claims whose Service is gone",
    leftClaimsBehind,
    {
      "--check -n ONE": unchanged(
        1,
        /^! MutatingWebhookConfiguration claim-sources\S+: it asks Service \S+one\/snapshot-validation-service, which does not exist: requests for persistentvolumeclaims are refused/m,
      ),
      "--check": unchanged(1, /^! MutatingWebhookConfiguration claim-sources\S+: it asks Service \S+one\/snap/m),
      "--check -n TWO": unchanged(1, /^! MutatingWebhookConfiguration claim-sources\S+: it asks Service \S+one\/snap/m),
      "--uninstall -n ONE": { ...ends((s) => claimsAre(s, false)), code: 0 },
    },
  ],
  [
    "has a configuration that also asks a Service of somebody else",
    withSharedConfiguration,
    { "--uninstall -n ONE": { ...ends(onlyOtherWebhookIsLeft), code: 0 } },
  ],
];

export const installRows: readonly InstallRow[] = table.flatMap(([cluster, setUp, commands]) =>
  Object.entries(commands).map(([command, expected]) => ({ cluster, setUp, command, ...expected })),
);

const everythingIn = (namespace: string): readonly ManifestObject[] => {
  const { objects, namespaces } = planIn(namespace, [...allComponents, ...drivers]);
  return [...objects, ...namespaces];
};

/** Everything that rows may create, without what the server changes by itself. */
async function snapshotOf(session: RowSession): Promise<readonly unknown[]> {
  const { resources, one, two } = session;
  const objects = [one, two].flatMap(everythingIn);
  const found = [];
  for (const object of [...objects, claimsFor(one)]) {
    const stored = await resources.read(object);
    const { metadata, spec, subjects, webhooks, rules } = stored ?? {};
    const { labels, annotations, uid } = isObject(metadata) ? metadata : {};
    found.push(stored && { name: describe(object), labels, annotations, uid, spec, subjects, webhooks, rules });
  }
  return found;
}

async function cleanUp({ resources, one, two }: RowSession): Promise<void> {
  const objects = [one, two].flatMap((namespace) => [claimsFor(namespace), ...everythingIn(namespace)]);
  objects.push(leaderLease);
  for (const object of objects) {
    const stored = await resources.read(object);
    if (stored !== undefined)
      await resources.remove(stored).catch((reason: unknown) => {
        // A namespace that ends already.
        if (!isFault(reason, "Conflict")) throw reason;
      });
  }
}

export async function playInstallRow(row: InstallRow, session: InstallSession, prefix: string): Promise<void> {
  const own = rowSession(session, `${prefix}-one`, `${prefix}-two`);
  try {
    await row.setUp(own);
    own.resources.forget();
    const before = await snapshotOf(own);
    const argv = row.command.replaceAll("ONE", own.one).replaceAll("TWO", own.two).split(" ");
    const { code, text } = await own.install(...argv);
    if (row.code !== undefined) assert.equal(code, row.code, text);
    for (const pattern of row.says ?? []) assert.match(text, pattern);
    for (const pattern of row.saysNot ?? []) assert.doesNotMatch(text, pattern);
    if (row.changesNothing === true) assert.deepEqual(await snapshotOf(own), before, text);
    await row.after?.(own);
  } finally {
    await cleanUp(own);
  }
}

/** A snapshot CRD with the annotation of this release, and with what a migration has recorded on it. */
export const crdsIn = (phase: CrdPhase, record?: object): readonly CrdDraft[] =>
  snapshotCrds(phase).map((crd) => ({
    ...crd,
    metadata: {
      ...crd.metadata,
      annotations: {
        ...crd.metadata.annotations,
        [versionAnnotation]: version,
        ...(record === undefined ? {} : { [recordAnnotation]: JSON.stringify(record) }),
      },
    },
  }));

export interface CrdState {
  readonly cluster: string;
  /** Each replaces the ones before, as kubectl would. */
  readonly crds: readonly (readonly CrdDraft[])[];
  /** The command that `install` names. */
  readonly next: string;
  readonly status: RegExp;
}

const record = { run: "r", startedAt: "2026-01-01T00:00:00Z", serveV1beta1: false };

/** What `install` says of CRDs that it leaves to `migrate`, and what `migrate --status` says of them. */
export const crdStates: readonly CrdState[] = [
  {
    cluster: "in phase 1",
    crds: [crdsIn(1)],
    next: "snapkeep migrate --to-phase=3",
    status: /^the CRDs are in phase 1$/m,
  },
  {
    cluster: "in phase 2",
    crds: [crdsIn(2)],
    next: "snapkeep migrate --to-phase=3",
    status: /^the CRDs are in phase 2$/m,
  },
  {
    cluster: "in phase 3, at the beginning of a rollback",
    crds: [crdsIn(3, { ...record, goal: 2, back: true, step: "begun" })],
    next: "snapkeep migrate --rollback --to-phase=2",
    status: /^a rollback to phase 2 has not ended; next: snapkeep migrate --rollback --to-phase=2$/m,
  },
  {
    cluster: "in phase 2, in the middle of a migration",
    crds: [crdsIn(2, { ...record, goal: 2, back: false, step: "apply", serveV1beta1: true })],
    next: "snapkeep migrate --to-phase=2 --serve-v1beta1",
    status: /^a migration to phase 2 has not ended; next: snapkeep migrate --to-phase=2 --serve-v1beta1$/m,
  },
  {
    cluster: "in phase 3 over phase 1, by kubectl",
    crds: [crdsIn(1), crdsIn(3)],
    next: "snapkeep migrate --to-phase=3",
    status:
      /^left to do: rewrite .*\n(.*\n)*status.storedVersions still has v1beta1: objects may be stored in it; next: snapkeep migrate --to-phase=3$/m,
  },
  {
    cluster: "in phase 3 over phase 2, by an older install in the middle of a migration",
    crds: [
      crdsIn(2, { ...record, goal: 2, back: false, step: "apply" }),
      crdsIn(3, { ...record, goal: 2, back: false, step: "apply" }),
    ],
    next: "snapkeep migrate --to-phase=3",
    status:
      /^volumesnapshots\S+ was changed by something else after the last migration\n(.*\n)*status.storedVersions .*; next: snapkeep migrate --to-phase=3$/m,
  },
];

async function storedCrds({ client }: InstallSession): Promise<readonly unknown[]> {
  const { objects } = await client.list("CustomResourceDefinition");
  return objects.map(({ metadata: { name, annotations }, spec }) => ({ name, annotations, spec }));
}

/** The first of the CRDs are stored already; install changes them with no command. */
export async function playCrdState({ crds, next, status }: CrdState, session: InstallSession, namespace: string) {
  const own = rowSession(session, namespace, `${namespace}-two`);
  try {
    for (const crd of crds.slice(1).flat())
      await edited(own, crd as unknown as ManifestObject, (stored) => {
        const { annotations } = crd.metadata;
        Object.assign(stored, { spec: crd.spec, metadata: { ...(stored.metadata as JsonObject), annotations } });
      });
    const before = await storedCrds(session);
    const refusal = await own.install("--apply", "-n", namespace);
    assert.equal(refusal.code, 1, refusal.text);
    assert.ok(/install never changes a phase; nothing was changed.*\[SNAP-806\]/.test(refusal.text), refusal.text);
    assert.ok(refusal.text.includes(`run ${next} first`), refusal.text);
    await bindingNames(own, undefined);
    const { text } = await own.install("--diff", "-n", namespace);
    assert.ok(text.includes(`is left to snapkeep migrate: `) && text.includes(`; next: ${next}\n`), text);
    assert.match((await session.snapkeep("migrate", "--status")).text, status);
    const beside = await own.install("--apply", "-n", namespace, "--keep-crds");
    assert.match(beside.text, /^CustomResourceDefinition volumesnapshots\S+ stays as it is: /m);
    await bindingNames(own, namespace);
    assert.deepEqual(await storedCrds(session), before);
  } finally {
    await cleanUp(own);
  }
}
