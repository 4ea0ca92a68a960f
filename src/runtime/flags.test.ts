import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../base/fault.ts";
import { print } from "../base/json.ts";
import { parseQuantity } from "../base/quantity.ts";
import { bool, decimal, duration, featureGates, integer, list, mapping, oneOf, quantity, text } from "./flag-kinds.ts";
import { parseFlags } from "./flags.ts";

const table = {
  kubeconfig: text({ default: "", example: "/home/me/.kube/config", environment: "KUBECONFIG", help: "A file." }),
  prefix: text({ default: "snapshot", required: true, help: "A prefix." }),
  leaderElection: bool({ default: false, help: "A switch." }),
  preventVolumeModeConversion: bool({ default: true, help: "A switch that is on." }),
  workerThreads: integer({ default: 10, min: 1, max: 100, help: "A count." }),
  uuidLength: integer({ default: -1, help: "A length." }),
  kubeApiQps: decimal({ default: 0, min: 0, help: "A rate." }),
  timeout: duration({ default: 60_000, min: 1, help: "A wait." }),
  verbosity: integer({ name: "v", default: 0, help: "Detail." }),
  loggingFormat: oneOf(["text", "json"], { default: "text", help: "A format." }),
  size: quantity({ default: parseQuantity("1Mi"), help: "A size." }),
  topics: list({ default: [], help: "Words." }),
  labels: mapping({ default: {}, example: "team:storage", help: "Pairs." }),
  logDir: text({ default: "", hidden: true, help: "Ignored." }),
  httpEndpoint: text({ default: "", deprecated: { "metrics-address": "use --http-endpoint" }, help: "An address." }),
  featureGates: featureGates({ Groups: false, Release: true }, { ignored: ["WatchListClient"] }),
};
const optionsOf = (...argv: string[]) => parseFlags(table, argv).options;

const accepted: readonly { argv: readonly string[]; gives: Partial<ReturnType<typeof optionsOf>> }[] = [
  {
    argv: [],
    gives: {
      workerThreads: 10,
      leaderElection: false,
      timeout: 60_000,
      featureGates: { Groups: false, Release: true },
    },
  },
  { argv: ["--worker-threads=3"], gives: { workerThreads: 3 } },
  { argv: ["--worker-threads", "3"], gives: { workerThreads: 3 } },
  { argv: ["-worker-threads", "3"], gives: { workerThreads: 3 } },
  { argv: ["--worker-threads=3", "--worker-threads=4"], gives: { workerThreads: 4 } },
  { argv: ["--worker_threads=3"], gives: { workerThreads: 3 } },
  { argv: ["--uuid-length", "-1"], gives: { uuidLength: -1 } },
  { argv: ["--leader-election"], gives: { leaderElection: true } },
  { argv: ["--leader-election=false"], gives: { leaderElection: false } },
  { argv: ["--prevent-volume-mode-conversion=F"], gives: { preventVolumeModeConversion: false } },
  { argv: ["-v=5"], gives: { verbosity: 5 } },
  { argv: ["--v", "4"], gives: { verbosity: 4 } },
  { argv: ["--timeout=1m30s"], gives: { timeout: 90_000 } },
  { argv: ["--timeout", "1.5h"], gives: { timeout: 5_400_000 } },
  { argv: ["--timeout=250ms"], gives: { timeout: 250 } },
  { argv: ["--kube-api-qps=2.5e1"], gives: { kubeApiQps: 25 } },
  { argv: ["--size=1.5Gi"], gives: { size: parseQuantity("1.5Gi") } },
  { argv: ["--kubeconfig="], gives: { kubeconfig: "" } },
  { argv: ["--kubeconfig=a=b"], gives: { kubeconfig: "a=b" } },
  { argv: ["--logging-format=json"], gives: { loggingFormat: "json" } },
  { argv: ["--topics=a, b", "--topics", "c"], gives: { topics: ["a", "b", "c"] } },
  { argv: ["--labels=a:b,c:d:e"], gives: { labels: { a: "b", c: "d:e" } } },
  { argv: ["--log_dir=/tmp"], gives: { logDir: "/tmp" } },
  {
    argv: ["--feature-gates=Groups=true,WatchListClient=false"],
    gives: { featureGates: { Groups: true, Release: true, WatchListClient: false } as never },
  },
  {
    argv: ["--feature-gates=Groups=true", "--feature-gates=Release=false"],
    gives: { featureGates: { Groups: true, Release: false } },
  },
  { argv: ["--metrics-address=:80"], gives: { httpEndpoint: ":80" } },
];
for (const { argv, gives } of accepted)
  test(`"${argv.join(" ")}" gives ${print(gives)}`, () => {
    const options: Record<string, unknown> = optionsOf(...argv);
    for (const [key, value] of Object.entries(gives)) assert.deepEqual(options[key], value);
  });

const refused: readonly { argv: readonly string[]; gives: string }[] = [
  {
    argv: ["--size=1.5Gb"],
    gives: '--size: "1.5Gb" is not valid: expected a quantity, written like 10Mi, 1.5Gi or 500; for example --size=1Mi',
  },
  {
    argv: ["--worker-threads=ten"],
    gives:
      '--worker-threads: "ten" is not valid: expected a whole number from 1 to 100; for example --worker-threads=10',
  },
  {
    argv: ["--worker-threads=0"],
    gives: '--worker-threads: "0" is not valid: expected a whole number from 1 to 100; for example --worker-threads=10',
  },
  {
    argv: ["--worker-threads=1.5"],
    gives:
      '--worker-threads: "1.5" is not valid: expected a whole number from 1 to 100; for example --worker-threads=10',
  },
  {
    argv: ["--timeout=60"],
    gives:
      '--timeout: "60" is not valid: expected a duration of at least 1ms, written like 1m30s, 15s or 500ms; for example --timeout=1m',
  },
  {
    argv: ["--timeout=-1s"],
    gives:
      '--timeout: "-1s" is not valid: expected a duration of at least 1ms, written like 1m30s, 15s or 500ms; for example --timeout=1m',
  },
  {
    argv: ["--kube-api-qps=fast"],
    gives: '--kube-api-qps: "fast" is not valid: expected a number of at least 0; for example --kube-api-qps=0',
  },
  {
    argv: ["--leader-election=maybe"],
    gives: '--leader-election: "maybe" is not valid: expected true or false; for example --leader-election=false',
  },
  {
    argv: ["--logging-format=xml"],
    gives: '--logging-format: "xml" is not valid: expected text or json; for example --logging-format=text',
  },
  {
    argv: ["--prefix="],
    gives: '--prefix: "" is not valid: expected a text that is not empty; for example --prefix=snapshot',
  },
  {
    argv: ["--labels=a"],
    gives:
      '--labels: "a" is not valid: expected pairs written like key:value,other:value; for example --labels=team:storage',
  },
  {
    argv: ["--feature-gates=Grups=true"],
    gives:
      '--feature-gates: "Grups=true" is not valid: expected gates written like Name=true,Other=false, each one of Groups, Release (or one of 1 that are accepted and ignored); for example --feature-gates=Groups=false,Release=true',
  },
  {
    argv: ["--feature-gates=Groups=on"],
    gives:
      '--feature-gates: "Groups=on" is not valid: expected gates written like Name=true,Other=false, each one of Groups, Release (or one of 1 that are accepted and ignored); for example --feature-gates=Groups=false,Release=true',
  },
  {
    argv: ["--timeout"],
    gives:
      "--timeout needs a value: expected a duration of at least 1ms, written like 1m30s, 15s or 500ms; for example --timeout=1m",
  },
  {
    argv: ["--kubeconfig", "--leader-election"],
    gives: "--kubeconfig needs a value: expected a text; for example --kubeconfig=/home/me/.kube/config",
  },
  { argv: ["--worker-thread=3"], gives: "unknown flag --worker-thread; did you mean --worker-threads?" },
  { argv: ["--zzz"], gives: "unknown flag --zzz; run with --help to see all flags" },
  { argv: ["--=3"], gives: "--=3 is not a flag; flags are written like --name=value" },
  {
    argv: ["--http-endpoint=:1", "--metrics-address=:2"],
    gives: "--http-endpoint and --metrics-address are one flag; give only --http-endpoint",
  },
];
for (const { argv, gives } of refused)
  test(`"${argv.join(" ")}" is rejected with one line: ${gives}`, () =>
    assert.throws(
      () => parseFlags(table, argv),
      (reason) => reason instanceof Fault && reason.code === "InvalidArgument" && reason.message === gives,
    ));

test("a deprecated flag name works and names its replacement", () =>
  assert.deepEqual(parseFlags(table, ["--metrics-address=:80"]).warnings, [
    "--metrics-address is deprecated: use --http-endpoint",
  ]));

test("environment variables supply flags that the command line does not set", () => {
  const environment = { KUBECONFIG: "/from/environment" };
  assert.equal(parseFlags(table, [], environment).options.kubeconfig, "/from/environment");
  assert.equal(parseFlags(table, ["--kubeconfig=/from/flag"], environment).options.kubeconfig, "/from/flag");
});

test("a bad value from the environment names the variable", () =>
  assert.throws(
    () => parseFlags({ size: integer({ default: 1, environment: "SIZE", help: "" }) }, [], { SIZE: "big" }),
    { message: '--size (from $SIZE): "big" is not valid: expected a whole number; for example --size=1' },
  ));

test("words that are not flags, and everything after --, are arguments", () =>
  assert.deepEqual(parseFlags(table, ["a", "-v", "1", "-", "-5", "--", "--timeout"]).positionals, [
    "a",
    "-",
    "-5",
    "--timeout",
  ]));

test("parsed options are frozen", () => assert.ok(Object.isFrozen(optionsOf())));

test("every flag parses the default that it prints", () =>
  fc.assert(
    fc.property(fc.nat(10_000_000), fc.nat(1_000_000), fc.boolean(), (ms, count, on) => {
      const rows = {
        wait: duration({ default: 0, help: "" }),
        count: integer({ default: 0, help: "" }),
        on: bool({ default: false, help: "" }),
      };
      const { options } = parseFlags(rows, [
        `--wait=${rows.wait.print(ms)}`,
        `--count=${rows.count.print(count)}`,
        `--on=${rows.on.print(on)}`,
      ]);
      assert.deepEqual({ ...options }, { wait: ms, count, on });
    }),
  ));
