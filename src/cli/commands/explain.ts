/** `snapkeep explain`: why an object is as it is, who has to act, and what to type. It only reads. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import { parseLabelSelector } from "../../apiserver/index.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes, signalCodes } from "../../runtime/exit-codes.ts";
import { bool, oneOf, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { type Answer, type ClusterReader, decideBy, readerOf } from "../explain/cluster-copy.ts";
import { type Explanation, explain, explainedKinds, type Verdict } from "../explain/explain.ts";
import { bundleNotes, clusterInFiles } from "../explain/files-reader.ts";
import { textOf } from "../explain/finding.ts";
import { liveReader } from "../explain/live-reader.ts";
import { objectOrKind } from "../explain/object-argument.ts";
import { answerPrinted } from "../explain/output.ts";
import { filesAt } from "../lint/files.ts";
import { readDocuments } from "../lint/manifests.ts";

const flags = {
  ...kubeFlags,
  namespace: text({ short: "n", default: "", help: "Namespace of the objects. Empty: that of the context." }),
  allNamespaces: bool({ short: "A", default: false, help: "Of a kind without a name: the objects of all namespaces." }),
  selector: text({
    short: "l",
    default: "",
    example: "app=db",
    help: "Of a kind without a name: only objects with these labels.",
  }),
  filename: text({
    short: "f",
    default: "",
    example: "bundle/",
    help: "Explain from a folder of `snapkeep gather`, or from a file with objects as `kubectl get -o yaml` prints them, without a cluster; - is standard input.",
  }),
  output: oneOf(["text", "wide", "json", "yaml"], {
    short: "o",
    default: "text",
    help: "Output format. Several objects are one line each, and wide explains each as if it were alone.",
  }),
} as const;
type Input = CommandInput<typeof flags>;
const isOnItsWay: ReadonlySet<Verdict> = new Set(["good", "waits"]);

export const command = defineCommand({
  takes: "KIND[/NAME]",
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
    { does: "All snapshots of a database, one line each", line: "snapkeep explain vs -l app=db -A" },
    { does: "From a support bundle, without the cluster", line: "snapkeep explain vs/monday -n team -f bundle/" },
  ],
  check: ({ namespace, allNamespaces, selector }, words) => {
    if (words.length === 0 || words.length > 2) return "give one object or a kind; for example vs/monday";
    if (namespace !== "" && allNamespaces) return "--namespace and --all-namespaces exclude each other; give one";
    const wrong = complaintOf(() => parseLabelSelector(selector));
    if (wrong !== undefined) return `--selector: ${wrong}`;
    const isOfMany = allNamespaces || selector !== "";
    return complaintOf(() => {
      const { name } = objectOrKind(words, explainedKinds);
      if (name !== undefined && isOfMany)
        throw new Fault(
          "InvalidArgument",
          "--all-namespaces and --selector choose among the objects of a kind; leave out the name",
        );
    });
  },
  run: async (input) => {
    const { options, world, signal } = input;
    try {
      if (options.filename === "")
        return await connected("snapkeep-explain", input, { kinds: [] }, (api, { namespace }) =>
          answer(input, { usual: namespace, reader: liveReader(api), nowMs: world.now() }),
        );
      const { reader, objects, madeMs } = await fileReader(input);
      return await answer(input, { usual: "default", reader, objects, nowMs: madeMs ?? world.now() });
    } catch (reason) {
      // Ctrl-C: a script must not take silence for an answer.
      if (signal.aborted) return signalCodes.SIGINT ?? exitCodes.failed.code;
      throw reason;
    }
  },
});

interface Source {
  readonly reader: ClusterReader;
  /** All that the files have. */
  readonly objects?: readonly KubeObject[];
  /** The namespace that is meant where none is given. */
  readonly usual: string;
  readonly nowMs: Millis;
}

async function answer(input: Input, source: Source): Promise<number> {
  const { options, positionals, out, signal, columns } = input;
  const { reader, nowMs } = source;
  const refs = await askedFor(input, source);
  const answers = new Map<string, Answer>();
  const found: Explanation[] = [];
  for (const ref of refs) {
    const one = await decideBy(reader, (copy) => explain(copy, ref, nowMs), signal, answers);
    if (one !== undefined) found.push(one);
  }
  const isOne = objectOrKind(positionals, explainedKinds).name !== undefined;
  const [first] = found;
  const [ref] = refs;
  if (isOne && first === undefined && ref !== undefined)
    throw new Fault(
      "NotFound",
      `there is no ${textOf(ref)}${ref.namespace === undefined ? "" : "; give --namespace of the object"}`,
    );
  out.write(answerPrinted(found, { isOne, nowMs, columns, output: options.output }));
  return found.every(({ verdict }) => isOnItsWay.has(verdict)) ? exitCodes.good.code : exitCodes.failed.code;
}

/** The object that is named, or those of the kind. */
async function askedFor(
  { options, positionals, signal }: Input,
  { reader, objects, usual }: Source,
): Promise<readonly Ref[]> {
  const { kind, name } = objectOrKind(positionals, explainedKinds);
  const isNamespaced = kindRows[kind].scope === "namespace" && !options.allNamespaces;
  const namespace = isNamespaced ? options.namespace || usual : undefined;
  if (name !== undefined) return [{ kind, namespace, name }];
  const listed = await (objects === undefined ? reader : readerOf(objects)).read({ kind, namespace }, signal);
  if (listed.kind === "unserved")
    throw new Fault(
      "NotFound",
      `the API server does not serve ${kindRows[kind].plural}; install them: snapkeep install --apply`,
    );
  if (listed.kind === "unreadable") throw new Fault("PermissionDenied", listed.why);
  const labels = parseLabelSelector(options.selector);
  return listed.objects
    .filter(({ metadata }) => labels.matches(metadata.labels))
    .map(({ metadata }) => ({ kind, namespace: metadata.namespace, name: metadata.name }));
}

async function fileReader({ options: { filename }, readInput }: Input) {
  const files = await filesAt([filename], async () => (await readInput?.()) ?? "");
  const { documents, unreadable } = readDocuments(files);
  const [broken] = unreadable;
  if (broken !== undefined) throw new Fault("InvalidArgument", `${broken.file}:${broken.line}: ${broken.message}`);
  const notes = await bundleNotes((file) => readFile(join(filename, file), "utf8").catch(() => undefined));
  const found = clusterInFiles(documents, notes);
  if (found.objects.length === 0) throw new Fault("InvalidArgument", `${filename} has no objects`);
  return found;
}
