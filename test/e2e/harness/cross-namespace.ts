/** Two namespaces, a snapshot in the one, and claims in the other that name it: for all suites about restores across namespaces. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { draftOf } from "../../../src/api/builders.ts";
import { provisioning } from "../../../src/api/names.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../src/api/types.ts";
import { startComponent } from "./components.ts";
import type { Daemon } from "./instance.ts";
import { drivers, type SnapshotSuite, shortName, snapshotSuiteFor, type TestServer } from "./snapshot-suites.ts";
import { snapshotsOf } from "./snapshots.ts";
import { until } from "./until.ts";

export const [owner, guest] = ["prod", "test"];
export const switches = [
  "--feature-gates=CrossNamespaceVolumeDataSource=true",
  "--cross-namespace-snapshot=true",
] as const;
const snapshots = "snapshot.storage.k8s.io";

export const snapshotNamed = (name: string) => ({ apiGroup: snapshots, kind: "VolumeSnapshot", name });
const referrers = {
  ref: { group: "", kind: "PersistentVolumeClaim" },
  ref2: { group: "", kind: "PersistentVolumeClaim" },
  link: { group: snapshots, kind: "VolumeSnapshotLink" },
} as const;
/** How a claim names a snapshot of another namespace. */
export type Way = keyof typeof referrers;
export const ways: Readonly<Record<Way, string>> = {
  ref: "dataSourceRef.namespace",
  ref2: "dataSourceRef2",
  link: "a VolumeSnapshotLink",
};
/** The names are those of the requirement document. */
export const shared = "foo-backup";

/** Lets claims, or links, of the guest refer to a snapshot, or to all of them. */
export const grantSpec = (name?: string, way: Way = "ref", namespace = guest) => ({
  from: [{ ...referrers[way], namespace }],
  to: [{ group: snapshots, kind: "VolumeSnapshot", ...(name === undefined ? {} : { name }) }],
});

export interface CrossNamespaces {
  readonly suite: SnapshotSuite;
  readonly storageClassName: string;
  startProvisioner(...flags: readonly string[]): Promise<Daemon>;
  /** The claim names the snapshot of the owner in one way or the other; without a namespace, that of its own. */
  restore(name: string, way: Way, source?: string, namespace?: string): Promise<PersistentVolumeClaim>;
  claim(
    name: string,
    source: object,
    place?: { readonly namespace?: string; readonly storageClassName?: string },
  ): Promise<PersistentVolumeClaim>;
  untilBound(name: string, namespace?: string): Promise<PersistentVolume>;
  isPending(name: string, namespace?: string): Promise<boolean>;
  /** Waits for an event about the claim with this code; returns its message. */
  untilSaid(name: string, code: string, namespace?: string): Promise<string>;
  grant(name: string, spec?: object, namespace?: string): Promise<unknown>;
  revoke(name: string, namespace?: string): Promise<unknown>;
  remove(name: string, namespace?: string): Promise<void>;
  bytesOf(volume: PersistentVolume): string;
  volumeIds(): Promise<readonly string[]>;
  stop(): void;
}

export const firstWords = "the first words\n";

/** With a ready snapshot of the claim `data` of the owner. */
export async function crossNamespaces(place: TestServer, driverKind: keyof typeof drivers): Promise<CrossNamespaces> {
  const { client } = place.connection;
  for (const name of [owner, guest]) await client.create("Namespace", draftOf("Namespace", { name }, {}));
  await startComponent(place, "snapshot-controller");
  const base = await snapshotSuiteFor(place, place.connection, await drivers[driverKind](place.instance));
  const fixtures = { ...base.fixtures, namespace: owner };
  const suite: SnapshotSuite = { ...base, ...snapshotsOf(fixtures), fixtures };
  const storageClassName = shortName(suite.driver);
  const more = { provisioner: suite.driver.driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" };
  await client.create(
    "StorageClass",
    draftOf(
      "StorageClass",
      { name: storageClassName, annotations: { [provisioning.defaultClass]: "true" } },
      more as never,
    ),
  );
  const refOf = (name: string, namespace = guest) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const fileIn = (volume: PersistentVolume): string =>
    join(suite.driver.dataOf(volume.spec?.csi?.volumeHandle ?? ""), "notes.txt");

  const stage: CrossNamespaces = {
    suite,
    storageClassName,
    startProvisioner: (...flags) =>
      startComponent(place, "csi-provisioner", [`--csi-address=${suite.driver.socket}`, "--v=4", ...flags], {
        added: ["other namespaces"],
      }),
    claim: (name, source, { namespace = guest, storageClassName: other = storageClassName } = {}) =>
      client.create(
        "PersistentVolumeClaim",
        draftOf("PersistentVolumeClaim", refOf(name, namespace), {
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: other,
            resources: { requests: { storage: "1Mi" } },
            ...source,
          },
        }),
      ),
    restore: async (name, way, source, namespace = guest) => {
      const place = source === undefined ? {} : { namespace: source };
      if (way !== "link") {
        const field = way === "ref" ? "dataSourceRef" : "dataSourceRef2";
        return stage.claim(name, { [field]: { ...snapshotNamed(shared), ...place } }, { namespace });
      }
      const spec = { source: { name: shared, ...place } };
      await client.create("VolumeSnapshotLink", draftOf("VolumeSnapshotLink", { namespace, name }, { spec }));
      const dataSourceRef = { apiGroup: snapshots, kind: "VolumeSnapshotLink", name };
      return stage.claim(name, { dataSourceRef }, { namespace });
    },
    untilBound: (name, namespace) =>
      until({ what: `claim ${name} is bound` }, async () => {
        const { spec, status } = await client.get(refOf(name, namespace));
        return status?.phase === "Bound"
          ? client.get({ kind: "PersistentVolume", name: spec?.volumeName ?? "" })
          : undefined;
      }),
    isPending: async (name, namespace) => (await client.get(refOf(name, namespace))).status?.phase === "Pending",
    untilSaid: (name, code, namespace = guest) =>
      until({ what: `an event with ${code} about claim ${name}` }, async () =>
        (await client.list("Event", { namespace })).objects
          .filter(({ involvedObject }) => involvedObject?.name === name)
          .map(({ message }) => message ?? "")
          .find((message) => message.includes(code)),
      ),
    grant: (name, spec = grantSpec(), namespace = owner) =>
      client.create("ReferenceGrant", draftOf("ReferenceGrant", { namespace, name }, { spec })),
    revoke: (name, namespace = owner) => client.delete({ kind: "ReferenceGrant", namespace, name }),
    remove: async (name, namespace) => {
      const { spec } = await client.get(refOf(name, namespace));
      await client.delete(refOf(name, namespace));
      if (spec?.volumeName) await suite.untilGone({ kind: "PersistentVolume", name: spec.volumeName });
      else await suite.untilGone(refOf(name, namespace));
    },
    bytesOf: (volume) => readFileSync(fileIn(volume), "utf8"),
    volumeIds: async () =>
      (await suite.fixtures.csi.controller.listVolumes({})).entries.map(({ volume }) => volume?.volumeId ?? ""),
    stop: () => {
      suite.fixtures.csi.close();
      place.stop();
    },
  };
  const plain = await stage.startProvisioner();
  await stage.claim("data", {}, { namespace: owner });
  const data = await stage.untilBound("data", owner);
  writeFileSync(fileIn(data), firstWords);
  await suite.take(shared, "data", suite.classes.delete);
  await suite.untilReady(shared);
  writeFileSync(fileIn(data), "spoiled\n");
  await plain.stop("SIGTERM");
  return stage;
}
