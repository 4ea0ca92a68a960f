/** Creates an object, prints it, and waits for it if that is asked for: the same for take and restore. */
import type { KindName } from "../../api/kinds.ts";
import type { Draft, ObjectOf } from "../../api/types.ts";
import { printableLine } from "../../base/printable.ts";
import type { KubeApi, VersionFinder } from "../../kube/api.ts";
import type { CommandContext } from "../../runtime/command.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { createProgress } from "../progress.ts";
import { type Look, waitFor } from "../waiting.ts";
import type { Output, VerbOptions } from "./flags.ts";
import { kubectlName } from "./names.ts";
import { printWritten, reportWait } from "./output.ts";

export interface CreateOptions extends Pick<VerbOptions, "dryRun" | "timeout"> {
  readonly output: Output;
  readonly wait: boolean;
}

export interface VerbContext extends Pick<CommandContext, "world" | "signal" | "out" | "error"> {
  readonly api: KubeApi & VersionFinder;
}

/** The exit code. Whole objects are printed once, as they are at the end. */
export async function createAndWait<K extends KindName>(
  kind: K,
  draft: Draft<ObjectOf<K>>,
  lookAt: (object: ObjectOf<K>) => Look,
  options: CreateOptions,
  context: VerbContext,
): Promise<number> {
  const { dryRun, wait, output } = options;
  const { api, signal, world } = context;
  const startedMs = world.elapsed();
  const written =
    dryRun === "client" ? draft : await api.create(kind, draft, { signal, dryRun: dryRun === "server" || undefined });
  const waits = wait && dryRun === "none";
  const isWhole = output === "json" || output === "yaml";
  if (!(waits && isWhole)) await printWritten(context, written, "created", options);
  if (!waits) return exitCodes.good.code;
  const about = { kind, namespace: draft.metadata.namespace, name: draft.metadata.name ?? "" };
  let last = written;
  const look = async (): Promise<Look> => {
    const object = await api.get(about, { signal });
    last = object;
    return lookAt(object);
  };
  const code = await waitAndReport({ look, about }, startedMs, options, context);
  if (isWhole) await printWritten(context, last, "created", options);
  return code;
}

type Waited = Pick<Parameters<typeof waitFor>[0], "look" | "about">;

export async function waitAndReport(
  { look, about }: Waited,
  startedMs: number,
  { timeout, output }: Pick<CreateOptions, "timeout" | "output">,
  context: VerbContext,
): Promise<number> {
  const { world, signal, error } = context;
  const progress = createProgress(world, error);
  try {
    const end = await waitFor({ look, about, msMax: timeout, endsWhenStuck: true }, { ...context, progress });
    return reportWait(context, about, end, { output, tookMs: world.elapsed() - startedMs });
  } catch (reason) {
    if (!signal.aborted) throw reason;
    error.write(printableLine(`interrupted: ${kubectlName(about.kind, about.name)} goes on by itself`));
    return exitCodes.failed.code;
  }
}
