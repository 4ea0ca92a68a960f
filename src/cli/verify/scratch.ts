/**
 * The namespace of a round, from its creation to the last object in it. What a killed round has left is found by its label: the next one
 * removes it, if its process has ended or its time is over.
 */
import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { KubeObject, ObjectOf } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { isFault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { rfc3339 } from "../../base/time.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import { isGone, isOwner, type Owner } from "../owner.ts";
import { ownerAnnotation, scratchLabel, scratchNamespace, untilAnnotation } from "./objects.ts";

export interface ScratchContext {
  readonly api: KubeApi;
  readonly world: World;
  readonly signal: AbortSignal;
}

/** A label is no proof: whoever may label a namespace could have it removed. Only namespaces with a name of ours are. */
const scratchName = /^snapkeep-verify-[0-9a-f]{6}$/;

/** "1a2b3c": names of namespaces are seen by people. */
const suffix = (world: World): string =>
  Math.floor(world.random() * 16 ** 6)
    .toString(16)
    .padStart(6, "0");

export async function createScratch(
  { api, world, signal }: ScratchContext,
  owner: Owner,
  msMax: Millis,
): Promise<string> {
  const name = `snapkeep-verify-${suffix(world)}`;
  await api.create("Namespace", scratchNamespace(name, owner, world.now() + msMax), { signal });
  return name;
}

/** The user wants to look at it: no later round removes it. */
export async function keepScratch({ api, signal }: ScratchContext, name: string): Promise<void> {
  const body = { metadata: { labels: { [scratchLabel]: "kept" } } };
  await api.patch({ kind: "Namespace", name }, { type: "merge", body }, { signal });
}

/** The round is over, and something is left: the next round takes it for dead, although this process may go on. */
export async function releaseScratch({ api, world, signal }: ScratchContext, name: string): Promise<void> {
  const body = { metadata: { annotations: { [ownerAnnotation]: null, [untilAnnotation]: rfc3339(world.now()) } } };
  await api.patch({ kind: "Namespace", name }, { type: "merge", body }, { signal }).catch((reason: unknown) => {
    if (!isFault(reason, "NotFound")) throw reason;
  });
}

export interface Leftovers {
  /** Their rounds have ended without removing them. */
  readonly dead: readonly string[];
  /** Their rounds may be at work. */
  readonly alive: readonly string[];
}

export async function findLeftovers({ api, world, signal }: ScratchContext): Promise<Leftovers> {
  const labelled = await api.list("Namespace", { labelSelector: `${scratchLabel}=scratch`, signal });
  const objects = labelled.objects.filter(({ metadata }) => scratchName.test(metadata.name));
  const nowMs = world.now();
  const isDead = (one: ObjectOf<"Namespace">): boolean => !isAtWork(one.metadata.annotations ?? {}, nowMs);
  const namesOf = (some: readonly KubeObject[]): readonly string[] => some.map(({ metadata }) => metadata.name);
  return { dead: namesOf(objects.filter(isDead)), alive: namesOf(objects.filter((one) => !isDead(one))) };
}

/** A process on another machine cannot be looked at: it has the time that it gave itself. */
export function isAtWork(annotations: Readonly<Record<string, string>>, nowMs: Millis): boolean {
  const owner = parsed(annotations[ownerAnnotation]);
  if (isOwner(owner) && isGone(owner)) return false;
  return Date.parse(annotations[untilAnnotation] ?? "") > nowMs;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

const objectEveryMs = 250;
/** A cluster may have many volumes. */
const listEveryMs = 1_000;
/** In this order: a claim is not deleted while a pod uses it, and a snapshot's source stays until the snapshot is gone. */
const kindsInOrder = ["Pod", "VolumeSnapshot", "PersistentVolumeClaim"] as const;

/** Returns what is left when the time is over; nothing: everything is removed, its volumes and snapshots too. */
export async function removeScratch(
  context: ScratchContext,
  namespace: string,
  msMax: Millis,
  progress: (text: () => string) => void,
): Promise<readonly string[]> {
  const { api, world, signal } = context;
  const giveUpMs = world.elapsed() + msMax;
  const untilNone = async (left: () => Promise<readonly Ref[]>, everyMs: Millis): Promise<readonly string[]> => {
    for (;;) {
      const texts = (await left()).map(textOf);
      if (texts.length === 0 || world.elapsed() > giveUpMs) return texts;
      progress(() => `waiting until these are removed: ${texts.join(", ")}`);
      await world.sleep(everyMs, signal);
    }
  };
  await storageIn(context, namespace);
  for (const kind of kindsInOrder) {
    for (const ref of await refsIn(context, kind, namespace)) await removeIfThere(api, ref, signal);
    const left = await untilNone(() => refsIn(context, kind, namespace), objectEveryMs);
    if (left.length > 0) return left;
  }
  const left = await untilNone(() => storageIn(context, namespace), listEveryMs);
  if (left.length > 0) return left;
  const home = { kind: "Namespace", name: namespace } as const;
  await removeIfThere(api, home, signal);
  return untilNone(async () => ((await isThere(api, home, signal)) ? [home] : []), objectEveryMs);
}

const textOf = ({ kind, namespace, name }: Ref): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;

const removeIfThere = async (api: KubeApi, ref: Ref, signal: AbortSignal): Promise<void> => {
  await api.delete(ref, { signal }).catch((reason: unknown) => {
    if (!isFault(reason, "NotFound")) throw reason;
  });
};

const refsIn = async (
  context: ScratchContext,
  kind: (typeof kindsInOrder)[number],
  namespace: string,
): Promise<readonly Ref[]> =>
  (await listed<(typeof kindsInOrder)[number]>(context, kind, namespace)).map(({ metadata }) => ({
    kind,
    namespace,
    name: metadata.name,
  }));

/**
 * The volumes and contents of the namespace: objects of the cluster, which go with what they belong to. A class with the policy Retain would
 * leave storage that nobody wants, so that they get the policy Delete.
 */
async function storageIn(context: ScratchContext, namespace: string): Promise<readonly Ref[]> {
  const refs: Ref[] = [];
  for (const { metadata, spec } of await listed(context, "PersistentVolume")) {
    if (spec?.claimRef?.namespace !== namespace) continue;
    const ref = { kind: "PersistentVolume" as const, name: metadata.name };
    const policy = { persistentVolumeReclaimPolicy: "Delete" };
    if (spec.persistentVolumeReclaimPolicy === "Retain") await changeSpec(context, ref, policy);
    refs.push(ref);
  }
  for (const { metadata, spec } of await listed(context, "VolumeSnapshotContent")) {
    if (spec.volumeSnapshotRef.namespace !== namespace) continue;
    const ref = { kind: "VolumeSnapshotContent" as const, name: metadata.name };
    if (spec.deletionPolicy === "Retain") await changeSpec(context, ref, { deletionPolicy: "Delete" });
    refs.push(ref);
  }
  return refs;
}

/** Kinds that are not served, or that this user may not read, have no objects that could be waited for. */
async function listed<K extends KindName>(
  { api, signal }: ScratchContext,
  kind: K,
  namespace?: string,
): Promise<readonly ObjectOf<K>[]> {
  try {
    return (await api.list(kind, { namespace, signal })).objects;
  } catch (reason) {
    if (isFault(reason, "NotFound") || isFault(reason, "PermissionDenied") || isFault(reason, "FailedPrecondition"))
      return [];
    throw reason;
  }
}

async function changeSpec({ api, signal }: ScratchContext, ref: Ref, spec: JsonObject): Promise<void> {
  await api.patch(ref, { type: "merge", body: { spec } }, { signal }).catch((reason: unknown) => {
    if (!isFault(reason, "NotFound")) throw reason;
  });
}

const isThere = (api: KubeApi, ref: Ref, signal: AbortSignal): Promise<boolean> =>
  api.get(ref, { signal }).then(
    () => true,
    (reason: unknown) => {
      if (isFault(reason, "NotFound")) return false;
      throw reason;
    },
  );
