/** The stored objects before a strict phase: none may break the rules, and nobody may still need v1beta1. */
import { snapshotKinds } from "../../api/crds/index.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { after, withCode } from "../../errors/codes.ts";
import type { CommandContext } from "../../runtime/command.ts";
import { type AuditApi, auditPages, type OldWrite, oldWritesIn } from "../audit/audit.ts";
import { count } from "../findings/count.ts";
import { createProgress } from "../progress.ts";
import type { Goal, MigrationRecord } from "./definition.ts";
import type { Installed } from "./preflight.ts";

interface JudgeInput extends Pick<CommandContext, "world" | "signal" | "error"> {
  readonly options: { readonly oldClientWindow: number };
}

/** Every gate on: only the rules of snapshots are asked. */
const gates = { anyVolumeDataSource: true, crossNamespace: true };
const shownMax = 1_000;

export async function judgeStored(
  api: AuditApi,
  { world, signal, error, options }: JudgeInput,
  installed: readonly Installed[],
  goal: Goal,
): Promise<readonly CodedMessage[]> {
  const kinds = snapshotKinds.filter((kind) =>
    installed.some(({ definition, crd }) => crd !== undefined && definition.kind === kind),
  );
  const writers = createOldWriters(oldWritesSince(installed, goal, options.oldClientWindow, world.now()));
  const progress = createProgress(world, error);
  const invalid: CodedMessage[] = [];
  let [seen, broken] = [0, 0];
  for await (const { objects, findings } of auditPages(api, { kinds, gates, signal })) {
    // Two default classes are a mistake, but every version of the API accepts them.
    const counted = findings.filter(({ severity, code }) => severity === "error" && code !== "SNAP-121");
    broken += counted.length;
    invalid.push(
      ...counted.slice(0, shownMax - invalid.length).map(({ object, message }) => after(`${object}: `, message)),
    );
    for (const object of objects) writers.look(object);
    seen += objects.length;
    progress(() => `checked ${count(seen, "object")} so far, ${count(broken, "violation")}`);
  }
  return [
    ...invalid,
    ...(broken === 0 ? [] : [withCode(`${count(broken, "violation")}; correct or delete the objects`, "SNAP-601")]),
    ...writers
      .latest()
      .map(({ manager, object, time }) =>
        withCode(
          `${manager} wrote ${object} in v1beta1 at ${time}, although v1 is served; upgrade it, or use --to-phase=2 --serve-v1beta1`,
          "SNAP-604",
        ),
      ),
  ];
}

/** What each client has written last in v1beta1. There are few clients, however many objects. */
function createOldWriters(sinceMs: number) {
  const byManager = new Map<string, OldWrite>();
  return {
    look: (object: JsonObject): void => {
      for (const write of oldWritesIn(object, "v1beta1", sinceMs))
        if ((byManager.get(write.manager)?.time ?? "") < write.time) byManager.set(write.manager, write);
    },
    latest: (): readonly OldWrite[] => [...byManager.values()],
  };
}

/** Who wrote v1beta1 while there was no v1 had no choice, and proves nothing. */
export function oldWritesSince(installed: readonly Installed[], goal: Goal, windowMs: number, nowMs: number): number {
  const both = installed
    .map(({ definition }) => definition)
    .filter(({ served }) => served.includes("v1") && served.includes("v1beta1"));
  if (goal.serveV1beta1 === true || both.length === 0 || windowMs === 0) return Number.POSITIVE_INFINITY;
  return Math.max(nowMs - windowMs, Math.min(...both.map(({ record }) => servedSince(record))));
}

/** In whole seconds, as the API server writes the time of a write. Nobody knows it of CRDs that others have installed. */
function servedSince(record: MigrationRecord | undefined): number {
  const ms = Date.parse(record?.bothServedSince ?? "");
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : Math.floor(ms / 1_000) * 1_000;
}
