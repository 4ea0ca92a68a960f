/** `snapkeep access`: who can read the data of a snapshot, and by whose consent. */
import { Fault } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import { reachableFrom, snapshotAccess, uselessGrants } from "../../rules/access.ts";
import { accessChange } from "../../rules/access-openings.ts";
import { type CommandInput, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { bool, oneOf, text } from "../../runtime/flag-kinds.ts";
import { namespaceText, snapshotText } from "../access/output.ts";
import { exists, readCluster, readObjects } from "../access/read.ts";
import { connected } from "../connected.ts";
import { filesAt } from "../lint/files.ts";
import { readManifests } from "../lint/manifests.ts";

const flags = {
  ...kubeFlags,
  namespace: text({
    short: "n",
    default: "",
    help: "With a snapshot: its namespace. Alone: which snapshots this namespace may restore.",
  }),
  diff: bool({
    default: false,
    help: "Compare two folders or files of manifests, OLD and NEW, without a cluster; exit with 1 if NEW opens something.",
  }),
  output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format." }),
} as const;

type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  takes: "[SNAPSHOT]",
  flags,
  examples: [
    { does: "Who can restore a snapshot", line: "snapkeep access --namespace=prod monday" },
    { does: "The same, for a script", line: "snapkeep access prod/monday -o json" },
    { does: "Which snapshots a namespace can restore", line: "snapkeep access --namespace=dev" },
    { does: "Whether a change of manifests opens anything, in CI", line: "snapkeep access --diff old/ new/" },
  ],
  check: ({ diff, namespace }, positionals) => {
    if (diff)
      return positionals.length === 2
        ? undefined
        : "--diff takes the old and the new manifests; for example --diff old/ new/";
    if (positionals.length > 1) return "give one snapshot; for example prod/monday";
    return positionals.length === 0 && namespace === ""
      ? "give a snapshot or a namespace; for example prod/monday, or --namespace=dev"
      : undefined;
  },
  run: (input) =>
    input.options.diff
      ? diff(input)
      : connected("snapkeep-access", input, { kinds: ["VolumeSnapshot", "VolumeSnapshotContent"] }, (api) =>
          show(api, input),
        ),
});

async function show(api: Parameters<typeof readCluster>[0], input: Input): Promise<number> {
  const { options, positionals, out, signal } = input;
  const objects = await readCluster(api, signal);
  const grantsWithoutMatch = uselessGrants(objects);
  const [word] = positionals;
  if (word === undefined) {
    const { namespace } = options;
    const snapshots = reachableFrom(objects, namespace);
    const json = { namespace, snapshots, grantsWithoutMatch };
    out.write(options.output === "json" ? jsonText(json) : namespaceText(namespace, snapshots, grantsWithoutMatch));
    return exitCodes.good.code;
  }
  const [first = "", second] = word.split("/", 2);
  const at =
    second === undefined
      ? { namespace: options.namespace || "default", name: first }
      : { namespace: first, name: second };
  if (!exists(objects, at.namespace, at.name))
    throw new Fault(
      "NotFound",
      `there is no VolumeSnapshot ${at.namespace}/${at.name}; name it as NAMESPACE/NAME, or give --namespace`,
    );
  const access = snapshotAccess(objects, at);
  out.write(
    options.output === "json" ? jsonText({ ...access, grantsWithoutMatch }) : snapshotText(access, grantsWithoutMatch),
  );
  return exitCodes.good.code;
}

const jsonText = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

async function diff({ options, positionals, out }: Input): Promise<number> {
  const read = async (path: string | undefined) => {
    const { manifests, unreadable } = readManifests(await filesAt([path ?? ""], async () => ""));
    const [broken] = unreadable;
    if (broken !== undefined) throw new Fault("InvalidArgument", `${broken.file}:${broken.line}: ${broken.message}`);
    return readObjects(manifests);
  };
  const [old, now] = positionals;
  const { opened, closed } = accessChange(await read(old), await read(now));
  if (options.output === "json") out.write(jsonText({ opened, closed }));
  else {
    out.write([...opened.map((line) => `+ ${line}`), ...closed.map((line) => `- ${line}`)].map(printableLine).join(""));
    out.write(`${opened.length} opened, ${closed.length} closed\n`);
  }
  return opened.length > 0 ? exitCodes.failed.code : exitCodes.good.code;
}
