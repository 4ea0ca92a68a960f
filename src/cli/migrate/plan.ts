/**
 * The steps from where the CRDs are to where they shall be. Each step is derived from what is stored, so a run that was killed
 * anywhere goes on with the step that is missing. All CRDs move together: the one that is farthest from the goal goes first. Pure.
 */
import type { CrdPhase, SnapshotKind } from "../../api/crds/index.ts";
import type { Definition, Goal, Version } from "./definition.ts";

export type Step =
  | {
      readonly step: "apply";
      readonly kind: SnapshotKind;
      readonly phase: CrdPhase;
      readonly serveV1beta1: boolean;
      /** Objects that are written from now on are stored in another version. */
      readonly changesStorage: boolean;
    }
  | { readonly step: "rewrite" | "prune"; readonly kind: SnapshotKind; readonly version: Version }
  | { readonly step: "finish"; readonly kind: SnapshotKind };

export const storageIn = (phase: CrdPhase): Version => (phase === 3 ? "v1" : "v1beta1");

/** Undefined: this CRD is where it shall be. */
function nextOf(definition: Definition, goal: Goal): Step | undefined {
  const { kind, phase } = definition;
  if (phase === undefined) return apply(definition, goal.phase, goal);
  if (phase < goal.phase) return apply(definition, (phase + 1) as CrdPhase, goal);
  if (phase === 3 && goal.phase < 3) return apply(definition, 2, goal);
  // Before v1 leaves the CRD, nothing may be stored in it.
  const rewriting = phase > 1 || goal.phase > 1 ? rewriteOf(definition) : undefined;
  if (phase > goal.phase) return rewriting ?? apply(definition, goal.phase, goal);
  if (!definition.isAsIn(goal.phase, goal)) return apply(definition, goal.phase, goal);
  const isFinished = definition.record === undefined || definition.record.step === "finished";
  return rewriting ?? (isFinished ? undefined : { step: "finish", kind });
}

function apply(definition: Definition, phase: CrdPhase, { phase: last, serveV1beta1 = false }: Goal): Step {
  return {
    step: "apply",
    kind: definition.kind,
    phase,
    serveV1beta1: serveV1beta1 && phase === 2 && last === 2,
    changesStorage: definition.storage !== undefined && definition.storage !== storageIn(phase),
  };
}

function rewriteOf({ kind, storage, storedVersions, rewrite }: Definition): Step | undefined {
  if (storage === undefined || (storedVersions.length === 1 && storedVersions[0] === storage)) return undefined;
  return { step: rewrite?.done === true ? "prune" : "rewrite", kind, version: storage };
}

/** All steps, as if nothing else happened meanwhile. */
export function planOf(definitions: readonly Definition[], goal: Goal): readonly Step[] {
  const [next] = nextSteps(definitions, goal);
  if (next === undefined) return [];
  const moved = definitions.map((one) => (one.kind === next.kind ? after(one, next, goal) : one));
  return [next, ...planOf(moved, goal)];
}

/** What is due now, of the CRD that is farthest from the goal first. */
export function nextSteps(definitions: readonly Definition[], goal: Goal): readonly Step[] {
  return definitions
    .map((definition) => stepsOf(definition, goal))
    .sort((one, other) => other.length - one.length)
    .flatMap(([first]) => first ?? []);
}

function stepsOf(definition: Definition, goal: Goal): readonly Step[] {
  const next = nextOf(definition, goal);
  return next === undefined ? [] : [next, ...stepsOf(after(definition, next, goal), goal)];
}

/** The definition once the step is finished. */
function after(definition: Definition, step: Step, goal: Goal): Definition {
  const record = { goal: goal.phase, serveV1beta1: false, back: goal.back, run: "", startedAt: "" };
  switch (step.step) {
    case "apply": {
      const { phase } = step;
      const storage = storageIn(phase);
      const storedVersions = [...new Set([...definition.storedVersions, storage])];
      const isAsIn: Definition["isAsIn"] = (other, options) =>
        other === phase && (options.serveV1beta1 ?? false) === step.serveV1beta1;
      const rewrite = step.changesStorage ? undefined : definition.rewrite;
      return { ...definition, phase, storage, storedVersions, isAsIn, rewrite, record: { ...record, step: "apply" } };
    }
    case "rewrite":
      return {
        ...definition,
        rewrite: { version: step.version, after: "", generation: 0, done: true },
        record: { ...record, step: "rewrite" },
      };
    case "prune":
      return { ...definition, storedVersions: [step.version], record: { ...record, step: "prune" } };
    case "finish":
      return { ...definition, record: { ...record, step: "finished" } };
  }
}
