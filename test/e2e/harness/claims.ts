/** What the provisioner suites do again and again: create a claim, wait for its volume, look at what it says, delete both. */
import { draftOf } from "../../../src/api/builders.ts";
import type { Ref } from "../../../src/api/plan.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../src/api/types.ts";
import { print } from "../../../src/base/json.ts";
import type { Client } from "./client.ts";
import { isThere } from "./snapshots.ts";
import { until } from "./until.ts";

export interface Claims {
  ref(name: string): Ref<"PersistentVolumeClaim">;
  create(name: string, spec?: PersistentVolumeClaim["spec"], storage?: string): Promise<PersistentVolumeClaim>;
  untilBound(name: string, msMax?: number): Promise<PersistentVolume>;
  /** Waits until its PersistentVolume is gone too. */
  remove(name: string): Promise<void>;
  /** Reads the events about a claim that have this reason. */
  messages(name: string, reason?: string): Promise<readonly string[]>;
  untilSaid(name: string, what: RegExp): Promise<string>;
}

export const restoring = (name: string) => ({
  dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name },
});
export const cloning = (name: string) => ({ dataSource: { kind: "PersistentVolumeClaim", name } });

export const handleOf = ({ spec }: PersistentVolume): string => spec?.csi?.volumeHandle ?? "none";

export function claimsOf(client: Client, storageClassName: string, namespace = "default"): Claims {
  const ref: Claims["ref"] = (name) => ({ kind: "PersistentVolumeClaim", namespace, name });
  const messages: Claims["messages"] = async (name, reason = "ProvisioningFailed") =>
    (await client.list("Event", { namespace })).objects
      .filter((event) => event.reason === reason && event.involvedObject?.name === name)
      .map(({ message }) => message ?? "");
  const untilBound: Claims["untilBound"] = async (name, msMax = 60_000) => {
    try {
      return await until({ what: `claim ${name} is bound`, msMax }, async () => {
        const { spec, status } = await client.get(ref(name));
        return status?.phase === "Bound"
          ? client.get({ kind: "PersistentVolume", name: spec?.volumeName ?? "" })
          : undefined;
      });
    } catch (reason) {
      throw new Error(`${(reason as Error).message}; its events: ${(await messages(name)).join("; ")}`);
    }
  };
  const untilGone = async (gone: Ref): Promise<void> => {
    try {
      await until({ what: `${gone.kind} ${gone.name} is gone`, msMax: 60_000 }, async () =>
        (await isThere({ client }, gone)) ? undefined : true,
      );
    } catch (reason) {
      const said = [...(await messages(gone.name)), ...(await messages(gone.name, "VolumeFailedDelete"))];
      throw new Error(
        `${(reason as Error).message}; its events: ${said.join("; ")}; it is ${print(await client.get(gone))}`,
      );
    }
  };
  return {
    ref,
    messages,
    untilBound,
    create: (name, spec = {}, storage = "1Mi") =>
      client.create(
        "PersistentVolumeClaim",
        draftOf(
          "PersistentVolumeClaim",
          { namespace, name },
          {
            spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } }, ...spec },
          },
        ),
      ),
    remove: async (name) => {
      const { volumeName } = (await client.get(ref(name))).spec ?? {};
      await client.delete(ref(name));
      await untilGone(ref(name));
      if (volumeName) await untilGone({ kind: "PersistentVolume", name: volumeName });
    },
    untilSaid: (name, what) =>
      until({ what: `claim ${name} says ${what}`, msMax: 60_000 }, async () =>
        (await messages(name)).find((message) => what.test(message)),
      ),
  };
}

export const aStorageClass = (client: Client, name: string, provisioner: string, more: Partial<StorageClass> = {}) =>
  client.create(
    "StorageClass",
    draftOf("StorageClass", { name }, {
      provisioner,
      reclaimPolicy: "Delete",
      volumeBindingMode: "Immediate",
      ...more,
    } as never),
  );
