/** A real control plane with one driver whose answers a case can bend, and the components of either maker. */
import { hostname } from "node:os";
import { draftOf } from "../../../src/api/builders.ts";
import { type KindName, pathOf } from "../../../src/api/kinds.ts";
import type { PersistentVolumeClaim, VolumeSnapshot } from "../../../src/api/types.ts";
import { Fault } from "../../../src/base/fault.ts";
import { type Connection, connect } from "../harness/client.ts";
import { installSnapshotCrds, startComponent } from "../harness/components.ts";
import { type ControlPlane, startControlPlane } from "../harness/control-plane.ts";
import type { Daemon } from "../harness/instance.ts";
import { type OddSnapshot, startOddDriver } from "../harness/odd-driver.ts";
import { until } from "../harness/until.ts";
import { startUpstream, unthrottled } from "../harness/upstream.ts";

const namespace = "team";
/** Where the pods of the Go components would be. */
const driverNamespace = "drivers";
const guest = { token: "guest-token", user: "guest" } as const;
const election = [
  "--leader-election=true",
  `--leader-election-namespace=${driverNamespace}`,
  "--leader-election-lease-duration=8s",
  "--leader-election-renew-deadline=6s",
  "--leader-election-retry-period=1s",
];
const images = {
  "snapshot-controller": "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0",
  "csi-snapshotter": "registry.k8s.io/sig-storage/csi-snapshotter:v8.6.0",
  "csi-provisioner": "registry.k8s.io/sig-storage/csi-provisioner:v5.3.0",
} as const;

const leasesOf = (driver: string): readonly string[] => {
  const name = driver.replaceAll(".", "-");
  return ["snapshot-controller-leader", `external-snapshotter-leader-${name}`, name];
};

type PersistentVolumeClaimSpec = NonNullable<PersistentVolumeClaim["spec"]>;

export type Stage = Awaited<ReturnType<typeof startStage>>;

export async function startStage() {
  const plane = await startControlPlane({ tokens: [guest] });
  const connection = await connect(plane.kubeconfig);
  const { client } = connection;
  await installSnapshotCrds(client);
  for (const name of [namespace, driverNamespace]) await post(plane, "/api/v1/namespaces", { metadata: { name } });
  const odd = await startOddDriver(plane.instance.folder, { canList: false });
  odd.gates.beforeVolume = async ({ parameters }) => {
    if (parameters.odd === "full") throw new Fault("ResourceExhausted", "pool is full");
  };
  await createClasses(connection, odd.driver);
  await allowGuest(plane);
  const handleOf = (claim: string): string => `volume-of-${claim}`;
  let go: readonly Daemon[] = [];

  return {
    plane,
    namespace,
    guestKubeconfig: plane.kubeconfigFor(guest.user, guest.token),
    startGo: async () => {
      await podOfGo(plane);
      const driven = [...unthrottled, ...election, `--csi-address=${odd.socket}`];
      go = [
        startUpstream(plane, "snapshot-controller", [...unthrottled, ...election]),
        startUpstream(plane, "csi-snapshotter", driven),
        startUpstream(plane, "csi-provisioner", driven),
      ];
      for (const name of leasesOf(odd.driver))
        await until({ what: `Lease ${name} is held`, msMax: 60_000 }, () =>
          client.get({ kind: "Lease", namespace: driverNamespace, name }).then(
            ({ spec }) => (spec?.holderIdentity ? true : undefined),
            () => undefined,
          ),
        );
    },
    killGo: () => Promise.all(go.map((daemon) => daemon.stop("SIGKILL"))),
    startOurs: async () => {
      odd.refusals.delete.length = 0;
      await Promise.all([
        startComponent(plane, "snapshot-controller"),
        startComponent(plane, "csi-snapshotter", [`--csi-address=${odd.socket}`]),
      ]);
    },
    claim: async (name: string, driver = odd.driver): Promise<string> => {
      const common = { accessModes: ["ReadWriteOnce"], storageClassName: "", volumeMode: "Filesystem" };
      const volume = {
        ...common,
        capacity: { storage: "1Mi" },
        persistentVolumeReclaimPolicy: "Retain",
        csi: { driver, volumeHandle: handleOf(name) },
        claimRef: { namespace, name },
      };
      await client.create("PersistentVolume", draftOf("PersistentVolume", { name: handleOf(name) }, { spec: volume }));
      const ref = { kind: "PersistentVolumeClaim", namespace, name } as const;
      const spec = { ...common, volumeName: handleOf(name), resources: { requests: { storage: "1Mi" } } };
      await client.create(ref.kind, draftOf(ref.kind, ref, { spec }));
      await until({ what: `claim ${name} is bound` }, async () =>
        (await client.get(ref)).status?.phase === "Bound" ? true : undefined,
      );
      return name;
    },
    unboundClaim: async (name: string, storageClassName: string): Promise<string> => {
      await createClaim(connection, name, { storageClassName });
      return name;
    },
    restore: (name: string, snapshot: string, more: { storageClassName?: string; storage?: string } = {}) =>
      createClaim(connection, name, {
        storageClassName: "fast",
        ...more,
        dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot },
      }),
    snapshot: (name: string, claim: string, className = "fast") =>
      createSnapshot(connection, name, {
        source: { persistentVolumeClaimName: claim },
        ...(className === "" ? {} : { volumeSnapshotClassName: className }),
      }),
    importedSnapshot: (name: string, content: string) =>
      createSnapshot(connection, name, {
        source: { volumeSnapshotContentName: content },
        volumeSnapshotClassName: "fast",
      }),
    content: (name: string, snapshot: string) =>
      client.create(
        "VolumeSnapshotContent",
        draftOf(
          "VolumeSnapshotContent",
          { name },
          {
            spec: {
              driver: odd.driver,
              deletionPolicy: "Retain",
              source: { snapshotHandle: "snap-1" },
              volumeSnapshotRef: { kind: "VolumeSnapshot", namespace, name: snapshot },
            },
          },
        ),
      ),
    secret: (name: string) =>
      post(plane, `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name }, type: "Opaque" }),
    untilReady: (name: string) =>
      until({ what: `snapshot ${name} is ready`, msMax: 60_000 }, async () =>
        (await client.get({ kind: "VolumeSnapshot", namespace, name })).status?.readyToUse === true ? true : undefined,
      ),
    remove: (kind: KindName, name: string) => client.delete({ kind, namespace, name }),
    removeContentOf: async (name: string) =>
      client.delete({ kind: "VolumeSnapshotContent", name: await contentNameOf(connection, name) }),
    hold: async (name: string, finalizer: string) => {
      const ref = { kind: "VolumeSnapshot", namespace, name } as const;
      const { metadata } = await client.get(ref);
      const finalizers = [...(metadata.finalizers ?? []), finalizer];
      await client.patch(ref, { type: "merge", body: { metadata: { finalizers } } });
    },
    contentNameOf: (name: string) => contentNameOf(connection, name),
    driverIsFullFor: (claim: string) => odd.bars.set(handleOf(claim), new Fault("ResourceExhausted", "pool is full")),
    driverIsSilentFor: (claim: string) =>
      odd.oddities.set(handleOf(claim), () => Promise.withResolvers<object>().promise),
    driverRepliesFor: (claim: string, reply: Partial<OddSnapshot>) => odd.oddities.set(handleOf(claim), () => reply),
    driverRefusesDeletions: () => {
      const refusal = new Fault("FailedPrecondition", "snapshot has dependent volumes");
      odd.refusals.delete.push(...new Array<Fault>(1_000).fill(refusal));
    },
    deadWebhook: (name: string) =>
      post(plane, pathOf("ValidatingWebhookConfiguration", {}), {
        metadata: { name },
        webhooks: [
          {
            name,
            failurePolicy: "Fail",
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
            timeoutSeconds: 1,
            clientConfig: { service: { namespace: driverNamespace, name: "nobody" } },
            rules: [
              {
                apiGroups: ["snapshot.storage.k8s.io"],
                apiVersions: ["v1"],
                operations: ["CREATE"],
                resources: ["volumesnapshotcontents"],
              },
            ],
          },
        ],
      }),
    removeWebhook: (name: string) => client.delete({ kind: "ValidatingWebhookConfiguration", name }),
    objects: async () =>
      (
        await Promise.all(
          (["VolumeSnapshot", "VolumeSnapshotContent", "PersistentVolumeClaim"] as const).map(async (kind) =>
            (await client.list(kind)).objects.map((object) => ({ ...object, kind })),
          ),
        )
      ).flat(),
    stop: async () => {
      connection.close();
      await odd.close();
      plane.stop();
    },
  };
}

async function post(plane: ControlPlane, path: string, body: object): Promise<void> {
  const { status, text } = await plane.request("POST", path, body);
  if (status !== 201) throw new Error(`${path}: ${text}`);
}

async function createClasses({ client }: Connection, driver: string): Promise<void> {
  const storage = { reclaimPolicy: "Delete", volumeBindingMode: "Immediate", provisioner: driver };
  const late = { ...storage, volumeBindingMode: "WaitForFirstConsumer" };
  for (const [name, more] of Object.entries({ fast: storage, late, full: { ...storage, parameters: { odd: "full" } } }))
    await client.create("StorageClass", draftOf("StorageClass", { name }, more));
  const withSecret = (name: string) => ({
    "csi.storage.k8s.io/snapshotter-secret-name": name,
    "csi.storage.k8s.io/snapshotter-secret-namespace": namespace,
  });
  const classes = {
    fast: { driver, parameters: {} },
    other: { driver: "other.example.com", parameters: {} },
    "with-secret": { driver, parameters: withSecret("credentials") },
    "with-locked-secret": { driver, parameters: withSecret("locked") },
  };
  for (const [name, more] of Object.entries(classes))
    await client.create(
      "VolumeSnapshotClass",
      draftOf("VolumeSnapshotClass", { name }, { ...more, deletionPolicy: "Delete" }),
    );
}

const createClaim = (
  { client }: Connection,
  name: string,
  {
    storage = "2Mi",
    ...more
  }: { storageClassName: string; storage?: string; dataSource?: NonNullable<PersistentVolumeClaimSpec["dataSource"]> },
) =>
  client.create(
    "PersistentVolumeClaim",
    draftOf(
      "PersistentVolumeClaim",
      { namespace, name },
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more } },
    ),
  );

const createSnapshot = ({ client }: Connection, name: string, spec: VolumeSnapshot["spec"]) =>
  client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name }, { spec }));

const contentNameOf = ({ client }: Connection, name: string): Promise<string> =>
  until({ what: `snapshot ${name} has a content`, msMax: 60_000 }, async () => {
    const { status } = await client.get({ kind: "VolumeSnapshot", namespace, name });
    return status?.boundVolumeSnapshotContentName;
  });

/** The processes have no pods here; a lease is held by the name of the machine, as it is by a pod's. */
async function podOfGo(plane: ControlPlane): Promise<void> {
  const path = `/api/v1/namespaces/${driverNamespace}/pods`;
  const containers = Object.entries(images).map(([name, image]) => ({ name, image }));
  await post(plane, path, { metadata: { name: hostname().toLowerCase() }, spec: { containers } });
}

/** Whoever may look at snapshots of one namespace, as developers may. */
async function allowGuest(plane: ControlPlane): Promise<void> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const rules = [{ apiGroups: ["snapshot.storage.k8s.io"], resources: ["volumesnapshots"], verbs: ["get", "list"] }];
  await post(plane, `${rbac}/roles`, { metadata: { name: "guest" }, rules });
  await post(plane, `${rbac}/rolebindings`, {
    metadata: { name: "guest" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "guest" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: guest.user }],
  });
}
