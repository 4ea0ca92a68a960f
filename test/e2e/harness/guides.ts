/** The commands of a guide, run as they are printed. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { type Ran, run } from "./run.ts";
import { tool } from "./tools.ts";

const root = resolve(import.meta.dirname, "../../..");
/** At import, so that a build counts against no test's time. */
const kubectlProgram = await tool("kubectl");

/** What stands in its blocks of shell commands, in order. */
export const guideCommands = (name: string): readonly string[] =>
  [...readFileSync(join(root, "docs/guides", name), "utf8").matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) =>
    text.trim(),
  );

export interface GuideShell {
  (line: string): Promise<Ran>;
  /** Another program in its path, as a script of sh. */
  add(name: string, script: string): void;
  remove(): void;
}

/** A shell that finds kubectl and snapkeep, and the cluster. */
export function guideShell(kubeconfig: string): GuideShell {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-guide-"));
  const add = (name: string, script: string): void => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  symlinkSync(kubectlProgram, join(folder, "kubectl"));
  add("snapkeep", `exec ${process.execPath} ${join(root, "src/main.ts")} "$@"`);
  const shell = (line: string): Promise<Ran> =>
    run("sh", ["-c", line], {
      env: { KUBECONFIG: kubeconfig, PATH: `${folder}${delimiter}${process.env.PATH}` },
      msMax: 170_000,
    });
  return Object.assign(shell, { add, remove: () => rmSync(folder, { recursive: true, force: true }) });
}
