/** What the snapshot suites do again and again: take one, wait for it, look at what lies behind it. */
import { draftOf } from "../../../src/api/builders.ts";
import type { KindName } from "../../../src/api/kinds.ts";
import { finalizers } from "../../../src/api/names.ts";
import type { Ref } from "../../../src/api/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../../src/api/types.ts";
import { isFault } from "../../../src/base/fault.ts";
import { print } from "../../../src/base/json.ts";
import type { Fixtures } from "./components.ts";
import { until } from "./until.ts";

export interface Snapshots {
  ref(name: string): Ref<"VolumeSnapshot">;
  /** A snapshot of a claim. Without a class the default one is taken. */
  take(name: string, claim: string, className?: string): Promise<VolumeSnapshot>;
  get(name: string): Promise<VolumeSnapshot>;
  untilReady(name: string, msMax?: number): Promise<VolumeSnapshot>;
  /** Waits for the error in the status, and returns it. */
  untilReported(name: string, what: RegExp): Promise<string>;
  contentOf(name: string): Promise<VolumeSnapshotContent>;
  untilGone(ref: Ref, msMax?: number): Promise<true>;
  remove(name: string): Promise<void>;
  /** Takes a snapshot, and removes it again as soon as it is ready; what was its content then. */
  takeAndRemove(name: string, claim: string, className: string): Promise<VolumeSnapshotContent>;
  untilUnprotected(claim: string): Promise<true>;
  /** Everything the driver has, of any creator. */
  handles(): Promise<readonly string[]>;
}

export function snapshotsOf(fixtures: Fixtures): Snapshots {
  const { client, csi, namespace } = fixtures;
  const ref: Snapshots["ref"] = (name) => ({ kind: "VolumeSnapshot", namespace, name });
  const untilGone: Snapshots["untilGone"] = async (gone, msMax = 30_000) => {
    try {
      return await until({ what: `${gone.kind} ${gone.name} is gone`, msMax }, async () =>
        (await isThere(fixtures, gone)) ? undefined : true,
      );
    } catch (reason) {
      throw new Error(`${(reason as Error).message}; it is: ${print(await client.get(gone))}`);
    }
  };
  const untilReady: Snapshots["untilReady"] = async (name, msMax = 30_000) => {
    let last: VolumeSnapshot | undefined;
    try {
      return await until({ what: `snapshot ${name} is ready`, msMax }, async () => {
        last = await client.get(ref(name));
        return last.status?.readyToUse === true ? last : undefined;
      });
    } catch (reason) {
      throw new Error(`${(reason as Error).message}; its status: ${print(last?.status)}`);
    }
  };
  const take: Snapshots["take"] = (name, claim, volumeSnapshotClassName) => {
    const source = { persistentVolumeClaimName: claim };
    const spec = { source, ...(volumeSnapshotClassName === undefined ? {} : { volumeSnapshotClassName }) };
    return client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name }, { spec }));
  };
  const contentOf: Snapshots["contentOf"] = async (name) => {
    const { status } = await client.get(ref(name));
    return client.get({ kind: "VolumeSnapshotContent", name: status?.boundVolumeSnapshotContentName ?? "" });
  };
  const remove: Snapshots["remove"] = async (name) => {
    await client.delete(ref(name));
    await untilGone(ref(name));
  };
  return {
    ref,
    untilGone,
    untilReady,
    take,
    contentOf,
    remove,
    get: (name) => client.get(ref(name)),
    takeAndRemove: async (name, claim, className) => {
      await take(name, claim, className);
      await untilReady(name);
      const content = await contentOf(name);
      await remove(name);
      return content;
    },
    untilReported: async (name, what) => {
      let last = "nothing";
      try {
        return await until({ what: `snapshot ${name} has the error ${what}` }, async () => {
          last = (await client.get(ref(name))).status?.error?.message ?? "nothing";
          return what.test(last) ? last : undefined;
        });
      } catch (reason) {
        throw new Error(`${(reason as Error).message}; it says: ${last}`);
      }
    },
    untilUnprotected: (claim) =>
      until({ what: `claim ${claim} is released` }, async () => {
        const { metadata } = await client.get({ kind: "PersistentVolumeClaim", namespace, name: claim });
        return metadata.finalizers?.includes(finalizers.claimAsSource) ? undefined : true;
      }),
    handles: async () => {
      const found: string[] = [];
      let startingToken = "";
      do {
        const { entries, nextToken } = await csi.controller.listSnapshots({ startingToken });
        found.push(...entries.map(({ snapshot }) => snapshot?.snapshotId ?? ""));
        startingToken = nextToken;
      } while (startingToken !== "");
      return found;
    },
  };
}

export const isThere = <K extends KindName>({ client }: Pick<Fixtures, "client">, ref: Ref<K>): Promise<boolean> =>
  client.get(ref).then(
    () => true,
    (reason: unknown) => {
      if (!isFault(reason, "NotFound")) throw reason;
      return false;
    },
  );

/** What is wrong after a run that should have left nothing: snapshots and contents in the API, and at the driver. */
export async function leftovers(fixtures: Fixtures): Promise<readonly string[]> {
  const { objects: snapshots } = await fixtures.client.list("VolumeSnapshot", {
    namespace: fixtures.namespace,
  });
  const { objects: contents } = await fixtures.client.list("VolumeSnapshotContent");
  return [
    ...snapshots.map(({ metadata }) => `VolumeSnapshot ${metadata.name}`),
    ...contents
      .filter(({ spec }) => spec.driver === fixtures.driver)
      .map(({ metadata }) => `VolumeSnapshotContent ${metadata.name}`),
    ...(await snapshotsOf(fixtures).handles()).map((handle) => `snapshot ${handle} at the driver`),
  ];
}
