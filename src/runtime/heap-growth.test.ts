import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

/** What lives, and what outlives the young generation and then dies: the heap when it was largest, in MiB. */
const work = `
  const read = (of) => JSON.parse(JSON.stringify(Array.from({ length: 60 }, (_, index) => ({ index, text: of + index }))));
  const live = Array.from({ length: 1_500 }, (_, index) => read("live " + index));
  const dying = new Array(1_000);
  let most = 0;
  for (let index = 0; index < 30_000; index++) {
    dying[index % dying.length] = read("dying " + index);
    if (index % 200 === 0) most = Math.max(most, process.memoryUsage().heapTotal / 2 ** 20);
  }
  console.log(live.length > 0 ? most : 0);
`;
const heapAfter = (first: string): number =>
  Number(execFileSync(process.execPath, ["--max-semi-space-size=4", "--input-type=module", "-e", `${first}\n${work}`]));

test("the heap of a component stays far smaller than by default while garbage comes and goes", () => {
  const module = pathToFileURL(join(import.meta.dirname, "heap-growth.ts")).href;
  const usual = heapAfter("");
  const limited = heapAfter(`import { limitHeapGrowth } from ${JSON.stringify(module)};\nlimitHeapGrowth();`);
  assert.ok(limited < usual * 0.85, `${limited} MiB, by default ${usual} MiB`);
});
