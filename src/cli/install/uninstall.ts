/** `snapkeep install --uninstall`: reads, plans, says what it will do, and does it. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { readForUninstall, readUses } from "./read.ts";
import type { Resources } from "./resources.ts";
import type { Waiting } from "./rollout.ts";
import { describe, type InstallPlan } from "./selection.ts";
import { type UninstallAction, uninstallPlan, useOf } from "./uninstall-plan.ts";

export interface UninstallContext {
  readonly resources: Resources;
  readonly waiting: Waiting;
  /** Only says what would be deleted. */
  readonly isDryRun?: boolean;
  say(line: string): void;
}

export async function uninstallAll(plan: InstallPlan, context: UninstallContext): Promise<void> {
  const { resources, say, isDryRun = false } = context;
  const { refusal, kept, deletes, actions, left } = uninstallPlan(await readForUninstall(plan, resources));
  if (refusal !== undefined) throw new Fault("NotFound", refusal);
  for (const line of kept) say(`stays: ${line}`);
  for (const name of deletes) say(`${isDryRun ? "would delete" : "deletes"}: ${name}`);
  if (!isDryRun) {
    const removed: JsonObject[] = [];
    for (const action of actions) await perform(action, removed, context);
    say(`${removed.length} objects deleted`);
  }
  for (const line of left) say(`stays: ${line}`);
}

async function perform(action: UninstallAction, removed: JsonObject[], context: UninstallContext): Promise<void> {
  const { resources, say } = context;
  if (action.act === "replace") return resources.replace(action.object);
  if (action.act === "untilEnded") return untilEnded(action.workloads, context);
  const { act, object } = action;
  if (act === "removeUnused") {
    const use = useOf(object as unknown as ManifestObject, await readUses(resources), removed);
    if (use !== undefined) return say(`stays: ${use}`);
  }
  if (await resources.remove(object, { isForeground: act === "end" })) removed.push(object);
}

const lookEveryMs = 200;

/** Pods release their leases when they end, and need their rights for that. The next controller would wait until the leases expire. */
async function untilEnded(
  workloads: readonly ManifestObject[],
  { resources, waiting: { world, signal, msMax, progress }, say }: UninstallContext,
): Promise<void> {
  const giveUpAt = world.elapsed() + msMax;
  for (;;) {
    const left: string[] = [];
    for (const workload of workloads) if ((await resources.read(workload)) !== undefined) left.push(describe(workload));
    if (left.length === 0) return;
    if (world.elapsed() > giveUpAt)
      return say(`the pods of ${left.join(", ")} have not ended; they lose their rights now`);
    progress(() => `waiting until the pods of ${left.join(", ")} have ended`);
    await world.sleep(lookEveryMs, signal);
  }
}
