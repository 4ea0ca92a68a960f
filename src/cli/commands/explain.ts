/** `snapkeep explain`: why an object is as it is, who has to act, and what to type. It only reads. */
import type { KubeObject } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { oneOf, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { type ClusterReader, decideBy, readerOf } from "../explain/cluster-copy.ts";
import { explain, explainedKinds } from "../explain/explain.ts";
import { textOf } from "../explain/finding.ts";
import { liveReader } from "../explain/live-reader.ts";
import { objectArgument } from "../explain/object-argument.ts";
import { explanationJson, explanationText } from "../explain/output.ts";
import { filesAt } from "../lint/files.ts";
import { readManifests } from "../lint/manifests.ts";

const flags = {
  ...kubeFlags,
  namespace: text({ short: "n", default: "", help: "Namespace of the object. Empty: that of the context." }),
  filename: text({
    short: "f",
    default: "",
    example: "bundle/",
    help: "Explain from a folder of `snapkeep gather`, or from a file with objects as `kubectl get -o yaml` prints them, without a cluster; - is standard input.",
  }),
  output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format." }),
} as const;
type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  takes: "KIND/NAME",
  flags,
  examples: [
    { does: "Why a snapshot is not ready", line: "snapkeep explain vs/monday --namespace=team" },
    { does: "Why a claim has no volume", line: "snapkeep explain pvc/restored --namespace=team" },
    { does: "Why a content does not go, for a program", line: "snapkeep explain vsc/snapcontent-1 -o json" },
    { does: "From a support bundle, without the cluster", line: "snapkeep explain vs/monday -n team -f bundle/" },
  ],
  check: ({ namespace }, words) => {
    if (words.length === 0 || words.length > 2) return "give one object; for example vs/monday";
    return complaintOf(() => objectArgument(words, namespace, explainedKinds));
  },
  run: async (input) => {
    const { filename } = input.options;
    if (filename !== "") return answer(input, "default", await fileReader(input));
    return connected("snapkeep-explain", input, { kinds: [] }, (api, { namespace }) =>
      answer(input, namespace, liveReader(api)),
    );
  },
});

async function answer(
  { options, positionals, out, world, signal }: Input,
  usual: string,
  reader: ClusterReader,
): Promise<number> {
  const ref = objectArgument(positionals, options.namespace || usual, explainedKinds);
  const nowMs = world.now();
  const found = await decideBy(reader, (copy) => explain(copy, ref, nowMs), signal);
  if (found === undefined)
    throw new Fault(
      "NotFound",
      `there is no ${textOf(ref)}${ref.namespace === undefined ? "" : "; give --namespace of the object"}`,
    );
  out.write(
    options.output === "json"
      ? `${JSON.stringify(explanationJson(found), undefined, 2)}\n`
      : explanationText(found, nowMs),
  );
  return found.verdict === "stuck" ? exitCodes.failed.code : exitCodes.good.code;
}

/** What a file does not have is taken for missing in the cluster: a bundle of `gather` has all that is asked for here. */
async function fileReader({ options: { filename }, readInput }: Input): Promise<ClusterReader> {
  const files = await filesAt([filename], async () => (await readInput?.()) ?? "");
  const { manifests, unreadable } = readManifests(files);
  const [broken] = unreadable;
  if (broken !== undefined) throw new Fault("InvalidArgument", `${broken.file}:${broken.line}: ${broken.message}`);
  if (manifests.length === 0) throw new Fault("InvalidArgument", `${filename} has no objects`);
  return readerOf(manifests.map(({ object }) => object as unknown as KubeObject));
}
