/** `snapkeep take`: a snapshot of a claim. */
import { Fault, ifFound } from "../../base/fault.ts";
import { defineCommand } from "../../runtime/command.ts";
import { text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { createAndWait } from "../verbs/create.ts";
import { missing, outputFlag, verbFlags, waitFlag } from "../verbs/flags.ts";
import { lookAtTaken } from "../verbs/looks.ts";
import { snapshotNameAt } from "../verbs/names.ts";
import { snapshotDraft, whyNotTaken } from "../verbs/snapshot-draft.ts";

const flags = {
  ...verbFlags,
  name: text({
    default: "",
    example: "before-upgrade",
    help: "Name of the snapshot. Empty: the claim's and the time.",
  }),
  class: text({
    default: "",
    example: "fast-snapshots",
    help: "VolumeSnapshotClass of the snapshot. Empty: the default one of the claim's driver.",
  }),
  wait: waitFlag("the snapshot is ready"),
  output: outputFlag,
} as const;

export const command = defineCommand({
  takes: "CLAIM",
  completes: { pvc: "PersistentVolumeClaim" },
  flags,
  examples: [
    { does: "Take a snapshot and wait until it is ready", line: "snapkeep take data --wait" },
    {
      does: "With a name and a class",
      line: "snapkeep take data --name=before-upgrade --class=fast-snapshots -n team",
    },
    { does: "Only its name, for a script", line: "snapkeep take data --wait -o name" },
    { does: "The manifest, to keep or to change", line: "snapkeep take data --dry-run=client -o yaml" },
  ],
  check: (_, words) => missing(words, "claim", "snapkeep take data"),
  run: (input) =>
    connected("snapkeep-take", input, { kinds: [] }, async (api, target) => {
      const { options, world, signal } = input;
      const claim = (input.positionals[0] ?? "").replace(/^(pvc|persistentvolumeclaims?)\//, "");
      const namespace = options.namespace || target.namespace;
      const name = options.name || snapshotNameAt(claim, world.now());
      if (options.dryRun !== "client") {
        const ref = { kind: "PersistentVolumeClaim", namespace, name: claim } as const;
        const read = await ifFound(api.get(ref, { signal }));
        const why = whyNotTaken(`${namespace}/${claim}`, read);
        if (why !== undefined) throw new Fault("FailedPrecondition", why);
      }
      const draft = snapshotDraft({ namespace, claim, name, snapshotClass: options.class });
      return createAndWait("VolumeSnapshot", draft, lookAtTaken, options, { ...input, api });
    }),
});
