/** `snapkeep gather`: what somebody who helps needs to see of a cluster, in one folder, without secret data. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Fault, isFault } from "../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../base/fs-errors.ts";
import type { PathReader } from "../../kube/api.ts";
import { defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { integer, list, oneOf, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { type Gathered, gather } from "../gather/collect.ts";
import { createProgress } from "../progress.ts";

const flags = {
  ...kubeFlags,
  out: text({
    default: "",
    example: "bundle",
    help: "Folder for the bundle. It must not exist. Empty: snapkeep-gather-TIME in the current folder.",
  }),
  namespace: list({
    short: "n",
    default: [],
    example: "openshift-cluster-csi-drivers",
    help: "Further namespaces to look into. Those in which a component runs are found.",
  }),
  logLines: integer({ default: 10_000, min: 1, help: "How many lines of each log, from its end." }),
  output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format of the summary." }),
} as const;

export const command = defineCommand({
  flags,
  examples: [
    { does: "Collect everything into a new folder", line: "snapkeep gather" },
    {
      does: "Also look into the namespace of a driver with our sidecars",
      line: "snapkeep gather --out=bundle --namespace=openshift-cluster-csi-drivers",
    },
  ],
  run: async (input) => {
    const { options, world, version, signal, out, error } = input;
    const time = new Date(world.now())
      .toISOString()
      .replace(/\.\d+Z$/, "Z")
      .replaceAll(":", "");
    const folder = resolve(options.out === "" ? `snapkeep-gather-${time}` : options.out);
    const progress = createProgress(world, error);
    const gathered = await connected("gather", input, {}, async (api) => {
      await mustAnswer(api, signal);
      await makeFolder(folder);
      return gather({
        api,
        namespaces: options.namespace,
        logLinesMax: options.logLines,
        version,
        signal,
        write: async (file, content) => {
          const path = join(folder, file);
          await mkdir(dirname(path), { recursive: true });
          await writeFile(path, content, { mode: 0o600 });
        },
        progress: (file) => progress(() => `read ${file}`),
      });
    });
    out.write(
      options.output === "json"
        ? `${JSON.stringify({ folder, ...gathered }, undefined, 2)}\n`
        : summary(folder, gathered),
    );
    return 0;
  },
});

/** Before a folder is made. What this user may not read is left out of the bundle, one by one. */
async function mustAnswer(api: PathReader, signal: AbortSignal): Promise<void> {
  await api.getPath("/version", { signal }).catch((reason: unknown) => {
    if (!isFault(reason, "PermissionDenied")) throw reason;
  });
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: false }).catch((reason: unknown) => {
    const remedy = errorCodeOf(reason) === "EEXIST" ? "name one that does not exist" : "name one that can be created";
    throw new Fault("InvalidArgument", `--out ${folder}: ${fsErrorText(reason)}; ${remedy}`);
  });
}

function summary(folder: string, { files, components, problems, notServed }: Gathered): string {
  const lines = [
    `${files} files in ${folder}`,
    `${components.length} containers of snapkeep found`,
    ...(notServed.length === 0 ? [] : [`${notServed.length} kinds are not served by this cluster; see not-served.txt`]),
    ...(problems.length === 0 ? [] : [`${problems.length} things could not be read; see problems.txt`]),
    "Of Secrets only names were read. Look through the folder before you pass it on.",
  ];
  return `${lines.join("\n")}\n`;
}
