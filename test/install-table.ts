/**
 * Commands that decide what happens to a cluster, typed at clusters in every state: what is refused, what is named, what is done. Played on
 * the embedded server and on a real control plane. A word that begins with a dash is for `snapkeep install`.
 */
import assert from "node:assert/strict";
import type { ManifestObject } from "../src/api/manifests/component.ts";
import { installationLabel } from "../src/api/manifests/component.ts";
import { isFault } from "../src/base/fault.ts";
import { isObject, type JsonObject } from "../src/base/json.ts";
import { at } from "../src/cli/install/fields.ts";
import { describe, partsWithSecrets } from "../src/cli/install/selection.ts";
import * as states from "./install-states.ts";
import {
  allComponents,
  claimsFor,
  drivers,
  type InstallSession,
  planIn,
  type RowSession,
  rowSession,
} from "./install-states.ts";

interface Expected {
  readonly code: 0 | 1 | 2;
  readonly says?: readonly RegExp[];
  readonly saysNot?: readonly RegExp[];
  after?(session: RowSession): Promise<void>;
  /** All stored objects of both installations stay as they are. */
  readonly changesNothing?: true;
  /** Pods stay as they are while the command runs. */
  readonly isStuck?: true;
}

export interface InstallRow extends Expected {
  readonly cluster: string;
  setUp(session: RowSession): Promise<unknown>;
  /** ONE and TWO are the names of the two namespaces. */
  readonly command: string;
}

const unchanged = (code: 0 | 1 | 2, ...says: readonly RegExp[]): Expected => ({ code, says, changesNothing: true });
const done = (after: (session: RowSession) => Promise<void>, ...says: readonly RegExp[]): Expected => ({
  code: 0,
  after,
  says,
});

async function bindingNames({ resources }: RowSession, namespace: string | undefined): Promise<void> {
  const stored = await resources.read(states.binding);
  const [subject] = (stored?.subjects ?? []) as readonly JsonObject[];
  assert.equal(at(subject, "namespace"), namespace);
}
async function isThere({ resources }: RowSession, object: ManifestObject, expected = true): Promise<void> {
  assert.equal((await resources.read(object)) !== undefined, expected, describe(object));
}
const claimsAre = (s: RowSession, expected: boolean): Promise<void> => isThere(s, claimsFor(s.one), expected);
async function labelIs({ resources }: RowSession, object: ManifestObject, namespace: string): Promise<void> {
  const stored = await resources.read(object);
  assert.equal(at(stored, "metadata", "labels", installationLabel), namespace, describe(object));
}
const isOwnedBy = (s: RowSession, namespace: string): Promise<void> => labelIs(s, states.binding, namespace);
/** Every object, the Secret of the certificate too. */
async function allAreOwned(s: RowSession, names = allComponents): Promise<void> {
  const { crds, namespaces } = planIn(s.one, names);
  for (const object of [...partsWithSecrets(planIn(s.one, names)).flat(), ...crds, ...namespaces])
    if ((await s.resources.read(object)) !== undefined && !(await isOfOthers(s, object)))
      await labelIs(s, object, s.one);
}
/** A definition of another maker stays as it is. */
const isOfOthers = async ({ resources }: RowSession, object: ManifestObject): Promise<boolean> =>
  object.kind === "CustomResourceDefinition" &&
  at(await resources.read(object), "metadata", "annotations", "snapkeep.dev/version") === undefined;
async function areGone({ resources }: RowSession, objects: readonly ManifestObject[]): Promise<void> {
  for (const object of objects) assert.equal(await resources.read(object), undefined, describe(object));
}
const isGone = (s: RowSession): Promise<void> => areGone(s, partsWithSecrets(planIn(s.one)).flat());

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
async function onlyWebhookIsLeft(s: RowSession): Promise<void> {
  await bindingNames(s, undefined);
  await isThere(s, states.validation);
  await worksIn(s, s.one, "Deployment", "snapshot-validation-deployment");
}
async function onlyShareDriverIsLeft(s: RowSession): Promise<void> {
  for (const object of [states.csiDriver, states.storageClass]) await isThere(s, object, false);
  await worksIn(s, `${s.one}-drivers`, "DaemonSet", "shared-resource-csi-driver-node");
}
async function namespaceIsGone({ resources }: RowSession, name: string): Promise<void> {
  const stored = await resources.read({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  assert.ok(stored === undefined || at(stored, "metadata", "deletionTimestamp") !== undefined, name);
}
async function onlyOtherWebhookIsLeft({ resources, one }: RowSession): Promise<void> {
  const webhooks = ((await resources.read(claimsFor(one)))?.webhooks ?? []) as readonly JsonObject[];
  assert.deepEqual(
    webhooks.map(({ name }) => name),
    ["other.example.com"],
  );
}
/** The configuration for claims is trusted, and has this policy. */
async function claimsRefuse(s: RowSession, policy = "Fail"): Promise<void> {
  const stored = await s.resources.read(claimsFor(s.one));
  const [webhook] = (stored?.webhooks ?? []) as readonly JsonObject[];
  assert.equal(at(webhook, "failurePolicy"), policy);
  assert.ok(String(at(webhook, "clientConfig", "caBundle") ?? "").length > 0);
  await labelIs(s, claimsFor(s.one), s.one);
}
async function policyIs({ resources }: RowSession, policy: string): Promise<void> {
  const [webhook] = ((await resources.read(states.validation))?.webhooks ?? []) as readonly JsonObject[];
  assert.equal(at(webhook, "failurePolicy"), policy);
}
const myDriver = "install sidecar --into=deployment/my-driver -n ONE";
async function driverRuns({ resources, one }: RowSession, ...images: readonly RegExp[]): Promise<void> {
  const metadata = { namespace: one, name: "my-driver" };
  const stored = await resources.read({ apiVersion: "apps/v1", kind: "Deployment", metadata });
  const containers = (at(stored, "spec", "template", "spec", "containers") ?? []) as readonly JsonObject[];
  assert.equal(containers.length, images.length);
  for (const [index, image] of images.entries()) assert.match(String(containers[index]?.image), image);
}

const refused = /belong to somebody else.*nothing was changed.*\[SNAP-804\]/;
const none = /nothing was deleted: there is no installation of these components in namespace .*\[SNAP-805\]/;
const ownerIsOne = /belongs to the installation in namespace \S*one/;
const asksGone =
  /^! MutatingWebhookConfiguration claim-sources\S+: it asks Service \S+one\/snapshot-validation-service, which does not exist: requests for persistentvolumeclaims are refused/m;
const nobodyRenews = /^x Lease \S+one\/snapshot-webhook-certificates: nobody holds it/m;
const nobodyLeads = /^x Lease kube-system\/snapshot-controller-leader: nobody holds it/m;
const notAsked =
  /no webhook configuration asks Service \S+\/snapshot-validation-service: .*nothing was changed.*\[SNAP-807\]/;
const stuckWords = (before: string, after: string): readonly RegExp[] => [
  new RegExp(`${before}Pod \\S+one/without-image: container c: ErrImagePull: not found${after}`, "m"),
  new RegExp(`${before}Pod \\S+one/without-volume: FailedMount: no such volume${after}`, "m"),
];

async function renewedBy(session: RowSession, who: "self" | "cert-manager"): Promise<void> {
  const { resources, one } = session;
  const configuration = await resources.read(states.validation);
  const certificate = {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { namespace: one, name: "snapshot-validation" },
  };
  const found = {
    injects: at(configuration, "metadata", "annotations", "cert-manager.io/inject-ca-from"),
    certificate: (await resources.read(certificate)) !== undefined,
    secret: (await resources.read(states.secretIn(one))) !== undefined,
    renews: JSON.stringify(await resources.read(webhookIn(one))).includes("--certificate-secret="),
  };
  assert.deepEqual(
    found,
    who === "self"
      ? { injects: undefined, certificate: false, secret: true, renews: true }
      : { injects: `${one}/snapshot-validation`, certificate: true, secret: false, renews: false },
  );
}
const webhookIn = (namespace: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace, name: "snapshot-validation-deployment" },
});

/** Each row is a state of the cluster, with what each command does. */
const table: readonly (readonly [string, InstallRow["setUp"], Readonly<Record<string, Expected>>])[] = [
  [
    "is empty",
    states.nothing,
    {
      "--apply -n ONE": done(allAreOwned, /everything is ready$/m),
      "--apply -n ONE --timeout=5s": {
        ...unchanged(1, /not ready after 5 s/),
        changesNothing: undefined,
        isStuck: true,
      } as never,
      "--check -n ONE": unchanged(1, /^\+ ClusterRole /m),
      "--diff -n ONE": unchanged(0, /^\+ ClusterRole /m),
      "--uninstall -n ONE": unchanged(1, none),
      "--uninstall --dry-run -n ONE": unchanged(1, none),
      "--apply -n ONE --admission-claims": done(claimsRefuse, /^MutatingWebhookConfiguration claim-\S+ applied$/m),
      "--apply -n ONE --certificates=cert-manager": unchanged(
        1,
        /does not serve Issuer .*install cert-manager.*SNAP-809\]/,
      ),
      "--apply -n ONE --components=snapshot-controller --admission-claims": unchanged(2, /needs the webhook/),
      "certs --apply --namespace=ONE": { code: 1, says: [/ONE|namespaces? \S*one/], changesNothing: true },
      "webhook promote": unchanged(1, /there is no ValidatingWebhookConfiguration .*; install the webhook first/),
      [`${myDriver} --diff`]: unchanged(1, /Deployment \S+\/my-driver does not exist/),
    },
  ],
  [
    "has the installation",
    states.renewing(states.installed),
    {
      "--apply -n ONE": done((s) => isOwnedBy(s, s.one)),
      "--diff -n ONE": unchanged(0, /as this release would install it/),
      "--check -n ONE": { ...unchanged(1, nobodyLeads), saysNot: [nobodyRenews] },
      "--check -n ONE -o json": unchanged(1, /"problems": \[\s*\{\s*"object": "Lease /),
      "--check -n ONE --components=webhook": unchanged(0, /^everything that is installed works$/m),
      "--check -n ONE --admission-claims": unchanged(1, /^\+ MutatingWebhookConfiguration claim-sources/m),
      "--apply -n ONE --admission-claims": done(claimsRefuse),
      "--uninstall --dry-run -n ONE": unchanged(0, /^would delete: ClusterRoleBinding/m, /^would delete: Namespace/m),
      "--uninstall -n ONE": done(isGone, /^deletes: ClusterRoleBinding/m, /^deletes: Namespace \S+one$/m),
      "--uninstall -n ONE --components=webhook": done(async (s) => {
        await bindingNames(s, s.one);
        await worksIn(s, s.one, "Deployment", "snapshot-controller");
      }, /^deletes: Deployment \S+\/snapshot-validation-deployment/m),
      "--uninstall -n ONE --components=snapshot-controller": done(
        onlyWebhookIsLeft,
        /^stays: Namespace \S+one, which is in use by \w+ \S+one\/snapshot-validation-deployment/m,
      ),
      "--apply -n TWO": unchanged(1, refused, ownerIsOne),
      "--apply -n TWO --components=webhook": unchanged(1, refused),
      "--apply -n TWO --adopt": done((s) => bindingNames(s, s.two)),
      "--check -n TWO": unchanged(
        1,
        /^! ClusterRoleBinding snapkeep-snapshot-controller: belongs to the installation/m,
      ),
      "--diff -n TWO": unchanged(0, /^! ClusterRole /m),
      "--uninstall -n TWO": unchanged(1, none, /there is one in \S*one/),
      "--uninstall -n TWO --dry-run": unchanged(1, none),
      "--uninstall -n ONE-drivers": unchanged(1, none),
      "--uninstall": unchanged(1, none),
      "certs --apply --namespace=ONE": unchanged(0, /the certificates are good for a while; nothing to do/),
      "certs --apply --namespace=TWO": unchanged(1, notAsked),
      "certs --apply": unchanged(1, notAsked),
      "webhook promote": unchanged(
        1,
        /an invalid VolumeSnapshot is allowed: the API server does not reach the webhook/,
      ),
      "webhook promote --demote": unchanged(0, /has failurePolicy Ignore already/),
    },
  ],
  [
    "works",
    states.working(),
    {
      "--check -n ONE": unchanged(0, /^everything that is installed works$/m),
      "--apply -n ONE": done((s) => isOwnedBy(s, s.one), /^already there: Lease kube-system\//m),
    },
  ],
  [
    "has the installation with failurePolicy Fail",
    states.withPolicy("Fail"),
    {
      "--apply -n ONE": done((s) => policyIs(s, "Fail")),
      "--diff -n ONE": unchanged(0, /as this release would install it/),
      "webhook promote": unchanged(1, /a valid VolumeSnapshot is refused .*snapkeep webhook promote --demote allows/),
      "webhook promote --demote": done((s) => policyIs(s, "Ignore"), /has failurePolicy Ignore now/),
    },
  ],
  [
    "has cert-manager",
    states.withCertManager,
    {
      "--apply -n ONE": done((s) => renewedBy(s, "self")),
      "--apply -n ONE --certificates=cert-manager": done((s) => renewedBy(s, "cert-manager")),
    },
  ],
  [
    "has an installation whose certificate cert-manager renews",
    states.installedWithCertManager,
    {
      "--apply -n ONE": done((s) => renewedBy(s, "cert-manager")),
      "--diff -n ONE": unchanged(0, /as this release would install it/),
      "--diff -n ONE --certificates=self": unchanged(0, /^~ Deployment \S+\/snapshot-validation-deployment$/m),
      "certs --apply --namespace=ONE": unchanged(0, /is renewed by cert-manager; nothing to do/),
      "--uninstall -n ONE": done(isGone, /^deletes: Certificate \S+\/snapshot-validation$/m),
    },
  ],
  [
    "has an installation whose certificate cert-manager renews, and a cainjector that takes its time",
    states.injectedLate,
    {
      // Whoever looks meanwhile finds a configuration that refuses nothing.
      "--apply -n ONE --admission-claims": done(claimsRefuse, /claim-\S+ applied$/m),
    },
  ],
  [
    "has the installation with the configuration for claims",
    states.renewing(states.installedWithClaims),
    {
      "--apply -n ONE": done(claimsRefuse),
      "--apply -n ONE --admission-claims": done(claimsRefuse),
      "--check -n ONE --components=webhook": unchanged(0, /^everything that is installed works$/m),
      "--uninstall -n ONE --components=snapshot-controller": done((s) => claimsAre(s, true)),
      "--uninstall -n ONE": done((s) => claimsAre(s, false), /^deletes: MutatingWebhookConfiguration claim-sources/m),
      "--apply -n TWO --admission-claims": unchanged(1, refused),
      "certs --apply --namespace=ONE": unchanged(0, /nothing to do/),
    },
  ],
  [
    "has the installation with the configuration for claims, which an administrator set to Ignore",
    states.renewing(states.withLaxClaims),
    {
      "--apply -n ONE": done((s) => claimsRefuse(s, "Ignore")),
      "--check -n ONE --components=webhook": unchanged(
        0,
        /^MutatingWebhookConfiguration claim-\S+ has failurePolicy Ignore: while the webhook is down, /m,
      ),
    },
  ],
  [
    "has pods that do not run",
    states.withStuckPods,
    {
      "--check -n ONE": { ...unchanged(1, ...stuckWords("^x ", "$")), isStuck: true },
      "--apply -n ONE --timeout=5s": { code: 1, says: [/not ready after/, ...stuckWords("\\(", "\\)")], isStuck: true },
    },
  ],
  [
    "has the lease of external-snapshotter",
    states.upstreamLeads,
    {
      "--check -n ONE": unchanged(
        1,
        /^x Lease kube-system\/snapshot-controller-leader: upstream-7_1 holds it, which is no pod of Deployment \S+one\//m,
      ),
    },
  ],
  [
    "has lost the webhook's certificate",
    states.withoutCertificate,
    {
      "--check -n ONE": unchanged(
        1,
        /^x Secret \S+one\/snap\S+: authority certificate: there is none; snapkeep certs --apply --namespace=\S+one renews it$/m,
      ),
      "--check -n ONE --components=snapshot-controller": { ...unchanged(1), saysNot: [/Secret/] },
      "certs --apply --namespace=ONE": done((s) => isThere(s, states.secretIn(s.one)), /a new .*authority/),
      "--apply -n ONE": done((s) => labelIs(s, states.secretIn(s.one), s.one)),
    },
  ],
  [
    "has a configuration without the authority of the certificate",
    states.withoutAuthority,
    {
      "--check -n ONE": unchanged(
        1,
        /^x ValidatingWebhookConfiguration webhook-val\S+: its caBundle does not have the authority of Secret \S+one\//m,
      ),
      "certs --apply --namespace=ONE": done(async () => undefined, /caBundle of webhook-validation/),
    },
  ],
  [
    "has two drivers",
    states.installedDrivers,
    {
      "--apply -n ONE --components=directory-driver": done((s) => labelIs(s, states.csiDriver, s.one)),
      "--check -n ONE --components=directory-driver": unchanged(
        1,
        /^x Lease \S+one-drivers\/external-snapshotter-leader-directory-snapkeep-dev: nobody holds it/m,
        /^x Lease \S+one-drivers\/directory-snapkeep-dev: nobody holds it/m,
      ),
      "--apply -n TWO --components=directory-driver": unchanged(1, refused, /CSIDriver directory\S+ belongs to/),
      "--check -n TWO --components=directory-driver": unchanged(
        1,
        /^! StorageClass directory: belongs to the installation/m,
      ),
      "--uninstall -n TWO --components=directory-driver": unchanged(1, none),
      "--uninstall -n ONE": unchanged(1, none),
      "--uninstall -n ONE --components=directory-driver --dry-run": unchanged(0, /^stays: Namespace \S+one-drivers, /m),
      "--uninstall -n ONE --components=directory-driver": done(onlyShareDriverIsLeft),
      "--uninstall -n ONE --components=directory-driver,shared-resource": done((s) =>
        namespaceIsGone(s, `${s.one}-drivers`),
      ),
    },
  ],
  [
    "has a driver that works",
    states.working(["directory-driver"]),
    {
      "--check -n ONE --components=directory-driver": unchanged(0, /^everything that is installed works$/m),
      "--check -n ONE --components=directory-driver,webhook": unchanged(1, /^\+ Deployment \S+\/snapshot-validation/m),
    },
  ],
  [
    "has a StorageClass of somebody else under our name",
    states.classOfOthers,
    {
      "--apply -n ONE --components=directory-driver": unchanged(
        1,
        refused,
        /StorageClass directory belongs to somebody/,
      ),
      "--uninstall -n ONE --components=directory-driver": unchanged(1, none),
    },
  ],
  [
    "has half of an installation, after --adopt from elsewhere",
    states.renewing(states.inTransit, "two"),
    {
      "--uninstall -n ONE": done(
        (s) => bindingNames(s, s.two),
        /^stays: ClusterRoleBinding \S+, which belongs to the installation in namespace \S*two/m,
      ),
      "--check -n TWO --components=webhook": unchanged(0, /^everything that is installed works$/m),
      "certs --apply --namespace=ONE": unchanged(1, notAsked),
    },
  ],
  [
    "has an installation of 0.2.0",
    states.installed020,
    {
      "--apply -n ONE --components=snapshot-controller,webhook,directory-driver": done((s) =>
        allAreOwned(s, ["snapshot-controller", "webhook", "directory-driver"]),
      ),
      "--check -n ONE": unchanged(1, /snapkeep\.dev\/installation: absent → /),
      "--uninstall -n ONE": done(isGone),
      "--uninstall -n ONE --dry-run": unchanged(0, /^would delete: ClusterRoleBinding/m, /^would delete: Secret/m),
      "--uninstall -n ONE --components=directory-driver": done(async (s) => {
        for (const object of [states.csiDriver, states.storageClass]) await isThere(s, object, false);
        await namespaceIsGone(s, `${s.one}-drivers`);
        await worksIn(s, s.one, "Deployment", "snapshot-controller");
      }),
      "--apply -n TWO": unchanged(1, refused, ownerIsOne),
      "--apply -n TWO --components=directory-driver": unchanged(1, refused),
      "--apply -n TWO --adopt": done((s) => bindingNames(s, s.two)),
      "--check -n TWO": unchanged(1, ownerIsOne),
      "--uninstall -n TWO": unchanged(1, none, /there is one in \S*one/),
      "certs --apply --namespace=ONE": unchanged(0, /nothing to do/),
    },
  ],
  [
    "has what an interrupted uninstallation of 0.2.0 left",
    states.half020,
    {
      "--uninstall -n TWO": unchanged(1, none),
      "--uninstall -n ONE --dry-run": unchanged(
        0,
        /^stays: ClusterRole snapkeep-snapshot-controller, of which nothing says whose installation it is/m,
        /^would delete: ServiceAccount \S+one\/snapshot-controller/m,
      ),
      "--uninstall -n ONE": done(async (s) => {
        await isThere(s, states.role);
        const kinds = ["Deployment", "Service", "ServiceAccount"];
        await areGone(
          s,
          planIn(s.one).objects.filter(({ kind }) => kinds.includes(kind)),
        );
      }, /^stays: Namespace \S+one, which is in use by Secret \S+one\/snapshot-validation-secret/m),
      "--apply -n TWO": done((s) => isOwnedBy(s, s.two)),
    },
  ],
  [
    "has a Helm release",
    states.installedByHelm,
    {
      "--apply -n ONE": unchanged(1, refused, /belongs to Helm release \S+\/snaps/),
      "--check -n ONE": unchanged(1, /Helm release/),
      "--uninstall -n ONE": unchanged(1, none, /belongs to Helm release/),
      "--uninstall -n TWO": unchanged(1, none),
      "--apply -n ONE --adopt": done((s) => isOwnedBy(s, s.one)),
      "certs --apply --namespace=ONE": unchanged(0, /nothing to do/),
    },
  ],
  [
    "has a role of somebody else under our name",
    states.ruled,
    {
      "--apply -n ONE": unchanged(1, refused, /ClusterRole snapkeep-snapshot-controller belongs to somebody else/),
      "--uninstall -n ONE": unchanged(1, none),
      "--apply -n ONE --adopt": done((s) => isOwnedBy(s, s.one)),
    },
  ],
  [
    "has external-snapshotter in the namespace",
    states.upstreamIn,
    {
      "--apply -n ONE": unchanged(1, refused, /Deployment \S+\/snapshot-controller belongs to somebody else/),
      "--uninstall -n ONE": unchanged(1, none),
    },
  ],
  [
    "has a configuration of claims that kubectl has applied",
    states.withClaims,
    {
      "--uninstall -n ONE": done((s) => claimsAre(s, false), /^deletes: MutatingWebhookConfiguration claim-sources/m),
      "--uninstall -n ONE --dry-run": unchanged(0, /^would delete: MutatingWebhookConfiguration claim-sources/m),
      "--uninstall -n TWO": unchanged(1, none),
      "--uninstall -n ONE --components=snapshot-controller": done((s) => claimsAre(s, true)),
      "--apply -n ONE": done(claimsRefuse),
    },
  ],
  [
    "has a configuration of claims whose Service is gone",
    states.leftClaimsBehind,
    {
      "--check -n ONE": unchanged(1, asksGone),
      "--check": unchanged(1, asksGone),
      "--check -n TWO": unchanged(1, asksGone),
      "--uninstall -n ONE": done((s) => claimsAre(s, false)),
    },
  ],
  [
    "has a configuration that also asks a Service of somebody else",
    states.withSharedConfiguration,
    { "--uninstall -n ONE": done(onlyOtherWebhookIsLeft) },
  ],
  [
    "has a namespace that is still being deleted",
    states.ending,
    { "--apply -n ONE": done(allAreOwned, /^Namespace \S+one created$/m) },
  ],
  [
    "has a driver with upstream's sidecars",
    states.driverWith(true, "csi-snapshotter", "csi-provisioner"),
    {
      [`${myDriver} --diff`]: unchanged(
        0,
        /^container csi-snapshotter of \S+, taken for csi-snapshotter by its name, becomes part of csi-sidecars, which runs snapkeep:1\.2\.3$/m,
        /^container csi-provisioner of \S+, taken for csi-provisioner by its name, becomes part of csi-sidecars, /m,
      ),
      [`${myDriver} --apply`]: done((s) => driverRuns(s, /^driver:1$/, /^snapkeep:1/), /is ready$/m),
      [`${myDriver} --separate --diff`]: unchanged(
        0,
        /^container csi-snapshotter, taken for csi-snapshotter by its name, runs snapkeep:1\.2\.3 /m,
      ),
      [`${myDriver} --separate --apply`]: done((s) => driverRuns(s, /^driver:1$/, /^snapkeep:1/, /^snapkeep:1/)),
      [`${myDriver} --check`]: unchanged(2, /sidecar goes with --print, --diff or --apply/),
      "install sidecar --into=deployment/other -n ONE --apply": unchanged(1, /Deployment \S+\/other does not exist/),
    },
  ],
  [
    "has a driver without sidecars",
    states.driverWith(true),
    {
      [`${myDriver} --diff`]: unchanged(0, /^container csi-sidecars is added$/m),
      [`${myDriver} --apply`]: done((s) => driverRuns(s, /^driver:1$/, /^snapkeep:1/)),
      [`${myDriver} --separate --diff`]: unchanged(
        0,
        /^container csi-snapshotter is added$/m,
        /^container csi-provisioner is added$/m,
      ),
    },
  ],
  [
    "has a driver whose socket nobody can share",
    states.driverWith(false),
    { [`${myDriver} --apply`]: unchanged(1, /csi-sidecars cannot be added: .*\[SNAP-803\]/) },
  ],
];

export const installRows: readonly InstallRow[] = table.flatMap(([cluster, setUp, commands]) =>
  Object.entries(commands).map(([command, expected]) => ({ cluster, setUp, command, ...expected })),
);

const everythingIn = (namespace: string): readonly ManifestObject[] => {
  const plan = planIn(namespace, [...allComponents, ...drivers]);
  const driver = { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace, name: "my-driver" } };
  return [...partsWithSecrets(plan).flat(), driver, ...plan.namespaces];
};

/** Everything that rows may create, without what the server changes by itself. */
async function snapshotOf({ resources, one, two }: RowSession): Promise<readonly unknown[]> {
  const found = [];
  for (const object of [...[one, two].flatMap(everythingIn), claimsFor(one)]) {
    const stored = await resources.read(object);
    const { metadata, spec, subjects, webhooks, rules, data } = stored ?? {};
    const { labels, annotations, uid } = isObject(metadata) ? metadata : {};
    const { "deployment.kubernetes.io/revision": _, ...kept } = isObject(annotations) ? annotations : {};
    found.push(stored && { name: describe(object), labels, kept, uid, spec, subjects, webhooks, rules, data });
  }
  return found;
}

/** Also for the states of CRDs. */
export async function cleanUp({ resources, one, two }: RowSession): Promise<void> {
  for (const object of [claimsFor(one), ...[one, two].flatMap(everythingIn), states.leaderLease]) {
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
  const playing = <T>(work: () => Promise<T>): Promise<T> =>
    row.isStuck === true ? work() : session.whilePodsAreReady(prefix, work);
  try {
    await playing(() => row.setUp(own));
    own.resources.forget();
    const before = await snapshotOf(own);
    const words = row.command.replaceAll("ONE", own.one).replaceAll("TWO", own.two).split(" ");
    const [command = "", ...argv] = words[0]?.startsWith("-") === true ? ["install", ...words] : words;
    const { code, text } = await playing(() => session.snapkeep(command, ...argv));
    assert.equal(code, row.code, text);
    for (const pattern of row.says ?? []) assert.match(text, pattern);
    for (const pattern of row.saysNot ?? []) assert.doesNotMatch(text, pattern);
    if (row.changesNothing === true) assert.deepEqual(await snapshotOf(own), before, text);
    await row.after?.(own);
  } finally {
    await cleanUp(own);
    await states.withoutCertManager(own);
  }
}
