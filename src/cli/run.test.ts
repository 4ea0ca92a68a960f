import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../base/fault.ts";
import { realWorld } from "../base/world.ts";
import type { CommandContext, CommandRow } from "../runtime/command.ts";
import { defineCommand } from "../runtime/command.ts";
import { bool, integer } from "../runtime/flag-kinds.ts";
import { runCommandLine } from "./run.ts";

const greet = defineCommand({
  flags: {
    times: integer({ default: 1, min: 1, help: "How often." }),
    loud: bool({ default: false, help: "Whether in capitals." }),
  },
  examples: [{ does: "Greet twice", line: "snapkeep greet --times=2" }],
  takes: "NAME…",
  check: ({ times, loud }) => (loud && times > 2 ? "--loud with --times over 2 is too much; lower --times" : undefined),
  run: async ({ options, positionals, out }) => {
    const word = options.loud ? "HELLO" : "hello";
    for (let count = 0; count < options.times; count++) out.write(`${word} ${positionals.join(" and ")}\n`);
    return 0;
  },
});
const failing = defineCommand({
  flags: { leaderElection: bool({ default: false, help: "" }) },
  examples: [],
  run: async () => {
    throw new Fault("Unavailable", "the server cannot be reached\nstart it");
  },
});

const loads: string[] = [];
const row = (name: string, kind: CommandRow["kind"], command: typeof greet): CommandRow => ({
  name,
  kind,
  summary: `The ${name} command.`,
  load: async () => {
    loads.push(name);
    return { command };
  },
});
const commands = [row("greet", "tool", greet), row("fail", "tool", failing), row("serve", "component", failing)];

const left: string[] = [];

async function ran(...argv: string[]): Promise<{ code: number; out: string; error: string }> {
  const written = { out: "", error: "" };
  const context: CommandContext = {
    environment: {},
    signal: new AbortController().signal,
    world: realWorld,
    out: { write: (text) => (written.out += text) },
    error: { write: (text) => (written.error += text) },
    version: "1.2.3",
    writeTerminationMessage: (line) => void left.push(line),
  };
  return { code: await runCommandLine(commands, argv, context), ...written };
}

test("a command gets its flags and arguments", async () =>
  assert.deepEqual(await ran("greet", "Ada", "--times", "2", "Bo"), {
    code: 0,
    out: "hello Ada and Bo\nhello Ada and Bo\n",
    error: "",
  }));

test("only the command that runs is loaded", async () => {
  loads.length = 0;
  await ran("greet");
  assert.deepEqual(loads, ["greet"]);
});

const failures: readonly { argv: string; code: number; error: string }[] = [
  {
    argv: "greet --times=no",
    code: 2,
    error: 'snapkeep greet: --times: "no" is not valid: expected a whole number of at least 1; for example --times=1\n',
  },
  {
    argv: "serve --leader=no",
    code: 2,
    error: "snapkeep serve: unknown flag --leader; run with --help to see all flags\n",
  },
  {
    argv: "greet --loud --times=3",
    code: 2,
    error: "snapkeep greet: --loud with --times over 2 is too much; lower --times\n",
  },
  { argv: "fail", code: 1, error: "snapkeep fail: the server cannot be reached; start it\n" },
  { argv: "serve", code: 1, error: "snapkeep serve: the server cannot be reached; start it\n" },
  {
    argv: "serve --leader-election false",
    code: 2,
    error:
      'snapkeep serve: unexpected argument "false"; a switch takes its value with "=", like --leader-election=false\n',
  },
  {
    argv: "serve now",
    code: 2,
    error: 'snapkeep serve: unexpected argument "now"; flags are written like --name=value\n',
  },
  { argv: "gret", code: 2, error: 'snapkeep: unknown command "gret"; did you mean "greet"?\n' },
  { argv: "help gret", code: 2, error: 'snapkeep: unknown command "gret"; did you mean "greet"?\n' },
  {
    argv: "--times=2 greet",
    code: 2,
    error: 'snapkeep: flag --times=2 comes before a command; write "snapkeep <command> --times=2"\n',
  },
  {
    argv: "unheard-of",
    code: 2,
    error: 'snapkeep: unknown command "unheard-of"; run "snapkeep --help" to see all commands\n',
  },
];
for (const { argv, code, error } of failures)
  test(`"${argv}" exits with ${code} and one line: ${error.trim()}`, async () =>
    assert.deepEqual(await ran(...argv.split(" ")), { code, out: "", error }));

test("help of a command shows examples, flags with defaults, and usage", async () => {
  const expected = [
    "The greet command.",
    "",
    "Examples:",
    "  # Greet twice",
    "  snapkeep greet --times=2",
    "",
    "Flags:",
    "  --times int   How often. (default 1)",
    "  --loud        Whether in capitals.",
    "",
    "Usage:",
    "  snapkeep greet [flags] NAME…",
    "",
  ].join("\n");
  for (const argv of [
    ["greet", "--help"],
    ["greet", "-h"],
    ["help", "greet"],
  ])
    assert.deepEqual(await ran(...argv), { code: 0, out: expected, error: "" });
});

test("help of the program lists components and tools", async () => {
  const { code, out } = await ran("--help");
  assert.equal(code, 0);
  assert.match(out, /Components:\n {2}serve {3}The serve command\.\n\nTools:\n {2}greet {3}The greet command\./);
});

test("the version is printed for the program and for a command", async () => {
  assert.equal((await ran("--version")).out, "snapkeep 1.2.3\n");
  assert.equal((await ran("serve", "--version")).out, "snapkeep serve 1.2.3\n");
});

test("a component writes its termination message, a tool does not", async () => {
  left.length = 0;
  await ran("fail");
  assert.deepEqual(left, []);
  await ran("serve");
  assert.deepEqual(left, ["the server cannot be reached; start it"]);
});
