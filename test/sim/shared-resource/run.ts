/** `npm run sim:shares -- [--seeds N] [--from N]`: more schedules of shares, sources and permissions than the tests play. */
import { parseArgs } from "node:util";
import { simulate } from "./simulation.ts";

Error.stackTraceLimit = 0;

const { values } = parseArgs({ options: { seeds: { type: "string" }, from: { type: "string" } } });
const [seeds, from] = [Number(values.seeds ?? 1_000), Number(values.from ?? 1)];
const sum = { published: 0, refused: 0, shown: 0, kills: 0 };
const startedAt = performance.now();
let broken = 0;
let saidAt = startedAt;
for (let seed = from; seed < from + seeds; seed++) {
  const { violations, ...counts } = await simulate(seed, {}, { watchesRoles: seed % 2 === 0 });
  for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key];
  if (violations.length > 0) {
    broken += 1;
    console.log(`seed ${seed}:\n  ${violations.join("\n  ")}`);
  }
  if (performance.now() - saidAt > 15_000) {
    saidAt = performance.now();
    console.error(`… ${seed - from + 1} of ${seeds} schedules, ${broken} with violations`);
  }
}
console.log(
  `${seeds} schedules from seed ${from}, ${broken} with violations, ${Math.round((performance.now() - startedAt) / 1000)} s`,
);
console.log(
  `volumes published ${sum.published}, refused ${sum.refused}; changes of what a pod sees ${sum.shown}; kills ${sum.kills}`,
);
process.exitCode = broken === 0 ? 0 : 1;
