/** `snapkeep get`: snapshots with their phase and what blocks them. It only reads. */
import { stringify } from "yaml";
import { parseLabelSelector } from "../../apiserver/index.ts";
import { Fault } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { bool, oneOf, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { liveReader } from "../explain/live-reader.ts";
import { createListedCopy } from "../status/listed-copy.ts";
import { kubectlName } from "../verbs/names.ts";
import { type RowSelection, rowsJson, type SnapshotRow, snapshotRows, tableOf } from "../verbs/snapshot-rows.ts";

const flags = {
  ...kubeFlags,
  namespace: text({ short: "n", default: "", help: "Namespace of the snapshots. Empty: that of the context." }),
  allNamespaces: bool({ short: "A", default: false, help: "Snapshots of all namespaces." }),
  selector: text({ short: "l", default: "", example: "app=db", help: "Only snapshots with these labels." }),
  watch: bool({ short: "w", default: false, help: "Print each row again when it changes, until Ctrl-C." }),
  output: oneOf(["text", "name", "json", "yaml"], { short: "o", default: "text", help: "Output format." }),
} as const;
type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  takes: "[SNAPSHOT…]",
  completes: { vs: "VolumeSnapshot" },
  flags,
  examples: [
    { does: "All snapshots of the namespace", line: "snapkeep get" },
    { does: "Two of them, as they go on", line: "snapkeep get monday tuesday -w" },
    { does: "Those of all namespaces, for a program", line: "snapkeep get -A -o json" },
  ],
  check: ({ namespace, allNamespaces, selector, watch, output }, names) => {
    if (names.length > 0 && allNamespaces)
      return "names are of one namespace: leave out --all-namespaces, or the names";
    if (namespace !== "" && allNamespaces) return "--namespace and --all-namespaces exclude each other; give one";
    if (watch && output !== "text") return "--watch prints rows; leave out --output";
    const wrong = complaintOf(() => parseLabelSelector(selector));
    return wrong === undefined ? undefined : `--selector: ${wrong}`;
  },
  run: (input) =>
    connected("snapkeep-get", input, {}, async (api, target) => {
      const { options, world, signal, positionals } = input;
      const labels = parseLabelSelector(options.selector);
      const selection: RowSelection = {
        names: positionals.map((word) => word.replace(/^(vs|volumesnapshots?)\//, "")),
        namespace: options.allNamespaces ? undefined : options.namespace || target.namespace,
        isSelected: (found) => labels.matches(found),
      };
      const read = () => readRows(liveReader(api), selection, signal, () => world.now());
      const rows = await read();
      print(input, rows);
      if (options.watch) await watchRows(input, rows, read);
      const absent = selection.names.filter((name) => !rows.some((row) => row.name === name));
      if (absent.length === 0) return exitCodes.good.code;
      throw new Fault(
        "NotFound",
        `there is no VolumeSnapshot ${absent.join(", ")} in namespace ${selection.namespace}`,
      );
    }),
});

const ofUsers = new Set(["VolumeSnapshot", "PersistentVolumeClaim"] as const);
/** Each round reads what the one before has asked for. */
const roundsMax = 10;

async function readRows(
  reader: ReturnType<typeof liveReader>,
  selection: RowSelection,
  signal: AbortSignal,
  now: () => number,
): Promise<readonly SnapshotRow[]> {
  const copy = createListedCopy(reader, { namespace: selection.namespace, kinds: ofUsers }, signal);
  for (let round = 1; ; round++) {
    const rows = snapshotRows(copy, selection, now());
    if (!(await copy.readMissing()) || round === roundsMax) return rejectUnread(copy, rows);
  }
}

/** Without a right to list snapshots there is nothing to show, and that is no empty list. */
function rejectUnread(copy: ReturnType<typeof createListedCopy>, rows: readonly SnapshotRow[]): readonly SnapshotRow[] {
  const answer = copy.answerOf("VolumeSnapshot");
  if (answer?.kind === "unreadable") throw new Fault("PermissionDenied", answer.why);
  if (answer?.kind === "unserved")
    throw new Fault(
      "NotFound",
      "the API server does not serve VolumeSnapshot: snapkeep install --apply installs its definition",
    );
  return rows;
}

function print({ options, out, world }: Input, rows: readonly SnapshotRow[]): void {
  const { output, allNamespaces } = options;
  const json = JSON.stringify(rowsJson(rows), undefined, 2);
  if (output === "json") return void out.write(`${json}\n`);
  if (output === "yaml") return void out.write(stringify(JSON.parse(json)));
  if (output === "name")
    return void out.write(rows.map(({ name }) => printableLine(kubectlName("VolumeSnapshot", name))).join(""));
  if (rows.length === 0) return void out.write("no snapshots\n");
  out.write(tableOf(rows, allNamespaces, world.now()).map(printableLine).join(""));
}

/** A list takes the longer the more there is. */
const pauseMs = { min: 2_000, timesRead: 5 } as const;

async function watchRows(
  { options, world, signal, out }: Input,
  first: readonly SnapshotRow[],
  read: () => Promise<readonly SnapshotRow[]>,
): Promise<void> {
  let before = new Map(first.map((row) => [keyOfRow(row), changing(row)]));
  let readMs = 0;
  for (;;) {
    await world.sleep(Math.max(pauseMs.min, readMs * pauseMs.timesRead), signal);
    const startedMs = world.elapsed();
    const rows = await read();
    readMs = world.elapsed() - startedMs;
    const changed = rows.filter((row) => before.get(keyOfRow(row)) !== changing(row));
    const [, ...lines] = tableOf(changed, options.allNamespaces, world.now());
    out.write(lines.map(printableLine).join(""));
    before = new Map(rows.map((row) => [keyOfRow(row), changing(row)]));
  }
}

const keyOfRow = ({ namespace, name }: SnapshotRow): string => `${namespace}/${name}`;
const changing = (row: SnapshotRow): string => JSON.stringify(row);
