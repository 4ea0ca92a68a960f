/**
 * The index of the binder: which volumes are promised to which claim, which are free, and which claims wait. It is kept by the
 * events of the store, so that binding a thousand claims does not look at a thousand volumes a thousand times.
 */
import type { ApiObject, StoreEvent } from "../contracts.ts";
import { annotationOf, annotations, claimRefOf, classNameOf, phaseOf } from "./words.ts";

export const collections = {
  claims: "persistentvolumeclaims",
  volumes: "persistentvolumes",
  classes: "storage.k8s.io/storageclasses",
} as const;

/** "namespace/name" */
export const placeOf = ({ metadata }: ApiObject): string => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;

/** Names under words; a word without names takes no room. */
function createGroups() {
  const groups = new Map<string, Set<string>>();
  return {
    add(word: string, name: string): void {
      const group = groups.get(word) ?? new Set();
      groups.set(word, group);
      group.add(name);
    },
    remove(word: string, name: string): void {
      const group = groups.get(word);
      group?.delete(name);
      if (group?.size === 0) groups.delete(word);
    },
    of: (word: string): readonly string[] => [...(groups.get(word) ?? [])],
    all: (): readonly string[] => [...groups.values()].flatMap((group) => [...group]),
  };
}

/** Under which claim a volume is promised, or of which class it is free. */
function standing(volume: ApiObject): readonly ["promised" | "free", string] | undefined {
  const ref = claimRefOf(volume);
  if (ref !== undefined) return ["promised", `${ref.namespace ?? ""}/${ref.name ?? ""}`];
  return phaseOf(volume) === "Available" ? ["free", classNameOf(volume) ?? ""] : undefined;
}

const isWaiting = (claim: ApiObject): boolean => annotationOf(claim, annotations.bindCompleted) === undefined;

export function createBinderIndex() {
  const volumes = { promised: createGroups(), free: createGroups() };
  const waiting = createGroups();

  function observeVolume({ before, now, type }: StoreEvent): void {
    const name = now.object.metadata.name ?? "";
    const [was, is] = [before === undefined ? undefined : standing(before.object), standing(now.object)];
    if (was !== undefined) volumes[was[0]].remove(was[1], name);
    if (is !== undefined && type !== "DELETED") volumes[is[0]].add(is[1], name);
  }

  function observeClaim({ before, now, type }: StoreEvent): void {
    const place = placeOf(now.object);
    if (before !== undefined) waiting.remove(classNameOf(before.object) ?? "", place);
    if (type !== "DELETED" && isWaiting(now.object)) waiting.add(classNameOf(now.object) ?? "", place);
  }

  return {
    observe(event: StoreEvent): void {
      if (event.collection === collections.volumes) observeVolume(event);
      else if (event.collection === collections.claims) observeClaim(event);
    },
    /** Names of the volumes promised to the claim at this place. */
    promisedTo: (place: string): readonly string[] => volumes.promised.of(place),
    /** Names of the volumes of this class that anybody may take. */
    free: (className: string): readonly string[] => volumes.free.of(className),
    /** Places of the claims of this class that have no volume yet. */
    waitingFor: (className: string): readonly string[] => waiting.of(className),
    waiting: (): readonly string[] => waiting.all(),
  };
}

export type BinderIndex = ReturnType<typeof createBinderIndex>;
