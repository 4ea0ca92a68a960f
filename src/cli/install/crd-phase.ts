/**
 * The phase of a stored snapshot CRD belongs to `snapkeep migrate`, which checks the stored objects before each move. An installation
 * only renews the definition of the phase that is there. Pure.
 */
import { crdNameOf, type SnapshotKind, snapshotKinds } from "../../api/crds/index.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Crd, type Definition, definitionOf, type MigrationRecord } from "../migrate/definition.ts";

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
  const { record, phase = 3, storage, storedVersions } = definition;
  if (record !== undefined && record.step !== "finished") return unfinished(record);
  if (storage === "v1beta1" || storedVersions.includes("v1beta1"))
    return { why: `it is in phase ${phase}, and ${storedText(definition)}`, next: "snapkeep migrate --to-phase=3" };
  return undefined;
}

const storedText = ({ storage }: Definition): string =>
  storage === "v1beta1"
    ? "objects are stored as v1beta1"
    : "status.storedVersions still has v1beta1: objects may be stored in it";

function unfinished({ goal, back }: MigrationRecord): PhaseProblem {
  return back
    ? { why: `a rollback to phase ${goal} has not ended`, next: `snapkeep migrate --rollback --to-phase=${goal}` }
    : { why: `a migration to phase ${goal} has not ended`, next: `snapkeep migrate --to-phase=${goal}` };
}
