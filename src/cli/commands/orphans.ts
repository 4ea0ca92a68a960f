/** `snapkeep orphans`: what the driver and the cluster do not both have, from the pod of the driver. */
import { stringify } from "yaml";
import { Fault, isFault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import { printableLine } from "../../base/printable.ts";
import { socketPathOf } from "../../csi/address.ts";
import { type CsiClient, createCsiClient } from "../../csi/client.ts";
import type { KubeApi } from "../../kube/api.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { bool, duration, integer, list, oneOf, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { count } from "../findings/count.ts";
import { adoptedPair } from "../orphans/adopt.ts";
import { filtered, findOrphans, type OrphansFound, orphanKinds } from "../orphans/find.ts";
import { orphansJson, orphansText } from "../orphans/output.ts";
import { readOrphans } from "../orphans/read.ts";
import { createProgress } from "../progress.ts";
import { kubectlName } from "../verbs/names.ts";

const flags = {
  ...kubeFlags,
  csiAddress: text({ default: "/run/csi/socket", required: true, help: "Unix socket of the CSI driver." }),
  kinds: list({
    default: [],
    example: "snapshot,volume",
    help: `Only these kinds of orphans: ${orphanKinds.join(", ")}. Empty: all.`,
  }),
  olderThan: duration({
    default: 0,
    min: 0,
    example: "24h",
    help: "Only orphans whose age is known and that are older. 0: all.",
  }),
  adopt: bool({
    default: false,
    help: "Create a pre-provisioned VolumeSnapshot and its content, with Retain, for each snapshot that has none.",
  }),
  namespace: text({
    short: "n",
    default: "",
    help: "Namespace of the VolumeSnapshots that --adopt creates. Empty: that of the context.",
  }),
  delete: bool({
    default: false,
    help: "Delete the snapshots that have no content at the driver; --count has to say how many.",
  }),
  count: integer({
    default: -1,
    min: -1,
    help: "How many snapshots --delete deletes: typed by whoever has read the list.",
  }),
  output: oneOf(["text", "json", "yaml"], { short: "o", default: "text", help: "Output format." }),
} as const;
type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  flags,
  examples: [
    {
      does: "What a driver has that the cluster does not, and the reverse",
      line: "snapkeep orphans --csi-address=/csi/csi.sock",
    },
    { does: "Only old snapshots without content", line: "snapkeep orphans --kinds=snapshot --older-than=24h" },
    { does: "Bring them back as VolumeSnapshots", line: "snapkeep orphans --kinds=snapshot --adopt --namespace=found" },
    {
      does: "Delete them, three as listed before",
      line: "snapkeep orphans --kinds=snapshot --older-than=24h --delete --count=3",
    },
  ],
  check: (options) => {
    const stray = options.kinds.find((kind) => !orphanKinds.some((known) => known === kind));
    if (stray !== undefined)
      return `--kinds: ${JSON.stringify(stray)} is no kind of orphan; one of ${orphanKinds.join(", ")}`;
    if (options.adopt && options.delete) return "--adopt and --delete exclude each other; give one";
    return complaintOf(() => socketPathOf(options.csiAddress));
  },
  run: (input) => {
    const { options, world, signal } = input;
    const csi = createCsiClient({ address: options.csiAddress, world, log: silent });
    return connected("snapkeep-orphans", input, { kinds: [] }, async (api, target) => {
      const driver = await csi.pluginName(signal);
      const progress = createProgress(world, input.error);
      const read = await readOrphans({ api, csi, driver, signal, progress });
      const found = filtered(findOrphans(read), { kinds: options.kinds, olderThanMs: options.olderThan }, world.now());
      print(input, found, driver);
      const handles = found.orphans.flatMap(({ kind, handle }) => (kind === "snapshot" ? [handle] : []));
      if (options.adopt)
        return adopt(input, api, { driver, handles, namespace: options.namespace || target.namespace });
      if (options.delete) return remove(input, csi, handles);
      return found.orphans.length > 0 ? exitCodes.failed.code : exitCodes.good.code;
    }).finally(csi.close);
  },
});

function print({ options: { output }, out, world }: Input, found: OrphansFound, driver: string): void {
  if (output === "text") return void out.write(orphansText(found, driver, world.now()));
  const json = orphansJson(found, driver);
  out.write(output === "json" ? `${JSON.stringify(json, undefined, 2)}\n` : stringify(json));
}

interface Adoption {
  readonly driver: string;
  readonly handles: readonly string[];
  readonly namespace: string;
}

/** The content first: a VolumeSnapshot without it would be reported as broken meanwhile. */
async function adopt(
  { signal, error }: Input,
  api: KubeApi,
  { driver, handles, namespace }: Adoption,
): Promise<number> {
  for (const handle of handles) {
    const { content, snapshot } = adoptedPair(driver, handle, namespace);
    await createIfMissing(() => api.create("VolumeSnapshotContent", content, { signal }));
    await createIfMissing(() => api.create("VolumeSnapshot", snapshot, { signal }));
    const name = kubectlName("VolumeSnapshot", snapshot.metadata.name ?? "");
    error.write(printableLine(`${name} created in namespace ${namespace} for ${handle}`));
  }
  return exitCodes.good.code;
}

async function createIfMissing(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (reason) {
    if (!isFault(reason, "AlreadyExists")) throw reason;
  }
}

/** Other clusters may use the same storage: nobody but a person can know that these are nobody's. */
async function remove({ options, signal, error }: Input, csi: CsiClient, handles: readonly string[]): Promise<number> {
  if (options.count !== handles.length)
    throw new Fault(
      "FailedPrecondition",
      `${count(handles.length, "snapshot")} would be deleted at the driver, and nothing was: other clusters may use the same storage; if nobody needs them, run it again with --count=${handles.length}`,
    );
  for (const handle of handles) {
    await csi.controller.deleteSnapshot({ snapshotId: handle }, { signal });
    error.write(printableLine(`snapshot ${handle} deleted at the driver`));
  }
  return exitCodes.good.code;
}
