/** What a user does with the cluster, one thing at a time, until it is done: an answer that got lost is asked for again. */
import { setTimeout as sleep } from "node:timers/promises";
import { draftOf } from "../../../src/api/builders.ts";
import type { KindName } from "../../../src/api/kinds.ts";
import { snapshotContentNameFor } from "../../../src/api/names.ts";
import type { DeletionPolicy, Draft, VolumeSnapshot } from "../../../src/api/types.ts";
import { type FaultCode, isFault } from "../../../src/base/fault.ts";
import { claimDrafts, volumeNameFor, volumeRequest } from "../harness/components.ts";
import { until } from "../harness/until.ts";
import type { ChaosHarness } from "./harness.ts";
import type { Intention, Intentions } from "./intentions.ts";

export interface UserClient {
  /** Again and again while the other side is away; a refusal is thrown. */
  insist<T>(work: () => Promise<T>, fine?: readonly FaultCode[]): Promise<T | undefined>;
  create(kind: KindName, object: Draft): Promise<void>;
  /** A claim of a new volume, bound. */
  claim(name: string): Promise<void>;
  /** A claim that the provisioner serves: empty, or restored from a snapshot. */
  provision(name: string, snapshot?: string): Promise<void>;
  untilBound(claim: string): Promise<void>;
  /** A snapshot of a claim; `notUid` is that of an earlier one of this name, which may still be terminating. */
  take(name: string, claim: string, policy: DeletionPolicy, notUid?: string): Promise<Intention>;
  want(name: string, policy: DeletionPolicy, source: VolumeSnapshot["spec"]["source"]): Promise<Intention>;
  /** Until there is a content: from then on the claim may go. */
  untilBegun(request: Intention): Promise<void>;
  untilReady(wanted: Intention): Promise<void>;
  remove(wish: Intention): Promise<void>;
  removeContentOf(wish: Intention): Promise<void>;
  removeClaim(name: string): Promise<void>;
  /** Deletes a content that was retained; the snapshot in the storage stays. */
  letGo(content: string): Promise<void>;
  /** Past Kubernetes, at the driver; returns the handle. */
  cut(name: string, claim: string): Promise<string>;
}

const againMs = 200;
/** Nobody is away for so long: what is refused until then is refused for good. */
const patienceMs = 240_000;

/** Refusals: asking again would not help. */
const final: readonly FaultCode[] = ["InvalidArgument", "PermissionDenied", "Unauthenticated", "Invalid", "NotFound"];

export function createUserClient(
  { furniture: fixtures, classes, secret }: ChaosHarness,
  intentions: Intentions,
): UserClient {
  const { client, csi, namespace } = fixtures;
  const refTo = (name: string, uid?: string) => ({ kind: "VolumeSnapshot", namespace, name, uid }) as const;

  const insist: UserClient["insist"] = async (work, fine = []) => {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        return await work();
      } catch (reason) {
        if (!isFault(reason)) throw reason;
        if (fine.includes(reason.code)) return undefined;
        if (final.includes(reason.code) || performance.now() > deadline) throw reason;
        intentions.count("tried again");
        await sleep(againMs);
      }
    }
  };

  /** AlreadyExists is ours when an answer got lost, and somebody's who goes when the name was used before. */
  const created = (name: string, draft: Draft, notUid?: string): Promise<VolumeSnapshot> =>
    until({ what: `snapshot ${name} is created`, msMax: patienceMs }, async () => {
      const made = await insist(() => client.create("VolumeSnapshot", draft), ["AlreadyExists"]);
      const found = made ?? (await insist(() => client.get(refTo(name)), ["NotFound"]));
      return found === undefined || found.metadata.uid === notUid ? undefined : found;
    });

  const want = async (
    name: string,
    policy: DeletionPolicy,
    source: VolumeSnapshot["spec"]["source"],
    notUid?: string,
  ): Promise<Intention> => {
    const volumeSnapshotClassName = policy === "Retain" ? classes.retain : classes.delete;
    const spec = source.volumeSnapshotContentName === undefined ? { source, volumeSnapshotClassName } : { source };
    const { metadata } = await created(name, draftOf("VolumeSnapshot", { namespace, name }, { spec }), notUid);
    const isAdopted = source.volumeSnapshotContentName !== undefined;
    const wish: Intention = { name, uid: metadata.uid, policy, looksFirst: isAdopted || policy === "Retain" };
    intentions.snapshots.set(name, wish);
    intentions.count("snapshots created");
    return wish;
  };

  const untilReady: UserClient["untilReady"] = async (wish) => {
    const { status } = await until(
      { what: `snapshot ${wish.name} is ready`, msMax: patienceMs, everyMs: 100 },
      async () => {
        const found = await insist(() => client.get(refTo(wish.name, wish.uid)));
        return found?.status?.readyToUse === true ? found : undefined;
      },
    );
    const name = status?.boundVolumeSnapshotContentName ?? "";
    const content = await insist(() => client.get({ kind: "VolumeSnapshotContent", name }));
    wish.bound = { content: name, handle: content?.status?.snapshotHandle ?? "" };
  };

  const untilBound: UserClient["untilBound"] = async (name) => {
    await until({ what: `claim ${name} is bound`, msMax: patienceMs }, async () => {
      const found = await insist(() => client.get({ kind: "PersistentVolumeClaim", namespace, name }));
      return found?.status?.phase === "Bound" ? true : undefined;
    });
  };

  return {
    insist,
    want,
    untilBound,
    provision: async (name, snapshot) => {
      const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot };
      const spec = {
        accessModes: ["ReadWriteOnce"],
        storageClassName: classes.storage,
        resources: { requests: { storage: "2Mi" } },
        ...(snapshot === undefined ? {} : { dataSource }),
      };
      const claim = draftOf("PersistentVolumeClaim", { namespace, name }, { spec } as never);
      await insist(() => client.create("PersistentVolumeClaim", claim), ["AlreadyExists"]);
      intentions.claims.add(name);
      intentions.provisioned.add(name);
      intentions.count(snapshot === undefined ? "volumes provisioned" : "snapshots restored");
    },
    untilBegun: async ({ name, uid }) => {
      const content = { kind: "VolumeSnapshotContent", name: snapshotContentNameFor(uid) } as const;
      await until({ what: `snapshot ${name} has a content`, msMax: patienceMs, everyMs: 100 }, () =>
        insist(() => client.get(content), ["NotFound"]),
      );
    },
    untilReady,
    claim: async (name) => {
      const made = await insist(() => csi.controller.createVolume(volumeRequest(fixtures, name)));
      const { volume, claim } = claimDrafts(fixtures, name, made?.volume?.volumeId ?? "");
      await insist(() => client.create("PersistentVolume", volume), ["AlreadyExists"]);
      await insist(() => client.create("PersistentVolumeClaim", claim), ["AlreadyExists"]);
      await untilBound(name);
      intentions.claims.add(name);
    },
    create: async (kind, object) => void (await insist(() => client.create(kind, object), ["AlreadyExists"])),
    take: (name, claim, policy, notUid) => want(name, policy, { persistentVolumeClaimName: claim }, notUid),
    remove: async (wish) => {
      if (wish.looksFirst && wish.bound === undefined) await untilReady(wish);
      intentions.snapshots.delete(wish.name);
      if (wish.policy === "Retain" && wish.bound !== undefined)
        intentions.retained.set(wish.bound.content, wish.bound.handle);
      await insist(() => client.delete(refTo(wish.name), { uid: wish.uid }), ["NotFound", "Conflict"]);
      intentions.count("snapshots deleted");
    },
    removeContentOf: async ({ bound }) => {
      const ref = { kind: "VolumeSnapshotContent", name: bound?.content ?? "" } as const;
      await insist(() => client.delete(ref), ["NotFound"]);
    },
    removeClaim: async (name) => {
      intentions.claims.delete(name);
      intentions.provisioned.delete(name);
      await insist(() => client.delete({ kind: "PersistentVolumeClaim", namespace, name }), ["NotFound"]);
    },
    letGo: async (name) => {
      const handle = intentions.retained.get(name);
      intentions.retained.delete(name);
      await insist(() => client.delete({ kind: "VolumeSnapshotContent", name }), ["NotFound"]);
      const gone = { what: `content ${name} is gone`, msMax: patienceMs, everyMs: 200 };
      await until(gone, async () =>
        (await insist(() => client.get({ kind: "VolumeSnapshotContent", name }), ["NotFound"])) === undefined
          ? true
          : undefined,
      );
      if (handle !== undefined) intentions.letGo.add(handle);
    },
    cut: async (name, claim) => {
      const { spec } =
        (await insist(() => client.get({ kind: "PersistentVolume", name: volumeNameFor(fixtures, claim) }))) ?? {};
      const sourceVolumeId = spec?.csi?.volumeHandle ?? "";
      const answer = await insist(() =>
        csi.controller.createSnapshot({ name, sourceVolumeId, secrets: { token: secret } }),
      );
      return answer?.snapshot?.snapshotId ?? "";
    },
  };
}
