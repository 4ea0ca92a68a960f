/** `snapkeep delete`: a snapshot, saying what becomes of its data and what it waits for. */
import type { Ref } from "../../api/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { ifFound, isFault, nothingIfNotFound } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import type { KubeApi } from "../../kube/api.ts";
import { defineCommand } from "../../runtime/command.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { oneOf } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { afterDeletion } from "../verbs/after-deletion.ts";
import { waitAndReport } from "../verbs/create.ts";
import { missing, verbFlags, waitFlag } from "../verbs/flags.ts";
import { printWritten } from "../verbs/output.ts";
import type { Look } from "../waiting.ts";

const flags = {
  ...verbFlags,
  dryRun: oneOf(["none", "client"], {
    default: "none",
    help: "client: say what would be deleted, and delete nothing.",
  }),
  wait: waitFlag("the snapshot is gone", true),
  output: oneOf(["text", "name"], { short: "o", default: "text", help: "Output format." }),
} as const;

export const command = defineCommand({
  takes: "SNAPSHOT",
  completes: { vs: "VolumeSnapshot" },
  flags,
  examples: [
    { does: "Delete a snapshot and wait until it is gone", line: "snapkeep delete monday" },
    { does: "See what becomes of its data first", line: "snapkeep delete monday --dry-run=client -n team" },
    { does: "Without waiting", line: "snapkeep delete monday --wait=false" },
  ],
  check: (_, words) => missing(words, "snapshot", "snapkeep delete monday"),
  run: (input) =>
    connected("snapkeep-delete", input, { kinds: [] }, async (api, target) => {
      const { options, signal, world, out } = input;
      const { output, dryRun } = options;
      const name = (input.positionals[0] ?? "").replace(/^(vs|volumesnapshots?)\//, "");
      const ref = { kind: "VolumeSnapshot", namespace: options.namespace || target.namespace, name } as const;
      const snapshot = await api.get(ref, { signal });
      const content = await contentOf(api, snapshot, signal);
      const startedMs = world.elapsed();
      const { uid } = snapshot.metadata;
      // This snapshot, and none that was created under its name meanwhile.
      if (dryRun === "none") await api.delete(ref, { uid, signal });
      await printWritten(input, snapshot, "deleted", { output, dryRun });
      if (output === "text") out.write(printableLine(`  ${afterDeletion(snapshot, content)}`));
      if (dryRun !== "none" || !options.wait) return exitCodes.good.code;
      const look = (): Promise<Look> => lookAtDeleted(api, { ...ref, uid }, signal);
      return waitAndReport({ look, about: ref }, startedMs, options, { ...input, api });
    }),
});

async function lookAtDeleted(api: KubeApi, ref: Ref<"VolumeSnapshot">, signal: AbortSignal): Promise<Look> {
  const found = await ifFound(api.get(ref, { signal }));
  if (found === undefined || found.metadata.uid !== ref.uid) return { kind: "done", detail: "gone" };
  const { finalizers = [] } = found.metadata;
  return {
    kind: "waiting",
    for: `VolumeSnapshot ${ref.namespace}/${ref.name} has the finalizers ${finalizers.join(", ")}`,
  };
}

async function contentOf(
  api: KubeApi,
  { status }: VolumeSnapshot,
  signal: AbortSignal,
): Promise<VolumeSnapshotContent | undefined> {
  const name = status?.boundVolumeSnapshotContentName;
  if (!name) return undefined;
  return api.get({ kind: "VolumeSnapshotContent", name }, { signal }).catch((reason: unknown) => {
    if (isFault(reason, "PermissionDenied")) return undefined;
    return nothingIfNotFound(reason);
  });
}
