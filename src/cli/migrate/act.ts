/**
 * Performs the steps. Every write of a CRD names the version that was read and records the step in the same write; before each one
 * it is checked that no later run has taken over. What a process knows beyond that is nothing: a killed run is resumed from the CRDs.
 */
import { createHash } from "node:crypto";
import { crdNameOf, type SnapshotKind, snapshotCrd, snapshotKinds } from "../../api/crds/index.ts";
import { kindRows } from "../../api/kinds.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { isObject } from "../../base/json.ts";
import type { World } from "../../base/world.ts";
import { withCode } from "../../errors/codes.ts";
import type { AuditApi } from "../audit/audit.ts";
import {
  type Crd,
  definitionOf,
  type Goal,
  inPhase,
  type MigrationRecord,
  recordIn,
  withRecord,
} from "./definition.ts";
import { describeStep } from "./describe.ts";
import { nextSteps, planOf, type Step } from "./plan.ts";
import type { Installed } from "./preflight.ts";
import { rewriteObjects } from "./rewrite.ts";

export interface MigrateContext {
  readonly api: AuditApi;
  readonly world: World;
  readonly signal: AbortSignal;
  /** Names this run, and no other. */
  readonly run: string;
  /** After the storage version has changed: until every API server of the cluster has seen it. */
  readonly settleMs: Millis;
  say(line: string): void;
  progress(text: () => string): void;
}

/** The only memory of a run: it is lost with the process, and then the time counts from its start. */
interface Run extends MigrateContext {
  storageChangedAt: Millis;
}

const servedMsMax = 60_000;
const pollMs = 50;
/** Somebody else keeps writing the CRD: then there is a second owner, whatever the preflight said. */
const conflictsMax = 20;

/** The first CRD is read last: if it is still ours, then no later run had written the others when they were read. */
export async function observe({ api, signal }: Pick<MigrateContext, "api" | "signal">): Promise<readonly Installed[]> {
  const installed: Installed[] = [];
  for (const kind of [...snapshotKinds].reverse()) {
    const crd = await api
      .get({ kind: "CustomResourceDefinition", name: crdNameOf(kind) }, { signal })
      .catch((reason: unknown) => (isFault(reason, "NotFound") ? undefined : Promise.reject(reason)));
    installed.unshift({ crd, definition: definitionOf(kind, crd) });
  }
  return installed;
}

/** Takes over from any earlier run, and goes to the goal. */
export async function migrate(given: MigrateContext, goal: Goal): Promise<void> {
  // An earlier run may have changed the storage version a moment ago.
  const context: Run = { ...given, storageChangedAt: given.world.elapsed() };
  const first: MigrationRecord = {
    goal: goal.phase,
    serveV1beta1: goal.serveV1beta1 ?? false,
    back: goal.back,
    run: context.run,
    startedAt: new Date(context.world.now()).toISOString(),
    step: "begun",
  };
  let hasTakenOver = false;
  let done = false;
  while (!done)
    await persistently(async () => {
      const installed = await observe(context);
      if (hasTakenOver) mustBeOurs(context, installed);
      const hasTakenOne = await takeNext(context, installed, goal, first);
      hasTakenOver = true;
      if (hasTakenOne) return;
      const [step] = nextSteps(
        installed.map(({ definition }) => definition),
        goal,
      );
      const at = installed.find(({ definition }) => definition.kind === step?.kind);
      if (step === undefined || at === undefined) done = true;
      else await perform(context, step, at, first);
    });
  // Whoever goes on after this command finds what it promised.
  for (const kind of snapshotKinds) await untilServed(context, kind);
}

/** Writes our name on the first CRD that has another one; false: all have ours. */
async function takeNext(
  context: MigrateContext,
  installed: readonly Installed[],
  goal: Goal,
  first: MigrationRecord,
): Promise<boolean> {
  for (const { crd, definition } of installed) {
    if (crd === undefined || recordIn(crd)?.run === context.run) continue;
    // What is finished stays so: else a run that is killed again and again would never get to the end.
    const step = planOf([definition], goal).length === 0 ? "finished" : "begun";
    const { rewrite, record } = definition;
    await replace(context, withRecord(crd, { ...first, step, rewrite, bothServedSince: record?.bothServedSince }));
    return true;
  }
  return false;
}

/** The first CRD decides between runs: the others may have the name of a run that wrote them before it saw that it has to stop. */
function mustBeOurs({ run }: Pick<MigrateContext, "run">, installed: readonly Installed[]): void {
  const record = installed.find(({ crd }) => crd !== undefined)?.definition.record;
  if (record === undefined || record.run === run) return;
  throw new Fault(
    "FailedPrecondition",
    withCode(
      `another run (${record.run}, since ${record.startedAt}, to phase ${record.goal}) has taken over; this one has stopped`,
      "SNAP-606",
    ),
  );
}

/** A write that names an old version is refused: look again, and decide again. */
async function persistently(attempt: () => Promise<void>): Promise<void> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await attempt();
    } catch (reason) {
      if (!isFault(reason, "Conflict", "AlreadyExists") || conflicts === conflictsMax) throw reason;
    }
  }
}

const replace = ({ api, signal }: MigrateContext, crd: Crd): Promise<Crd> =>
  api.replace("CustomResourceDefinition", crd, { signal });

async function perform(
  context: Run,
  step: Step,
  { crd, definition }: Installed,
  first: MigrationRecord,
): Promise<void> {
  const { api, signal, say } = context;
  const record = (crd && recordIn(crd)) ?? first;
  say(describeStep(step));
  if (step.step === "apply") {
    const rewrite = step.changesStorage ? undefined : definition.rewrite;
    const now = new Date(context.world.now()).toISOString();
    const bothServedSince = step.serveV1beta1 ? (record.bothServedSince ?? now) : undefined;
    const applied = { ...record, step: "apply", rewrite, bothServedSince } as const;
    if (crd === undefined) {
      const draft = snapshotCrd(step.kind, step.phase, step) as unknown as Crd;
      await api.create("CustomResourceDefinition", withRecord(draft, applied), { signal });
    } else await replace(context, withRecord(inPhase(crd, step.kind, step.phase, step), applied));
    if (step.changesStorage) context.storageChangedAt = context.world.elapsed();
    return;
  }
  if (crd === undefined) return;
  if (step.step === "rewrite") return rewrite(context, step, crd, record);
  if (step.step === "prune") {
    const status = { ...crd.status, storedVersions: [step.version] } as Crd["status"];
    await api.replace("CustomResourceDefinition", { ...crd, status } as Crd, { signal, subresource: "status" });
    return;
  }
  await replace(context, withRecord(crd, { ...record, step: "finished", rewrite: undefined }));
}

async function rewrite(
  context: Run,
  { kind, version }: Extract<Step, { step: "rewrite" | "prune" }>,
  crd: Crd,
  record: MigrationRecord,
): Promise<void> {
  const { api, world, signal, settleMs } = context;
  let current = crd;
  let begun = definitionOf(kind, crd).rewrite;
  if (begun === undefined) {
    await untilServed(context, kind);
    await world.sleep(Math.max(0, context.storageChangedAt + settleMs - world.elapsed()), signal);
    const { value } = await api.pages(kind, { version: servedIn(crd), signal }).next();
    const after = value?.resourceVersion ?? "";
    begun = { version, after, generation: crd.metadata.generation ?? 0, done: false };
    current = await replace(context, withRecord(crd, { ...record, rewrite: begun }));
  }
  await rewriteObjects(context, {
    kind,
    version: servedIn(crd),
    after: begun.after,
    eachPage: async () => mustBeOurs(context, await observe(context)),
  });
  await replace(context, withRecord(current, { ...record, step: "rewrite", rewrite: { ...begun, done: true } }));
}

/** Objects are rewritten through any version that is served; the storage version decides how they are stored. */
const servedIn = (crd: Crd): string | undefined => crd.spec?.versions?.find(({ served }) => served)?.name;

/** Every version that the CRD serves is found by discovery, no other is, and objects are stored as it says. */
async function untilServed(context: MigrateContext, kind: SnapshotKind): Promise<void> {
  const { world, signal } = context;
  const startedAt = world.elapsed();
  while (!(await isServed(context, kind))) {
    if (world.elapsed() - startedAt > servedMsMax)
      throw new Fault(
        "DeadlineExceeded",
        `the API server does not serve ${crdNameOf(kind)} as its CRD says after ${servedMsMax / 1_000} s; look at status.conditions of the CRD, then run snapkeep migrate again: it continues`,
      );
    await world.sleep(pollMs, signal);
  }
}

async function isServed({ api, signal }: MigrateContext, kind: SnapshotKind): Promise<boolean> {
  const { group, plural } = kindRows[kind];
  const crd = await api.get({ kind: "CustomResourceDefinition", name: crdNameOf(kind) }, { signal });
  const { served, storage } = definitionOf(kind, crd);
  const isEstablished = crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
  if (isEstablished !== true) return false;
  for (const version of ["v1", "v1beta1"]) {
    const found = await api
      .getPath(`/apis/${group}/${version}`, { signal })
      .catch((reason: unknown) => (isFault(reason, "NotFound") ? undefined : Promise.reject(reason)));
    const resources = isObject(found) && Array.isArray(found.resources) ? found.resources.filter(isObject) : [];
    const row = resources.find(({ name }) => name === plural);
    if ((row !== undefined) !== served.includes(version)) return false;
    if (row?.storageVersionHash !== undefined && row.storageVersionHash !== storageHash(group, storage, kind))
      return false;
  }
  return true;
}

/** As discovery prints it: the first eight bytes of a digest of the version that objects are stored in. */
const storageHash = (group: string, version: string | undefined, kind: string): string =>
  createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
