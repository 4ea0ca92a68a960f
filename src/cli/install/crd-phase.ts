/**
 * The phase of a stored snapshot CRD belongs to `snapkeep migrate`, which checks the stored objects before each move. An installation
 * only renews the definition of the phase that is there. Pure.
 */
import { crdNameOf, type SnapshotKind, snapshotKinds } from "../../api/crds/index.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Crd, definitionOf } from "../migrate/definition.ts";
import { commandTo, unfinishedOf } from "../migrate/unfinished.ts";

export interface PhaseProblem {
  readonly why: string;
  /** The command to type next. */
  readonly next: string;
}

export function kindOfCrd(name: string): SnapshotKind | undefined {
  return snapshotKinds.find((kind) => crdNameOf(kind) === name);
}

/** What keeps the definition of phase 3 from being applied to a stored snapshot CRD; undefined: nothing. */
export function phaseProblem(kind: SnapshotKind, stored: JsonObject): PhaseProblem | undefined {
  const definition = definitionOf(kind, stored as unknown as Crd);
  const { phase, storage } = definition;
  const unfinished = unfinishedOf([definition]);
  // What a run has begun goes on to where that run was going; everything else ends in phase 3.
  if (unfinished?.isRecorded === true) return { why: unfinished.why, next: unfinished.next };
  const next = commandTo({ phase: 3, back: false });
  if (storage === "v1beta1") return { why: `it is in phase ${phase}: objects are stored as v1beta1`, next };
  return unfinished === undefined ? undefined : { why: `it is in phase ${phase}, and ${unfinished.why}`, next };
}
