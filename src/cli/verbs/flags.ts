/** Flags that take, restore and delete have in common, with kubectl's names and meanings. */
import { kubeFlags } from "../../runtime/common-flags.ts";
import type { Flag, Options } from "../../runtime/flag-kinds.ts";
import { bool, duration, oneOf, text } from "../../runtime/flag-kinds.ts";

export const verbFlags = {
  ...kubeFlags,
  namespace: text({ short: "n", default: "", help: "Namespace of the objects. Empty: that of the context." }),
  timeout: duration({ default: 300_000, min: 1_000, help: "How long to wait with --wait." }),
  dryRun: oneOf(["none", "client", "server"], {
    default: "none",
    help: "client: print what would be sent, and send nothing. server: send it, and have the server store nothing.",
  }),
} as const;
export type VerbOptions = Options<typeof verbFlags>;

export const outputFlag = oneOf(["text", "name", "json", "yaml"], {
  short: "o",
  default: "text",
  help: "Output format; name prints what kubectl takes as an argument.",
});
export type Output = typeof outputFlag extends Flag<infer T> ? T : never;

export const waitFlag = (what: string, isDefault = false): Flag<boolean> =>
  bool({ default: isDefault, help: `Wait until ${what}. Meanwhile, and at the end, the reason of the wait is said.` });

export const missing = (words: readonly string[], what: string, example: string): string | undefined =>
  words.length === 1 && words[0] !== "" ? undefined : `give one ${what}; for example ${example}`;
