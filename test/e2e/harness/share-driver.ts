/** `snapkeep shared-resource --mode=node` as a process on a real API server, with what an installation gives it; and its shares. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { PolicyRule } from "kubernetes-types/rbac/v1.js";
import { sharedResourceCrds } from "../../../src/api/crds/shared-resource.ts";
import { kindRows } from "../../../src/api/kinds.ts";
import { nodeServiceAccount, sharedResourceRow } from "../../../src/api/manifests/shared-resource.ts";
import type { ShareKind } from "../../../src/api/share-lists.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../../src/csi/gen/csi_pb.js";
import { componentProgram } from "./components.ts";
import type { ControlPlane } from "./control-plane.ts";
import { installCrdsOn } from "./crds.ts";
import type { Daemon, Instance } from "./instance.ts";
import type { MemoryGroup } from "./memory-group.ts";
import type { Node } from "./node.ts";
import { isReady, shipped, shippedContainer } from "./shipped.ts";
import { shippedAccount, untilAllowed } from "./shipped-accounts.ts";
import { driversOf } from "./static-claims.ts";
import { until } from "./until.ts";

export const shareDriverName = "csi.sharedresource.openshift.io";
const group = "sharedresource.openshift.io";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const component = "shared-resource";
const nodeDriverIn = (namespace: string): Subject => ({ kind: "ServiceAccount", namespace, name: nodeServiceAccount });

type Plane = Pick<ControlPlane, "request">;

/** 409 is no mistake: suites share a control plane. */
async function ensure({ request }: Plane, path: string, body: unknown): Promise<void> {
  const { status, text } = await request("POST", path, body);
  assert.ok(status === 201 || status === 409, `${path}: ${status} ${text}`);
}

async function remove({ request }: Plane, path: string): Promise<void> {
  const { status, text } = await request("DELETE", path);
  assert.ok(status === 200 || status === 202 || status === 404, `${path}: ${status} ${text}`);
}

export async function installShares(plane: Pick<ControlPlane, "request" | "kubeconfig">): Promise<void> {
  await installCrdsOn(plane, sharedResourceCrds());
  for (const { plural } of [kindRows.SharedSecret, kindRows.SharedConfigMap])
    await until({ what: `${plural} are served` }, async () =>
      (await plane.request("GET", `/apis/${group}/v1alpha1/${plural}`)).status === 200 ? true : undefined,
    );
  for (const { objects } of sharedResourceRow.others(shipped))
    for (const object of objects) await ensure(plane, "/apis/storage.k8s.io/v1/csidrivers", object);
}

/** A kubeconfig with the token of the driver's service account, which has the rights of its manifests. */
export const driverKubeconfig = async (plane: ControlPlane): Promise<string> =>
  (await shippedAccount(plane, component)).kubeconfig;

export interface ShareRequest {
  readonly kind?: ShareKind;
  readonly name: string;
  readonly namespace: string;
  readonly data: Readonly<Record<string, string>>;
}

const fields = { SharedSecret: "secretRef", SharedConfigMap: "configMapRef" } as const;
const sourcesOf = { SharedSecret: "secrets", SharedConfigMap: "configmaps" } as const;
const sharePath = (kind: ShareKind, name = ""): string => `/apis/${group}/v1alpha1/${kindRows[kind].plural}/${name}`;
const sourcePath = (
  { kind = "SharedSecret", namespace }: Pick<ShareRequest, "kind" | "namespace">,
  name = "",
): string => `/api/v1/namespaces/${namespace}/${sourcesOf[kind]}/${name}`;
const sourceOf = ({ kind = "SharedSecret", name, data }: ShareRequest): unknown => ({
  metadata: { name },
  ...(kind === "SharedSecret" ? { stringData: data } : { data }),
});

/** A share with its Secret or ConfigMap of the same name, which the driver alone may read: that of the harness, or one that is installed. */
export async function createShare(
  plane: Plane,
  share: ShareRequest,
  driverNamespace: string = shipped.driverNamespace,
): Promise<void> {
  const { kind = "SharedSecret", name, namespace } = share;
  await ensure(plane, sourcePath(share), sourceOf(share));
  await letRead(plane, share, driverNamespace);
  await ensure(plane, sharePath(kind), {
    apiVersion: `${group}/v1alpha1`,
    kind,
    metadata: { name },
    spec: { [fields[kind]]: { namespace, name } },
  });
}

/** What a share's owner grants to the driver: one object. */
export async function letRead(
  plane: Plane,
  { kind = "SharedSecret", name, namespace }: ShareRequest,
  driverNamespace: string = shipped.driverNamespace,
): Promise<void> {
  const role = `read-${sourcesOf[kind]}-${name}`;
  await grant(plane, namespace, role, {
    rule: { apiGroups: [""], resources: [sourcesOf[kind]], resourceNames: [name], verbs: ["get", "list", "watch"] },
    subject: nodeDriverIn(driverNamespace),
  });
}

export const revokeLetRead = (plane: Plane, { kind = "SharedSecret", name, namespace }: ShareRequest): Promise<void> =>
  remove(plane, `${rbac}/namespaces/${namespace}/rolebindings/read-${sourcesOf[kind]}-${name}`);

/** Not before the API server knows of it: who asks a moment earlier is denied. */
async function grant(plane: Plane, namespace: string, name: string, given: { rule: PolicyRule; subject: Subject }) {
  await ensure(plane, `${rbac}/namespaces/${namespace}/roles`, { metadata: { name }, rules: [given.rule] });
  await ensure(plane, `${rbac}/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    roleRef: { kind: "Role", name, apiGroup: "rbac.authorization.k8s.io" },
    subjects: [given.subject],
  });
  const user = `system:serviceaccount:${given.subject.namespace}:${given.subject.name}`;
  await untilAllowed(plane, user, given.rule, namespace);
}

interface Subject {
  readonly kind: "ServiceAccount";
  readonly namespace: string;
  readonly name: string;
}

interface Use {
  readonly kind?: ShareKind;
  readonly share: string;
  readonly namespace: string;
  readonly serviceAccount?: string;
}
const useRole = ({ kind = "SharedSecret", share, serviceAccount = "reader" }: Use): string =>
  `use-${kindRows[kind].plural}-${share}-${serviceAccount}`;

export const letUse = (plane: Plane, use: Use): Promise<void> =>
  grant(plane, use.namespace, useRole(use), {
    rule: {
      apiGroups: [group],
      resources: [kindRows[use.kind ?? "SharedSecret"].plural],
      resourceNames: [use.share],
      verbs: ["use"],
    },
    subject: { kind: "ServiceAccount", namespace: use.namespace, name: use.serviceAccount ?? "reader" },
  });

export const revokeUse = (plane: Plane, use: Use): Promise<void> =>
  remove(plane, `${rbac}/namespaces/${use.namespace}/rolebindings/${useRole(use)}`);

export async function updateSource(plane: Plane, share: ShareRequest): Promise<void> {
  const { status, text } = await plane.request("PUT", sourcePath(share, share.name), sourceOf(share));
  assert.equal(status, 200, text);
}

export const deleteSource = (plane: Plane, share: ShareRequest): Promise<void> =>
  remove(plane, sourcePath(share, share.name));
export const deleteShare = (plane: Plane, { kind = "SharedSecret", name }: ShareRequest): Promise<void> =>
  remove(plane, sharePath(kind, name));

export interface ShareDriver {
  readonly socket: string;
  /** Where the records of mounted volumes are. */
  readonly records: string;
  /** Has the limit of the manifests, where this machine lets us set it. */
  readonly memory: MemoryGroup | undefined;
  /** The address of the probes and the metrics. */
  readonly statusUrl: string;
  daemon(): Daemon;
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface ShareDriverOptions {
  readonly kubeconfig: string;
  /** Instead of, or beside the shipped ones. */
  readonly flags?: readonly string[];
  /** Another one than ours. */
  readonly program?: readonly string[];
  /** The kubelet whose pods it serves; absent: the instance's folder, where the targets of a test are. */
  readonly kubeletFolder?: string;
}

/** With the flags and the memory of its manifests; `start` does not wait until it is ready. */
export async function shareDriverProcess(
  instance: Instance,
  { kubeconfig, flags: given = [], program = componentProgram, kubeletFolder = instance.folder }: ShareDriverOptions,
) {
  const name = "share-driver";
  const folder = join(instance.folder, name);
  const records = join(folder, "records");
  const { flags, ...shippedToo } = await shippedContainer(instance, component, {
    name,
    folders: { "/csi": folder, "/csi-volumes-map": records, [shipped.kubeletFolder]: kubeletFolder },
    flags: ["-v=5", "--nodeid=localhost", ...given],
  });
  const words = [...program, component, `--kubeconfig=${kubeconfig}`, ...flags];
  const start = (): Daemon => instance.start(component, process.execPath, words, {}, shippedToo.memory);
  return { ...shippedToo, socket: join(folder, "csi.sock"), records, start };
}

/** Ready when this returns. */
export async function startShareDriver(instance: Instance, options: ShareDriverOptions): Promise<ShareDriver> {
  const { start, ...driver } = await shareDriverProcess(instance, options);
  const run = async (): Promise<Daemon> => {
    const daemon = start();
    await until({ what: "the share driver is ready", everyMs: 10 }, async () => {
      if (!daemon.running()) throw new Error(`the share driver ended while starting:\n${daemon.lastWords()}`);
      return (await isReady(driver.statusUrl)) ? true : undefined;
    });
    return daemon;
  };
  let daemon = await run();
  return {
    ...driver,
    daemon: () => daemon,
    kill: () => daemon.stop("SIGKILL"),
    start: async () => {
      daemon = await run();
    },
  };
}

/** On the node, known to its kubelet, with what it needs installed on the node's control plane. */
export async function startRegisteredShareDriver(
  node: Node,
  instance: Instance,
  flags: readonly string[] = [],
): Promise<ShareDriver> {
  await installShares(node.plane);
  const driver = await startShareDriver(instance, {
    kubeconfig: await driverKubeconfig(node.plane),
    kubeletFolder: node.rootDir,
    flags: [
      `--kubelet-registration-path=${join(instance.folder, "share-driver", "csi.sock")}`,
      `--kubelet-registry-folder=${join(node.rootDir, "plugins_registry")}`,
      ...flags,
    ],
  });
  await until({ what: "the kubelet knows the driver" }, async () =>
    (await driversOf(node)).includes(shareDriverName) ? true : undefined,
  );
  return driver;
}

/** In a pod. */
export const shareVolumeOf = (
  volume: string,
  { kind = "SharedSecret", name }: Pick<ShareRequest, "kind" | "name">,
): JsonObject => ({
  name: volume,
  csi: {
    driver: shareDriverName,
    readOnly: true,
    volumeAttributes: { [kind === "SharedSecret" ? "sharedSecret" : "sharedConfigMap"]: name },
  },
});

export interface VolumeRequest {
  readonly id: string;
  readonly target: string;
  readonly namespace: string;
  readonly share: string;
  readonly kind?: ShareKind;
  readonly serviceAccount?: string;
  readonly refresh?: boolean;
  readonly readOnly?: boolean;
}

/** As the kubelet asks. */
export const publishRequest = (volume: VolumeRequest) => ({
  volumeId: volume.id,
  targetPath: volume.target,
  readonly: volume.readOnly ?? true,
  volumeCapability: {
    accessType: { case: "mount" as const, value: {} },
    accessMode: { mode: AccessMode.SINGLE_NODE_WRITER },
  },
  volumeContext: {
    [(volume.kind ?? "SharedSecret") === "SharedSecret" ? "sharedSecret" : "sharedConfigMap"]: volume.share,
    ...(volume.refresh === undefined ? {} : { refreshResource: String(volume.refresh) }),
    "csi.storage.k8s.io/pod.name": `pod-${volume.id}`,
    "csi.storage.k8s.io/pod.namespace": volume.namespace,
    "csi.storage.k8s.io/pod.uid": `uid-${volume.id}`,
    "csi.storage.k8s.io/serviceAccount.name": volume.serviceAccount ?? "reader",
    "csi.storage.k8s.io/ephemeral": "true",
  },
});
