/** Every flag that the replaced programs know is known here, by the same default, as those programs themselves tell. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { commands } from "../../src/cli/commands.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import { tools } from "./harness/tools.ts";

const programs = await tools(
  "snapshot-controller",
  "csi-snapshotter",
  "csi-provisioner",
  "snapshot-validation-webhook",
);

/** Where our command has another name than the program. */
const commandNames: Readonly<Record<string, string>> = { "snapshot-validation-webhook": "webhook" };

/** Where ours is meant to differ: a limit of five requests a second, and ten workers, only make people wait. */
const otherDefaults: Readonly<Record<keyof typeof programs, readonly string[]>> = {
  "snapshot-controller": ["kube-api-qps", "kube-api-burst", "worker-threads"],
  "csi-snapshotter": ["kube-api-qps", "kube-api-burst"],
  "csi-provisioner": ["kube-api-qps", "kube-api-burst"],
  // No line, in their words.
  "snapshot-validation-webhook": ["log_backtrace_at"],
};

/** Each program prints more flags than this: fewer were found by a mistake in reading its help. */
const flagsMin: Readonly<Record<keyof typeof programs, number>> = {
  "snapshot-controller": 25,
  "csi-snapshotter": 25,
  "csi-provisioner": 40,
  "snapshot-validation-webhook": 15,
};

interface TheirFlag {
  readonly name: string;
  /** Empty for a switch. */
  readonly type: string;
  /** As they print it; undefined where they print none, which is false, 0, or the empty text. */
  readonly default: string | undefined;
}

async function flagsOf(program: string): Promise<readonly TheirFlag[]> {
  const { stdout, stderr } = await promisify(execFile)(program, ["--help"]).catch(
    (reason: { stdout: string; stderr: string }) => reason,
  );
  const text = stderr.includes("\n  -") ? stderr : stdout;
  if (/^ +--/m.test(text)) return flagsOfPflag(text);
  return text
    .split(/^ {2}-/m)
    .slice(1)
    .map((flag) => flagFrom(/^(\S+) ?(\S*)/.exec(flag), flag));
}

/** Some print their flags by another library, on one line each: "  -v, --v Level   help (default 1)". */
const flagsOfPflag = (text: string): readonly TheirFlag[] =>
  text
    .split("\n")
    .filter((line) => /^ +(-\w, )?--/.test(line))
    .map((line) => flagFrom(/--(\S+) (\S*)/.exec(line), line));

const flagFrom = (named: RegExpExecArray | null, text: string): TheirFlag => ({
  name: named?.[1] ?? "",
  type: named?.[2] ?? "",
  default: /\(default "?(.*?)"?\)\s*$/.exec(text)?.[1],
});

/** A value that fits the type and is not the default. */
const samples: Readonly<Record<string, string>> = {
  "": "true",
  duration: "7s",
  int: "7",
  uint: "7",
  float: "7.5",
  float32: "7.5",
  string: "x",
  ":8080": ":8081",
  "/metrics": "/else",
};
const oddSamples: Readonly<Record<string, string>> = {
  "feature-gates": "CSIVolumeGroupSnapshot=true,ReleaseLeaderElectionOnExit=true",
  "leader-election-labels": "team:storage",
  "log-json-info-buffer-size": "1Ki",
  "log-text-info-buffer-size": "1Ki",
  "logging-format": "json",
  "prevent-volume-mode-conversion": "false",
  "immediate-topology": "false",
  "node-deployment-immediate-binding": "false",
  "enable-pprof": "true",
  logtostderr: "false",
  stderrthreshold: "1",
  log_backtrace_at: "a.go:1",
  v: "5",
  vmodule: "a=1",
};

for (const [name, program] of Object.entries(programs))
  test(`${name} accepts every flag of the replaced program, with the same default`, async () => {
    const { flags } =
      (await commands.find((row) => row.name === (commandNames[name] ?? name))?.load())?.command ?? assert.fail(name);
    const theirs = (await flagsOf(program)).filter((flag) => !["version", "help"].includes(flag.name));
    const least = flagsMin[name as keyof typeof programs];
    assert.ok(theirs.length > least, `only ${theirs.length} flags were found in their help`);
    const untouched = parseFlags(flags, [], {}).options;
    for (const { name: flag, type, default: wanted } of theirs) {
      const gates = flag === "feature-gates" && name === "csi-provisioner" ? "VolumeAttributesClass=true" : undefined;
      const sample = gates ?? oddSamples[flag] ?? samples[type];
      assert.ok(sample !== undefined, `--${flag} is of a new type, ${type}`);
      for (const dashes of ["-", "--"])
        assert.notDeepEqual(parseFlags(flags, [`${dashes}${flag}=${sample}`], {}).options, untouched, flag);
      if (wanted === undefined || otherDefaults[name as keyof typeof programs].includes(flag)) continue;
      const same = parseFlags(flags, [`--${flag}=${wanted}`], {}).options;
      assert.deepEqual(same, untouched, `--${flag} is ${wanted} by default with them`);
    }
  });
