/** `npm run alerts`: makes the situation of each alert on a real control plane, and asks a real Prometheus which alerts fire. */
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../../harness/progress.ts";
import { toolProblem } from "../../harness/tools.ts";

const usage = `npm run alerts

Runs our components on a real control plane, and Debian's prometheus with the rules of deploy/monitoring/alerts.yaml, all durations
divided by 60. First all is well, and no alert may fire. Then the situation of each alert is made, and each has to fire.

Exit code: 0 when each alert fires in its situation and is silent before, 1 when not.
Needs Go 1.26 or newer, the Debian package prometheus, and root on Linux.
`;
if (process.argv.length > 2) {
  process.stdout.write(usage);
  process.exit(["-h", "--help"].includes(process.argv[2] ?? "") ? 0 : 2);
}
const problem = await toolProblem();
if (problem !== undefined) {
  say(problem);
  process.exit(1);
}
const { alerts, nameOf } = await import("./rules.ts");
const { startCluster } = await import("./situations.ts");
const { startPrometheus } = await import("./prometheus.ts");

/** Longer than the longest wait of a rule, and its range before it. */
const silentMs = 30_000;
const firesMsMax = 90_000;

const cluster = await startCluster();
const prometheus = await startPrometheus(cluster.plane, cluster.targets);
await prometheus.scraped();
const wrong = new Set<string>();
const quietUntil = performance.now() + silentMs;
// While processes start, nobody leads yet.
await prometheus.quiet();
while (performance.now() < quietUntil) {
  await cluster.beBusy();
  for (const name of await prometheus.firing()) wrong.add(name);
  await sleep(500);
}
say(wrong.size === 0 ? "all is well: no alert fires" : `all is well, and these fire: ${[...wrong].join(", ")}`);

const fired = new Map<string, string>();
for (const troubles of cluster.troubles) {
  for (const { make } of troubles) await make();
  const expected = troubles.flatMap((trouble) => trouble.alerts);
  const givesUpAt = performance.now() + firesMsMax;
  while (performance.now() < givesUpAt && !expected.every((name) => fired.has(name))) {
    const now = await prometheus.firing();
    for (const { alerts: names, what } of troubles)
      for (const name of names) if (now.includes(name) && !fired.has(name)) fired.set(name, what);
    await sleep(500);
  }
}
for (const name of alerts.map(nameOf)) {
  const what = fired.get(name);
  const verdict = what === undefined ? "does not fire" : `fires: ${what}`;
  process.stdout.write(
    `${name} | ${wrong.has(name) ? "fires while all is well" : "silent while all is well"} | ${verdict}\n`,
  );
}
process.stdout.write(
  `\n${fired.size} of ${alerts.length} alerts fire in their situation, ${wrong.size} while all is well\n`,
);
await cluster.stop();
process.exit(fired.size === alerts.length && wrong.size === 0 ? 0 : 1);
