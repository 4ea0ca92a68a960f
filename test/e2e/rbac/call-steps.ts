/** What a provisioner does for the calls of one that was killed, for owners who keep their volumes, for secrets and other namespaces. */
import { draftOf } from "../../../src/api/builders.ts";
import type { Ref } from "../../../src/api/plan.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../src/api/types.ts";
import { guideRights } from "../../guide-rights.ts";
import { aStorageClass } from "../harness/claims.ts";
import { grantSpec, snapshotNamed, switches } from "../harness/cross-namespace.ts";
import { grantTo, revokeFrom } from "../harness/shipped-accounts.ts";
import { isThere } from "../harness/snapshots.ts";
import { ignoreMissing, type Stage, storageClass } from "./snapshot-stage.ts";
import { type Step, type Trial, userOf } from "./trial.ts";

/** The process of the component that is tried. */
export interface Replica {
  /** As the kernel ends it, or in good order. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  start(...flags: readonly string[]): Promise<void>;
}

const component = "csi-provisioner";
const added = "other namespaces";
/** A secret of a class, in the namespace of the driver's users. */
const secretKeys = (namespace: string) => ({
  "csi.storage.k8s.io/provisioner-secret-name": "key",
  "csi.storage.k8s.io/provisioner-secret-namespace": namespace,
});

export function callSteps({ plane, client, driver }: Stage, replica: Replica) {
  const claim = (namespace: string, name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const create = (at: ReturnType<typeof claim>, spec: object = {}): Promise<PersistentVolumeClaim> =>
    client.create(
      "PersistentVolumeClaim",
      draftOf("PersistentVolumeClaim", at, {
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: storageClass,
          resources: { requests: { storage: "1Mi" } },
          ...spec,
        } as never,
      }),
    );
  const bound = (trial: Trial, at: ReturnType<typeof claim>): Promise<PersistentVolume> =>
    trial.until(`claim ${at.name} is bound`, async () => {
      const { spec, status } = await client.get(at);
      return status?.phase === "Bound"
        ? client.get({ kind: "PersistentVolume", name: spec?.volumeName ?? "" })
        : undefined;
    });
  const gone = (trial: Trial, ref: Ref) =>
    trial.until(`${ref.kind} ${ref.name} is gone`, async () => ((await isThere({ client }, ref)) ? undefined : true));
  const removed = async (trial: Trial, at: ReturnType<typeof claim>): Promise<void> => {
    const { spec } = await client.get(at);
    await client.delete(at);
    await gone(trial, { kind: "PersistentVolume", name: spec?.volumeName ?? "" });
  };
  /** The provisioner is killed while the driver makes the volume; another one starts when `meanwhile` is done. */
  const killedOver = async (trial: Trial, at: ReturnType<typeof claim>, meanwhile: () => Promise<unknown>) => {
    const reply = Promise.withResolvers<void>();
    driver.gates.beforeReply = () => reply.promise;
    try {
      const { metadata } = await create(at);
      const name = `pvc-${metadata.uid}`;
      await trial.until("the driver has made the volume", async () => (driver.volumes.has(name) ? true : undefined));
      await replica.end("SIGKILL");
      await meanwhile();
      return name;
    } finally {
      delete driver.gates.beforeReply;
      reply.resolve();
      await replica.start();
    }
  };

  const adopted: Step = {
    check: "a call of a provisioner that was killed is finished for its claim",
    prove: async (trial) => {
      const at = claim(trial.id, "adopted");
      await killedOver(trial, at, async () => undefined);
      await bound(trial, at);
      await removed(trial, at);
    },
  };
  const abandoned: Step = {
    check: "the volume of a claim that was deleted after a kill is deleted",
    prove: async (trial) => {
      const at = claim(trial.id, "abandoned");
      const name = await killedOver(trial, at, () => client.delete(at));
      await trial.until("the driver has deleted it", async () => (driver.volumes.has(name) ? undefined : true));
    },
  };
  const retained: Step = {
    check: "a PersistentVolume that its owner retains can be deleted, and its volume stays",
    prove: async (trial) => {
      const name = `kept-${trial.id}`;
      await aStorageClass(client, name, driver.driver, { reclaimPolicy: "Retain" });
      const at = claim(trial.id, "kept");
      await create(at, { storageClassName: name });
      const { metadata, spec } = await bound(trial, at);
      const ref = { kind: "PersistentVolume", name: metadata.name } as const;
      await client.delete(at);
      await trial.until("it is released", async () =>
        (await client.get(ref)).status?.phase === "Released" ? true : undefined,
      );
      await client.delete(ref);
      await gone(trial, ref);
      const id = spec?.csi?.volumeHandle ?? "";
      if (!driver.volumes.delete(id)) throw new Error("the driver has deleted a volume that its owner retained");
      await client.delete({ kind: "StorageClass", name }).catch(ignoreMissing);
    },
  };
  const withSecret: Step = {
    check: "a volume of a class with a secret is created and deleted, with the right of the guide",
    prove: async (trial) => {
      await grantTo(plane, { user: userOf(component) }, "secrets", guideRights.secrets);
      const name = `secret-${trial.id}`;
      await client.create("Secret", draftOf("Secret", { namespace: trial.id, name: "key" }, {}));
      await aStorageClass(client, name, driver.driver, { parameters: secretKeys(trial.id) });
      const at = claim(trial.id, "with-secret");
      await create(at, { storageClassName: name });
      await bound(trial, at);
      await removed(trial, at);
      await client.delete({ kind: "StorageClass", name }).catch(ignoreMissing);
    },
  };
  const restoredAbroad: Step = {
    check: "snapshots are restored in another namespace, by a reference and by a link, with the rights of the guide",
    prove: async (trial) => {
      const guest = `${trial.id}-guest`;
      await client.create("Namespace", draftOf("Namespace", { name: guest }, {}));
      await grantTo(plane, { user: userOf(component) }, added, guideRights[added]);
      try {
        await replica.end("SIGTERM");
        await replica.start(...switches);
        for (const way of ["ref", "link"] as const) {
          const spec = grantSpec("first", way, guest);
          await client.create(
            "ReferenceGrant",
            draftOf("ReferenceGrant", { namespace: trial.id, name: way }, { spec }),
          );
        }
        const source = { name: "first", namespace: trial.id };
        await client.create(
          "VolumeSnapshotLink",
          draftOf("VolumeSnapshotLink", { namespace: guest, name: "by-link" }, { spec: { source } }),
        );
        const apiGroup = "snapshot.storage.k8s.io";
        const names = {
          "by-ref": { ...snapshotNamed("first"), namespace: trial.id },
          "by-link": { apiGroup, kind: "VolumeSnapshotLink", name: "by-link" },
        };
        for (const [name, dataSourceRef] of Object.entries(names)) {
          await create(claim(guest, name), { dataSourceRef });
          await bound(trial, claim(guest, name));
          await removed(trial, claim(guest, name));
        }
        await replica.end("SIGTERM");
      } finally {
        await revokeFrom(plane, { user: userOf(component) }, added);
      }
      await replica.start();
    },
  };
  return [withSecret, retained, adopted, abandoned, restoredAbroad] as const;
}
