/** `snapkeep timeline`: what has happened to an object, how long each step took, and whose time it was. It only reads. */
import { Fault } from "../../base/fault.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { oneOf, text } from "../../runtime/flag-kinds.ts";
import { helpWidth } from "../../runtime/help.ts";
import { connected } from "../connected.ts";
import { decideBy } from "../explain/cluster-copy.ts";
import { textOf } from "../explain/finding.ts";
import { liveReader } from "../explain/live-reader.ts";
import { objectArgument } from "../explain/object-argument.ts";
import { timelineJson, timelineText } from "../timeline/output.ts";
import { timelineSvg } from "../timeline/svg.ts";
import { timelineOf } from "../timeline/timeline.ts";

const kinds = ["VolumeSnapshot", "VolumeSnapshotContent", "PersistentVolumeClaim"] as const;

export const command = defineCommand({
  takes: "KIND/NAME",
  completes: { vs: "VolumeSnapshot", vsc: "VolumeSnapshotContent", pvc: "PersistentVolumeClaim" },
  flags: {
    ...kubeFlags,
    namespace: text({ short: "n", default: "", help: "Namespace of the object. Empty: that of the context." }),
    output: oneOf(["text", "json", "svg"], { short: "o", default: "text", help: "Output format; svg is one picture." }),
  },
  examples: [
    { does: "How long a snapshot took, and whose time it was", line: "snapkeep timeline vs/monday --namespace=team" },
    { does: "The life of a restored claim", line: "snapkeep timeline pvc/restored --namespace=team" },
    { does: "A picture for a report", line: "snapkeep timeline vs/monday -o svg > monday.svg" },
  ],
  check: ({ namespace }, words) => {
    if (words.length === 0 || words.length > 2) return "give one object; for example vs/monday";
    return complaintOf(() => objectArgument(words, namespace, kinds));
  },
  run: (input) =>
    // Who has written which field, and when, is half of the answer.
    connected("snapkeep-timeline", input, { managedFields: "keep" }, async (api, target) => {
      const { options, positionals, world, signal, out, columns } = input;
      const ref = objectArgument(positionals, options.namespace || target.namespace, kinds);
      const nowMs = world.now();
      const found = await decideBy(liveReader(api), (copy) => timelineOf(copy, ref, nowMs), signal);
      if (found === undefined)
        throw new Fault(
          "NotFound",
          `there is no ${textOf(ref)}, or you may not read it; give --namespace of the object`,
        );
      if (options.output === "svg") out.write(timelineSvg(found));
      else if (options.output === "json") out.write(`${JSON.stringify(timelineJson(found), undefined, 2)}\n`);
      else out.write(timelineText(found, helpWidth(columns)));
      return exitCodes.good.code;
    }),
});
