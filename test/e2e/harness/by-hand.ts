/** `npm run control-plane` as a person runs it, in a process of its own that may be stopped or killed. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Identity } from "../../../src/runtime/process-identity.ts";
import type { State } from "./leftovers.ts";
import { until } from "./until.ts";

export interface ByHand {
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  readonly kubeconfig: string;
  readonly folder: string;
  /** The kubelet's folder, with --node. */
  readonly kubelet: string;
  readonly processes: readonly Identity[];
}

const script = resolve(import.meta.dirname, "../control-plane.ts");

export async function startByHand(...args: readonly string[]): Promise<ByHand> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((done) => child.once("exit", done));
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await until({ what: "the control plane says how to use it", msMax: 120_000 }, () => {
    if (child.exitCode !== null) throw new Error(`npm run control-plane ended with ${child.exitCode}: ${text}`);
    return text.includes("Ctrl-C") ? true : undefined;
  });
  const kubeconfig = found(/KUBECONFIG=(\S+)\n/, text);
  const folder = dirname(kubeconfig);
  const { processes } = JSON.parse(readFileSync(join(folder, "state.json"), "utf8")) as State;
  return {
    child,
    ended,
    kubeconfig,
    folder,
    kubelet: args.includes("--node") ? found(/--kubelet-dir=(\S+)\. /, text) : "",
    processes,
  };
}

/** What is not printed as expected must not be taken for nothing. */
const found = (pattern: RegExp, text: string): string => pattern.exec(text)?.[1] ?? assert.fail(`${pattern}: ${text}`);
