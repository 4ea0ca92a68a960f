/** `snapkeep status`: the whole installation on one screen. It only reads. */

import { parseLabelSelector } from "../../apiserver/index.ts";
import { Fault } from "../../base/fault.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { bool, duration, oneOf, text } from "../../runtime/flag-kinds.ts";
import { helpWidth } from "../../runtime/help.ts";
import { connected } from "../connected.ts";
import { createProgress } from "../progress.ts";
import { printedAs, screenText } from "../status/output.ts";
import { readStatus } from "../status/status.ts";
import type { StatusView } from "../status/view.ts";

const flags = {
  ...kubeFlags,
  namespace: text({
    short: "n",
    default: "",
    help: "Only objects of this namespace. Components, drivers and webhooks are shown all the same.",
  }),
  allNamespaces: bool({ short: "A", default: false, help: "Objects of all namespaces, as without --namespace." }),
  selector: text({ short: "l", default: "", example: "app=db", help: "Only objects with these labels." }),
  output: oneOf(["text", "wide", "json", "yaml"], {
    short: "o",
    default: "text",
    help: "Output format; wide cuts nothing, and names more of the objects that wait.",
  }),
  wait: bool({ default: false, help: "Wait until nothing waits and nothing needs a person." }),
  timeout: duration({ default: 300_000, min: 1_000, help: "How long --wait waits." }),
} as const;
type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  flags,
  examples: [
    { does: "Is the installation healthy?", line: "snapkeep status" },
    { does: "Only what waits in one namespace", line: "snapkeep status --namespace=team" },
    { does: "Wait after an upgrade, for a script", line: "snapkeep status --wait --timeout=2m" },
    { does: "For a program", line: "snapkeep status -o json" },
  ],
  check: ({ namespace, allNamespaces, selector }) => {
    if (namespace !== "" && allNamespaces) return "--namespace and --all-namespaces exclude each other; give one";
    const wrong = complaintOf(() => parseLabelSelector(selector));
    return wrong === undefined ? undefined : `--selector: ${wrong}`;
  },
  run: (input) =>
    connected("snapkeep-status", input, {}, async (api, { server }) => {
      const { options, world, version, signal, out } = input;
      const labels = parseLabelSelector(options.selector);
      const selection = {
        namespace: options.namespace || undefined,
        isSelected: (found: Readonly<Record<string, string>> | undefined) => labels.matches(found),
      };
      const read = () => readStatus({ api, server: server.host, version, selection, signal, now: () => world.now() });
      const [view, isOver] = options.wait ? await untilGood(input, read) : [await read(), true];
      out.write(print(input, view));
      if (!isOver) return exitCodes.timeout.code;
      return view.needsPerson > 0 ? exitCodes.failed.code : exitCodes.good.code;
    }),
});

function print({ options: { output }, columns }: Input, view: StatusView): string {
  if (output === "json" || output === "yaml") return printedAs(output, view);
  const isWide = output === "wide";
  return screenText(view, { width: isWide ? undefined : helpWidth(columns), isWide });
}

/** A large cluster is not read all the time. */
const pauseMs = { start: 500, max: 10_000 };

/** The last view, and whether it is good. */
async function untilGood(
  { options, world, signal, error }: Input,
  read: () => Promise<StatusView>,
): Promise<readonly [StatusView, boolean]> {
  const until = world.elapsed() + options.timeout;
  const progress = createProgress(world, error);
  for (let pause = pauseMs.start; ; pause = Math.min(pauseMs.max, pause * 2)) {
    const view = await read();
    if (view.verdict === "good") return [view, true];
    const leftMs = until - world.elapsed();
    if (leftMs <= 0) return [view, false];
    if (signal.aborted) throw new Fault("Cancelled", "stopped");
    progress(() => `waiting: ${view.needsPerson} need a person, ${view.waiting.length} reasons to wait`);
    await world.sleep(Math.min(leftMs, pause), signal);
  }
}
