/** `snapkeep explain`: why an object is as it is, who has to act, and what to type. It only reads. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { oneOf, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { type ClusterReader, decideBy } from "../explain/cluster-copy.ts";
import { explain, explainedKinds, type Verdict } from "../explain/explain.ts";
import { bundleNotes, clusterInFiles } from "../explain/files-reader.ts";
import { textOf } from "../explain/finding.ts";
import { liveReader } from "../explain/live-reader.ts";
import { objectArgument } from "../explain/object-argument.ts";
import { explanationJson, explanationText } from "../explain/output.ts";
import { filesAt } from "../lint/files.ts";
import { readDocuments } from "../lint/manifests.ts";

const flags = {
  ...kubeFlags,
  namespace: text({ short: "n", default: "", help: "Namespace of the object. Empty: that of the context." }),
  filename: text({
    short: "f",
    default: "",
    example: "bundle/",
    help: "Explain from a folder of `snapkeep gather`, or from a file with objects as `kubectl get -o yaml` prints them, without a cluster; - is standard input.",
  }),
  output: oneOf(["text", "json", "yaml"], { short: "o", default: "text", help: "Output format." }),
} as const;
type Input = CommandInput<typeof flags>;
const isOnItsWay: ReadonlySet<Verdict> = new Set(["good", "waits"]);

export const command = defineCommand({
  takes: "KIND/NAME",
  completes: {
    vs: "VolumeSnapshot",
    vsc: "VolumeSnapshotContent",
    pvc: "PersistentVolumeClaim",
    sharedsecret: "SharedSecret",
    sharedconfigmap: "SharedConfigMap",
  },
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
    if (filename !== "") {
      const { reader, madeMs } = await fileReader(input);
      return answer(input, "default", reader, madeMs ?? input.world.now());
    }
    return connected("snapkeep-explain", input, { kinds: [] }, (api, { namespace }) =>
      answer(input, namespace, liveReader(api), input.world.now()),
    );
  },
});

async function answer(
  { options, positionals, out, signal, columns }: Input,
  usual: string,
  reader: ClusterReader,
  nowMs: Millis,
): Promise<number> {
  const ref = objectArgument(positionals, options.namespace || usual, explainedKinds);
  const found = await decideBy(reader, (copy) => explain(copy, ref, nowMs), signal);
  if (found === undefined)
    throw new Fault(
      "NotFound",
      `there is no ${textOf(ref)}${ref.namespace === undefined ? "" : "; give --namespace of the object"}`,
    );
  const json = explanationJson(found, nowMs);
  out.write(
    {
      text: () => explanationText(found, nowMs, columns),
      json: () => `${JSON.stringify(json, undefined, 2)}\n`,
      yaml: () => stringify(json),
    }[options.output](),
  );
  return isOnItsWay.has(found.verdict) ? exitCodes.good.code : exitCodes.failed.code;
}

async function fileReader({ options: { filename }, readInput }: Input) {
  const files = await filesAt([filename], async () => (await readInput?.()) ?? "");
  const { documents, unreadable } = readDocuments(files);
  const [broken] = unreadable;
  if (broken !== undefined) throw new Fault("InvalidArgument", `${broken.file}:${broken.line}: ${broken.message}`);
  const notes = await bundleNotes((file) => readFile(join(filename, file), "utf8").catch(() => undefined));
  const found = clusterInFiles(documents, notes);
  if (found.count === 0) throw new Fault("InvalidArgument", `${filename} has no objects`);
  return found;
}
