/**
 * The index of the binder: which volumes are promised to which claim, which are free, and which claims wait. It is kept by the
 * events of the store, so that binding a thousand claims does not look at a thousand volumes a thousand times.
 */
import { createMultimap } from "../../../base/multimap.ts";
import type { ApiObject, StoreEvent } from "../../contracts.ts";
import { annotationOf, bindingAnnotations, claimRefOf, classNameOf, phaseOf } from "./words.ts";

export const boundCollections = {
  claims: "persistentvolumeclaims",
  volumes: "persistentvolumes",
  classes: "storage.k8s.io/storageclasses",
} as const;

/** "namespace/name" */
export const placeOf = ({ metadata }: ApiObject): string => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;

/** Says to which claim a volume is promised, or in which class it is free. */
function standing(volume: ApiObject): readonly ["promised" | "free", string] | undefined {
  const ref = claimRefOf(volume);
  if (ref !== undefined) return ["promised", `${ref.namespace ?? ""}/${ref.name ?? ""}`];
  return phaseOf(volume) === "Available" ? ["free", classNameOf(volume) ?? ""] : undefined;
}

const isWaiting = (claim: ApiObject): boolean => annotationOf(claim, bindingAnnotations.bindCompleted) === undefined;

export function createBinderIndex() {
  const volumes = { promised: createMultimap<string, string>(), free: createMultimap<string, string>() };
  const waiting = createMultimap<string, string>();

  function observeVolume({ before, now, type }: StoreEvent): void {
    const name = now.object.metadata.name ?? "";
    const [was, is] = [before === undefined ? undefined : standing(before.object), standing(now.object)];
    if (was !== undefined) volumes[was[0]].delete(was[1], name);
    if (is !== undefined && type !== "DELETED") volumes[is[0]].add(is[1], name);
  }

  function observeClaim({ before, now, type }: StoreEvent): void {
    const place = placeOf(now.object);
    if (before !== undefined) waiting.delete(classNameOf(before.object) ?? "", place);
    if (type !== "DELETED" && isWaiting(now.object)) waiting.add(classNameOf(now.object) ?? "", place);
  }

  return {
    observe(event: StoreEvent): void {
      if (event.collection === boundCollections.volumes) observeVolume(event);
      else if (event.collection === boundCollections.claims) observeClaim(event);
    },
    /** Names of the volumes promised to the claim at this place. */
    promisedTo: (place: string): readonly string[] => [...volumes.promised.get(place)],
    /** Names of the volumes of this class that anybody may take. */
    free: (className: string): readonly string[] => [...volumes.free.get(className)],
    /** Places of the claims of this class that have no volume yet. */
    waitingFor: (className: string): readonly string[] => [...waiting.get(className)],
    waiting: (): readonly string[] => [...waiting.sets()].flatMap((places) => [...places]),
  };
}

export type BinderIndex = ReturnType<typeof createBinderIndex>;
