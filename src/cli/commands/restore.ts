/** `snapkeep restore`: a claim with the data of a snapshot, in its namespace or in another one. */
import type { Draft, PersistentVolumeClaim } from "../../api/types.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import { parseQuantity } from "../../base/quantity.ts";
import { fix, withCode } from "../../errors/codes.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { bool, list, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { planRestore, type RestorePlan, type RestoreWishes } from "../verbs/claim-draft.ts";
import { createAndWait, type VerbContext } from "../verbs/create.ts";
import { missing, outputFlag, verbFlags, waitFlag } from "../verbs/flags.ts";
import { restoreGroup } from "../verbs/group-restore.ts";
import { lookAtRestored } from "../verbs/looks.ts";
import { kubectlName, placeOf } from "../verbs/names.ts";
import { readRestore } from "../verbs/read.ts";

const flags = {
  ...verbFlags,
  to: text({
    default: "",
    example: "restored",
    help: "Name of the claim to create, or NAMESPACE/NAME for one in another namespace. For a group: the namespace; empty is that of the group.",
  }),
  nameTemplate: text({
    default: "{claim}-{group}",
    help: "For a group: names of the claims to create, with {claim}, {group} and {snapshot} of each member.",
  }),
  storageClass: text({
    default: "",
    example: "fast",
    help: "StorageClass of the claim. Empty: that of the claim which the snapshot was taken of, else the default or only one of its driver.",
  }),
  size: text({ default: "", example: "10Gi", help: "Size of the claim. Empty: the restore size of the snapshot." }),
  accessModes: list({
    default: [],
    example: "ReadWriteOnce",
    help: "Access modes of the claim. Empty: those of the claim which the snapshot was taken of, else ReadWriteOnce.",
  }),
  createGrant: bool({
    default: false,
    help: "Create the ReferenceGrant that a claim of another namespace needs, if it is missing.",
  }),
  wait: waitFlag("the claim has its volume"),
  output: outputFlag,
} as const;

export const command = defineCommand({
  takes: "SNAPSHOT",
  completes: { vs: "VolumeSnapshot" },
  flags,
  examples: [
    { does: "Restore into a new claim and wait for it", line: "snapkeep restore monday --to=restored --wait" },
    {
      does: "Into a larger volume of another class",
      line: "snapkeep restore monday --to=restored --size=20Gi --storage-class=fast",
    },
    {
      does: "Into another namespace, with the grant that it needs",
      line: "snapkeep restore monday -n team --to=staging/restored --create-grant",
    },
    { does: "Every member of a group: a claim each, or none", line: "snapkeep restore vgs/monday --wait" },
    {
      does: "The manifest, to keep or to change",
      line: "snapkeep restore monday --to=restored --dry-run=client -o yaml",
    },
  ],
  check: ({ to, size }, words) => {
    if (groupNameIn(words[0]) !== undefined)
      return size === "" && !to.includes("/")
        ? undefined
        : "for a group give --to=NAMESPACE, and no --size: each claim is as large as its member";
    if (to === "" || placeOf(to, "any").name === "" || placeOf(to, "any").namespace === "")
      return "name the claim to create with --to; for example --to=restored";
    return (
      missing(words, "snapshot", "snapkeep restore monday --to=restored") ??
      (size === "" ? undefined : complaintOf(() => parseQuantity(size)))
    );
  },
  run: (input) =>
    connected("snapkeep-restore", input, { kinds: [] }, async (api, target) => {
      const { options, signal } = input;
      const namespace = options.namespace || target.namespace;
      const group = groupNameIn(input.positionals[0]);
      if (group !== undefined) {
        const { to, ...rest } = options;
        const of = { ...rest, from: { namespace, name: group }, toNamespace: to || namespace };
        return restoreGroup(of, options, { ...input, api });
      }
      const name = (input.positionals[0] ?? "").replace(/^(vs|volumesnapshots?)\//, "");
      const wishes: RestoreWishes = { ...options, from: { namespace, name }, to: placeOf(options.to, namespace) };
      const decision = planRestore(await readRestore(api, wishes, signal), wishes);
      if ("refused" in decision) throw new Fault("FailedPrecondition", decision.refused);
      const context = { ...input, api };
      if (!(await isGranted(decision, options, context))) return exitCodes.failed.code;
      if (wishes.to.namespace !== namespace && options.dryRun !== "client")
        await checkNamespaceIsKept(decision, context);
      return createAndWait("PersistentVolumeClaim", decision.claim, lookAtRestored, options, context);
    }),
});

const groupNameIn = (word = ""): string | undefined => /^(?:vgs|volumegroupsnapshots?)\/(.+)$/.exec(word)?.[1];

interface GrantOptions {
  readonly createGrant: boolean;
  readonly dryRun: "none" | "client" | "server";
}

/** Says which grant is missing, or creates it if that is wished. */
async function isGranted(
  { missingGrant, grantIsUnknown }: RestorePlan,
  { createGrant, dryRun }: GrantOptions,
  { api, signal, error }: VerbContext,
): Promise<boolean> {
  if (missingGrant === undefined) return true;
  const { namespace = "", name = "" } = missingGrant.metadata;
  if (createGrant) {
    if (dryRun !== "client")
      await api
        .create("ReferenceGrant", missingGrant, { signal, dryRun: dryRun === "server" || undefined })
        .catch((reason: unknown) => {
          if (!isFault(reason, "AlreadyExists")) throw reason;
        });
    error.write(printableLine(`${kubectlName("ReferenceGrant", name)} created in namespace ${namespace}`));
    return true;
  }
  if (grantIsUnknown) {
    error.write(
      printableLine(
        `you may not list ReferenceGrants in namespace ${namespace}: whether one allows the restore is not known`,
      ),
    );
    return true;
  }
  const { stringify } = await import("yaml");
  error.write(
    printableLine(withCode(`no ReferenceGrant in namespace ${namespace} allows it; ${fix("SNAP-875")}`, "SNAP-875")),
  );
  error.write(`\n${stringify(missingGrant, { aliasDuplicateObjects: false })}`);
  return false;
}

/** A server without the feature gate would store a claim that waits for a snapshot of its own namespace. */
async function checkNamespaceIsKept(
  { claim }: { readonly claim: Draft<PersistentVolumeClaim> },
  { api, signal }: VerbContext,
) {
  const stored = await api.create("PersistentVolumeClaim", claim, { signal, dryRun: true });
  const { namespace } = (stored.spec?.dataSourceRef ?? {}) as { readonly namespace?: string };
  if (namespace !== undefined) return;
  throw new Fault(
    "FailedPrecondition",
    withCode(`the API server drops spec.dataSourceRef.namespace; ${fix("SNAP-878")}`, "SNAP-878"),
  );
}
