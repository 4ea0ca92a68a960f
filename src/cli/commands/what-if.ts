/** `snapkeep what-if`: what a deletion, a restore or a change would lead to. It only reads: the change is made to a copy in memory. */
import type { Ref } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import { isObject, type JsonObject, parse } from "../../base/json.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import type { Connection } from "../../runtime/connect.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { oneOf, text } from "../../runtime/flag-kinds.ts";
import { helpWidth } from "../../runtime/help.ts";
import { connected } from "../connected.ts";
import { textOf } from "../explain/finding.ts";
import { liveReader } from "../explain/live-reader.ts";
import { objectArgument } from "../explain/object-argument.ts";
import { planRestore } from "../verbs/claim-draft.ts";
import { placeOf } from "../verbs/names.ts";
import { readRestore } from "../verbs/read.ts";
import { blocksOf } from "../what-if/blocks.ts";
import { effectBetween } from "../what-if/effect.ts";
import { answerJson, answerText, type WhatIfAnswer } from "../what-if/output.ts";
import { type Change, copiedKinds, predict } from "../what-if/predict.ts";

const flags = {
  ...kubeFlags,
  namespace: text({ short: "n", default: "", help: "Namespace of the object. Empty: that of the context." }),
  patch: text({
    short: "p",
    default: "",
    example: '{"spec":{"deletionPolicy":"Retain"}}',
    help: "With change: what to change, as a merge patch in JSON.",
  }),
  to: text({
    default: "",
    example: "restored",
    help: "With restore: name of the claim, or NAMESPACE/NAME for one in another namespace.",
  }),
  storageClass: text({ default: "", help: "With restore: StorageClass of the claim, as for snapkeep restore." }),
  size: text({ default: "", example: "10Gi", help: "With restore: size of the claim, as for snapkeep restore." }),
  output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format." }),
} as const;
type Input = CommandInput<typeof flags>;

const kinds = copiedKinds.filter((kind) => kind !== "Pod" && kind !== "Namespace");
const acts = ["delete", "restore", "delete-namespace", "change"] as const;

export const command = defineCommand({
  takes: "ACT NAME",
  flags,
  examples: [
    { does: "What does deleting a snapshot take with it?", line: "snapkeep what-if delete vs/monday --namespace=team" },
    { does: "What is lost with a namespace?", line: "snapkeep what-if delete-namespace team" },
    { does: "Would a restore work, and what would it do?", line: "snapkeep what-if restore monday --to=restored" },
    {
      does: "Keep the data of a snapshot when it is deleted",
      line: `snapkeep what-if change vsc/snapcontent-1 --patch='{"spec":{"deletionPolicy":"Retain"}}'`,
    },
  ],
  check: (options, [act, name, ...others]) => {
    if (act === undefined || !(acts as readonly string[]).includes(act))
      return `say what would happen: ${acts.join(", ")}; for example snapkeep what-if delete vs/monday`;
    if (name === undefined || others.length > 0)
      return `${act} takes one name; for example snapkeep what-if ${act} ${act === "delete-namespace" ? "team" : "vs/monday"}`;
    if ((act === "change") !== (options.patch !== "")) return "change and --patch go together";
    if ((act === "restore") !== (options.to !== "")) return "restore and --to go together; for example --to=restored";
    return act === "delete" || act === "change"
      ? complaintOf(() => [objectArgument([name], "any", kinds), options.patch === "" || patchOf(options.patch)])
      : undefined;
  },
  run: (input) =>
    connected("snapkeep-what-if", input, {}, async (api, target) => {
      const { options, world, signal, out, columns } = input;
      const change = await changeOf(input, api, options.namespace || target.namespace);
      const { objects, notRead } = await readObjects(api, signal);
      if (change.kind !== "create" && !objects.some((object) => isOf(object, change.ref)))
        throw new Fault(
          "NotFound",
          `there is no ${textOf(change.ref)}, or you may not read it; give --namespace of the object`,
        );
      const prediction = await predict(objects, change, world.now(), signal);
      const effect = effectBetween(prediction);
      const { refused, after } = prediction;
      const blocks = refused === undefined ? await blocksOf(effect, after, signal) : [];
      const answer: WhatIfAnswer = {
        asked: askedText(change),
        refused,
        effect,
        blocks,
        isAtRest: after.isAtRest,
        notRead,
      };
      out.write(
        options.output === "json"
          ? `${JSON.stringify(answerJson(answer), undefined, 2)}\n`
          : answerText(answer, helpWidth(columns)),
      );
      const isHarmless = refused === undefined && effect.lost.length === 0 && blocks.length === 0;
      return isHarmless ? exitCodes.good.code : exitCodes.failed.code;
    }),
});

function patchOf(given: string): JsonObject {
  const body = parse(given);
  if (!isObject(body)) throw new Fault("InvalidArgument", "--patch is no JSON object");
  return body;
}

const isOf = ({ kind, metadata }: KubeObject, ref: Ref): boolean =>
  kind === ref.kind && metadata.name === ref.name && metadata.namespace === ref.namespace;

const askedText = ({ kind, ref }: Change): string =>
  `${{ delete: "delete", create: "create", patch: "change" }[kind]} ${textOf(ref)}`;

async function changeOf(
  { options, positionals, signal }: Input,
  api: Connection["api"],
  namespace: string,
): Promise<Change> {
  const [act, word = ""] = positionals;
  if (act === "delete-namespace") return { kind: "delete", ref: { kind: "Namespace", name: word } };
  if (act === "delete") return { kind: "delete", ref: objectArgument([word], namespace, kinds) };
  if (act === "change")
    return { kind: "patch", ref: objectArgument([word], namespace, kinds), body: patchOf(options.patch) };
  const { storageClass, size } = options;
  const from = { namespace, name: word.replace(/^(vs|volumesnapshots?)\//, "") };
  const wishes = { from, to: placeOf(options.to, namespace), storageClass, size, accessModes: [] };
  const decision = planRestore(await readRestore(api, wishes, signal), wishes);
  if ("refused" in decision) throw new Fault("FailedPrecondition", decision.refused);
  return { kind: "create", ref: { kind: "PersistentVolumeClaim", ...wishes.to }, object: decision.claim };
}

/** One list of each kind. Of pods only what keeps claims in use is kept. */
async function readObjects(api: Connection["api"], signal: AbortSignal) {
  const reader = liveReader(api);
  const answers = await Promise.all(
    copiedKinds.map(async (kind) => ({ kind, answer: await reader.read({ kind }, signal) })),
  );
  return {
    objects: answers.flatMap(({ kind, answer }) =>
      answer.kind !== "objects" ? [] : kind === "Pod" ? answer.objects.flatMap(podOf) : answer.objects,
    ),
    notRead: answers.flatMap(({ kind, answer }) => (answer.kind === "unreadable" ? [`may not list ${kind}`] : [])),
  };
}

function podOf(pod: KubeObject): readonly KubeObject[] {
  const { spec, status } = pod as unknown as {
    readonly spec?: { readonly volumes?: readonly JsonObject[] };
    readonly status?: JsonObject;
  };
  const volumes = (spec?.volumes ?? []).filter((volume) => volume.persistentVolumeClaim !== undefined);
  if (volumes.length === 0) return [];
  return [{ ...pod, spec: { volumes, containers: [] }, status: { phase: status?.phase } } as KubeObject];
}
