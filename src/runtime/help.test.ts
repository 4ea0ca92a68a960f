import assert from "node:assert/strict";
import { test } from "node:test";
import { checkComponent, componentFlags } from "./common-flags.ts";
import { bool, duration, integer, text } from "./flag-kinds.ts";
import { kebab, parseFlags } from "./flags.ts";
import { flagsHelp, helpWidth } from "./help.ts";

test("help shows flags in aligned groups, wraps long sentences and leaves out hidden flags", () => {
  const help = flagsHelp(
    {
      csiAddress: text({ default: "/run/csi/socket", help: "Unix socket of the CSI driver." }),
      verbosity: integer({ name: "v", default: 0, group: "Logging", help: "Detail." }),
      timeout: duration({ default: 90_000, help: "word ".repeat(30).trim() }),
      secretSwitch: bool({ default: true, hidden: true, help: "Nobody sees this." }),
      extraCreateMetadata: bool({ default: false, help: "Adds names." }),
      nodeName: text({ default: "", environment: "NODE_NAME", help: "The node." }),
    },
    110,
  );
  assert.equal(
    help,
    [
      "Flags:",
      "  --csi-address string      Unix socket of the CSI driver. (default /run/csi/socket)",
      "  --timeout duration        word word word word word word word word word word word word word word word word",
      "                            word word word word word word word word word word word word word word (default",
      "                            1m30s)",
      "  --extra-create-metadata   Adds names.",
      "  --node-name string        The node. Also $NODE_NAME.",
      "",
      "Logging:",
      "  -v int                    Detail. (default 0)",
      "",
    ].join("\n"),
  );
});

test("on a narrow terminal descriptions are below their flags", () =>
  assert.equal(
    flagsHelp({ csiAddress: text({ default: "/run/csi", help: "Unix socket of the CSI driver that it serves." }) }, 40),
    [
      "Flags:",
      "  --csi-address string",
      "      Unix socket of the CSI driver that",
      "      it serves. (default /run/csi)",
      "",
    ].join("\n"),
  ));

test("the help width is the terminal's width, 80 without a terminal, with an upper limit", () =>
  assert.deepEqual([undefined, 0, 60, 200].map(helpWidth), [80, 80, 60, 110]));

test("the help of a component fits a terminal and names each flag once", () => {
  const lines = flagsHelp(componentFlags, 110).split("\n");
  assert.deepEqual(
    lines.filter((line) => line.length > 110),
    [],
  );
  const named = lines.flatMap((line) => /^ {2}(--?[\w-]+)/.exec(line)?.[1] ?? []);
  assert.equal(new Set(named).size, named.length);
  for (const name of [
    "--kubeconfig",
    "--leader-election",
    "--http-endpoint",
    "--worker-threads",
    "-v",
    "--resync-period",
  ])
    assert.ok(named.includes(name), name);
});

test("capitals become dashes", () => {
  assert.equal(kebab("leaderElectionLeaseDuration"), "leader-election-lease-duration");
  assert.equal(kebab("kubeApiQps"), "kube-api-qps");
});

/** Command lines of manifests in the field. */
const upstream = [
  "--v=5 --leader-election=true",
  "--v=5 --csi-address=x --leader-election",
  "-kubeconfig /etc/config -worker-threads 20 -leader-election-namespace kube-system",
  "--http-endpoint=:8080 --metrics-path=/metrics --kube-api-qps=100 --kube-api-burst=200 --retry-interval-start=500ms",
  "--metrics-address=:9090 --logtostderr --stderrthreshold=INFO --log_file=/x --logging-format=json --automaxprocs",
  "-v=99 --kube-api-qps=-1",
  "--resync-period=10h --leader-election-lease-duration=137s --leader-election-renew-deadline=107s --leader-election-retry-period=26s",
];
for (const line of upstream)
  test(`accepts "${line}"`, () => {
    const flags = { ...componentFlags, csiAddress: text({ default: "", help: "" }) };
    assert.equal(checkComponent(parseFlags(flags, line.split(" ")).options), undefined);
  });

const contradictions: readonly (readonly [string, RegExp])[] = [
  [
    "--http-endpoint=8080",
    /^--http-endpoint: "8080" is not valid: expected an address with a port; for example --http-endpoint=:8080$/,
  ],
  [
    "--retry-interval-start=10m",
    /^--retry-interval-start must not be longer than --retry-interval-max; for example 1s and 5m$/,
  ],
  [
    "--leader-election-lease-duration=5s",
    /^--leader-election-lease-duration must be longer than --leader-election-renew-deadline, .* for example 15s and 10s$/,
  ],
  [
    "--leader-election-retry-period=9s",
    /^--leader-election-renew-deadline must be longer than 1.2 times --leader-election-retry-period, .* 10s and 5s$/,
  ],
];
for (const [flag, message] of contradictions)
  test(`${flag} contradicts the other flags, and the error says how`, () =>
    assert.match(checkComponent(parseFlags(componentFlags, [flag]).options) ?? "", message));
