/** From what the cluster has to a result: leftovers, classes, a namespace, the round, and its removal, whatever happens in between. */
import { isFault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import { withDeadline } from "../../base/world.ts";
import { fix, withCode } from "../../errors/codes.ts";
import type { KubeApi, VersionFinder } from "../../kube/api.ts";
import { thisProcess } from "../owner.ts";
import { type Choice, chooseClasses } from "./classes.ts";
import type { PodWishes } from "./objects.ts";
import type { Verification } from "./report.ts";
import { beginLine, stepLine, troubleLines } from "./report.ts";
import { runRound, type StepEnd, type Trouble } from "./round.ts";
import { createScratch, findLeftovers, keepScratch, releaseScratch, removeScratch } from "./scratch.ts";

export interface VerifyOptions {
  /** Empty: the default one. */
  readonly storageClass: string;
  readonly snapshotClass: string;
  readonly size: string;
  /** Undefined: without pods. */
  readonly pods: PodWishes | undefined;
  readonly keeps: boolean;
  readonly stepMsMax: number;
  readonly removalMsMax: number;
}

export interface VerifyContext {
  readonly api: KubeApi & VersionFinder;
  readonly world: World;
  readonly signal: AbortSignal;
  /** Lines for a person, as the round goes. */
  say(text: string): void;
  progress(text: () => string): void;
}

/** More steps than a round has, so that no other round takes this one for dead. */
const stepsMax = 10;

export async function verify(options: VerifyOptions, context: VerifyContext): Promise<Verification> {
  const { say, signal, world } = context;
  await removeLeftovers(options, context);
  const startedMs = world.elapsed();
  const choice = await readChoice(options, context);
  if (choice.kind === "blocked") {
    say(`${choice.why}\n`);
    const nothing = { chosen: undefined, namespace: undefined, steps: [], left: [], tookMs: 0 };
    return { ...nothing, result: "blocked", trouble: { why: choice.why } };
  }
  const { chosen } = choice;
  const namespace = await createScratch(
    context,
    thisProcess(),
    stepsMax * options.stepMsMax + 2 * options.removalMsMax,
  );
  say(beginLine(chosen, namespace));
  const steps: StepEnd[] = [];
  const ended = (end: StepEnd): void => {
    steps.push(end);
    say(stepLine(end));
  };
  let trouble: Trouble | undefined;
  let left: readonly string[] = [];
  try {
    trouble = await runRound({ ...context, ...options, namespace, chosen, ended });
    if (trouble !== undefined) say(troubleLines(trouble));
  } catch (reason) {
    // Whoever has interrupted the round wants no more of it, and nothing left.
    if (!signal.aborted) throw reason;
  } finally {
    left = await removeOrKeep(namespace, options, context, ended);
  }
  const unremoved = left.length === 0 ? undefined : whyLeft(left);
  if (unremoved !== undefined) say(`  ✗ ${unremoved}\n`);
  const found = { chosen, namespace, steps, left, tookMs: world.elapsed() - startedMs };
  if (signal.aborted) return { ...found, result: "interrupted", trouble: { why: "it was interrupted" } };
  if (trouble !== undefined) return { ...found, result: trouble.kind, trouble };
  return unremoved === undefined
    ? { ...found, result: "passed", trouble: undefined }
    : { ...found, result: "failed", trouble: { step: "removal", why: unremoved } };
}

const whyLeft = (left: readonly string[]): string =>
  withCode(`not removed: ${left.join(", ")}; ${fix("SNAP-862")}`, "SNAP-862");

async function readChoice(
  { storageClass, snapshotClass, pods }: VerifyOptions,
  { api, signal }: VerifyContext,
): Promise<Choice> {
  if ((await api.findVersion("VolumeSnapshotClass", { signal })) === undefined)
    return {
      kind: "blocked",
      why: withCode(`the API server does not serve VolumeSnapshotClasses; ${fix("SNAP-863")}`, "SNAP-863"),
    };
  const read = {
    storageClasses: (await api.list("StorageClass", { signal })).objects,
    snapshotClasses: (await api.list("VolumeSnapshotClass", { signal })).objects,
  };
  return chooseClasses(read, { storageClass, snapshotClass, hasPods: pods !== undefined });
}

async function removeLeftovers({ removalMsMax }: VerifyOptions, context: VerifyContext): Promise<void> {
  const { dead, alive } = await findLeftovers(context);
  for (const namespace of dead) {
    const left = await removeScratch(context, namespace, removalMsMax, context.progress);
    context.say(
      left.length === 0
        ? `removed namespace ${namespace}, which a round that was killed has left\n`
        : `  ✗ ${whyLeft(left)}\n`,
    );
  }
  for (const namespace of alive) context.say(`namespace ${namespace} is of another round, which may be at work\n`);
}

/** Has time of its own: the signal of an interrupted round has aborted. */
async function removeOrKeep(
  namespace: string,
  { keeps, removalMsMax }: VerifyOptions,
  context: VerifyContext,
  ended: (end: StepEnd) => void,
): Promise<readonly string[]> {
  const { world, progress, say } = context;
  const startedMs = world.elapsed();
  const inTime = <T>(ms: number, work: (own: VerifyContext) => Promise<T>): Promise<T> =>
    withDeadline(world, undefined, ms, (signal) => work({ ...context, signal }));
  if (keeps) {
    await inTime(removalMsMax, (own) => keepScratch(own, namespace));
    say(`kept: kubectl delete namespace ${namespace} removes it\n`);
    return [];
  }
  const left = await inTime(2 * removalMsMax, (own) => removeScratch(own, namespace, removalMsMax, progress)).catch(
    (reason: unknown) => {
      if (isFault(reason, "DeadlineExceeded")) return [`Namespace ${namespace}`];
      throw reason;
    },
  );
  if (left.length === 0) ended({ step: "removal", tookMs: world.elapsed() - startedMs, detail: "" });
  else await inTime(removalMsMax, (own) => releaseScratch(own, namespace));
  return left;
}
