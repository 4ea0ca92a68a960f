/** `snapkeep lint`: the webhook's verdict without a cluster. */
import { printableLine } from "../../base/printable.ts";
import { defineCommand } from "../../runtime/command.ts";
import { oneOf, text } from "../../runtime/flag-kinds.ts";
import { gateFlags } from "../findings/gates.ts";
import { filesAt, oldFiles } from "../lint/files.ts";
import { findingsIn } from "../lint/findings.ts";
import { readManifests } from "../lint/manifests.ts";
import { lintFormats, printed } from "../lint/output.ts";

const flags = {
  old: text({
    default: "",
    example: "main",
    help: "The previous manifests: a folder, or a git revision. If set, lint also checks the changes, and reports existing mistakes as warnings.",
  }),
  output: oneOf(lintFormats, { short: "o", default: "text", help: "Output format of the findings." }),
  ...gateFlags,
} as const;

export const command = defineCommand({
  takes: "FILE|DIR|-…",
  flags,
  examples: [
    { does: "Check all manifests in a folder, except the templates of Helm charts", line: "snapkeep lint deploy/" },
    { does: "Check the manifests that a chart renders", line: "helm template . | snapkeep lint -" },
    {
      does: "Check a change in CI, with GitHub annotations",
      line: "snapkeep lint --old=origin/main -o github deploy/",
    },
  ],
  check: (_options, positionals) =>
    positionals.length === 0 ? "nothing to lint; name files or folders, or - for standard input" : undefined,
  async run({ options, positionals, out, error, version, readInput = async () => "" }) {
    const files = await filesAt(positionals, readInput, (chart) =>
      error.write(
        printableLine(
          `the templates of the Helm chart ${chart} are left out: render them with "helm template ${chart} | snapkeep lint -"`,
        ),
      ),
    );
    const read = readManifests(files);
    const { manifests: old } = readManifests(await oldFiles(options.old, positionals));
    const findings = findingsIn(read, old, options);
    out.write(printed[options.output]({ findings, objects: read.manifests.length, files: files.length, version }));
    return findings.some(({ severity }) => severity === "error") ? 1 : 0;
  },
});
