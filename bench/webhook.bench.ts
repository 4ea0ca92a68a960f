/** Admission reviews over TLS: our webhook, and the last validation webhook of external-snapshotter, turn by turn. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createAuthority } from "../test/e2e/harness/certificates.ts";
import { connect as connectTo } from "../test/e2e/harness/client.ts";
import { installSnapshotCrds } from "../test/e2e/harness/components.ts";
import { startEmbeddedServer } from "../test/e2e/harness/embedded.ts";
import type { Daemon } from "../test/e2e/harness/instance.ts";
import { freePort } from "../test/e2e/harness/ports.ts";
import { tool } from "../test/e2e/harness/tools.ts";
import { until } from "../test/e2e/harness/until.ts";
import { median, spread } from "./support/compare.ts";
import { buildBundle } from "./support/contestants.ts";
import { pssMibOf, usageOf } from "./support/usage.ts";

const connections = 16;
const usual = { seconds: 10, rounds: 5 };
const quick = { seconds: 3, rounds: 3 };
const bundle = resolve(import.meta.dirname, "../dist/snapkeep.js");
const load = resolve(import.meta.dirname, "support/review-load.ts");

interface Round {
  readonly perSecond: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly reviews: number;
  readonly perCpuSecond: number;
  readonly pssMib: number;
}

export async function run(options: ReadonlyMap<string, string>): Promise<void> {
  const { seconds, rounds } = options.has("--quick") ? quick : usual;
  const reference = await tool("snapshot-validation-webhook");
  buildBundle();
  // The Go webhook wants to list classes before it serves.
  const { instance, kubeconfig, stop } = await startEmbeddedServer();
  const connection = await connectTo(kubeconfig);
  try {
    await installSnapshotCrds(connection.client);
    const issued = createAuthority("bench").issue({ commonName: "localhost", ipv4: ["127.0.0.1"] });
    const files = { cert: join(instance.folder, "tls.crt"), key: join(instance.folder, "tls.key") };
    writeFileSync(files.cert, issued.certificate);
    writeFileSync(files.key, issued.key);
    const flags = (port: number) => [
      `--tls-cert-file=${files.cert}`,
      `--tls-private-key-file=${files.key}`,
      `--port=${port}`,
      `--kubeconfig=${kubeconfig}`,
    ];
    const found: { readonly ours: Round; readonly theirs: Round }[] = [];
    for (let round = 0; round <= rounds; round++) {
      const pair = {
        theirs: await measure((port) => instance.start(`reference-${round}`, reference, flags(port)), seconds),
        ours: await measure(
          (port) =>
            instance.start(`snapkeep-${round}`, process.execPath, [
              "--max-semi-space-size=4",
              bundle,
              "webhook",
              ...flags(port),
            ]),
          seconds,
        ),
      };
      if (round > 0) found.push(pair);
    }
    report(found);
  } finally {
    connection.close();
    stop();
  }
}

async function measure(start: (port: number) => Daemon, seconds: number): Promise<Round> {
  const port = await freePort();
  const daemon = start(port);
  try {
    await until({ what: "the webhook listens", everyMs: 100 }, async () =>
      (await drive(port, 0.2).catch(() => undefined)) === undefined ? undefined : true,
    );
    const before = usageOf(daemon.pid);
    const result = await drive(port, seconds);
    const after = usageOf(daemon.pid);
    return {
      ...result,
      perCpuSecond: result.reviews / (after.cpuSeconds - before.cpuSeconds),
      pssMib: pssMibOf(daemon.pid),
    };
  } finally {
    await daemon.stop();
  }
}

async function drive(port: number, seconds: number): Promise<Omit<Round, "perCpuSecond" | "pssMib">> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    load,
    String(port),
    String(connections),
    String(seconds),
  ]);
  return JSON.parse(stdout) as Omit<Round, "perCpuSecond" | "pssMib">;
}

function report(rounds: readonly { readonly ours: Round; readonly theirs: Round }[]): void {
  const ratios = (figure: keyof Round) =>
    spread(
      rounds.map(({ ours, theirs }) => ours[figure] / theirs[figure]),
      2,
    );
  const middle = (side: "ours" | "theirs", figure: keyof Round) => median(rounds.map((round) => round[side][figure]));
  const both = (figure: keyof Round, digits = 0) =>
    `ours ${middle("ours", figure).toFixed(digits)}, reference ${middle("theirs", figure).toFixed(digits)}; ratio ${ratios(figure)}`;
  console.log(`reviews per second, ${connections} connections: ${both("perSecond")}`);
  console.log(`reviews per CPU second of the webhook: ${both("perCpuSecond")}`);
  console.log(`p50 in ms: ${both("p50Ms", 2)}`);
  console.log(`p99 in ms: ${both("p99Ms", 2)}`);
  console.log(`memory (PSS) in MiB: ${both("pssMib")}`);
  const errors = rounds.reduce((sum, { ours, theirs }) => sum + ours.errors + theirs.errors, 0);
  console.log(`wrong or missing answers: ${errors}`);
}
