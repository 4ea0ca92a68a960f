import assert from "node:assert/strict";
import { test } from "node:test";
import { scheduleOf } from "./campaign.ts";
import { parseOptions, usage } from "./options.ts";
import { replayCommand } from "./replay.ts";

const wrong: readonly [args: readonly string[], why: RegExp][] = [
  [["--seeds", "many"], /--seeds many: it is a whole number/],
  [["--seed", "-4"], /--seed/],
  [["--workers", "1.5"], /--workers 1.5: it is a whole number/],
  [["--scenario", "nap"], /no scenario "nap"; there are .*retain/],
  [["--faults", "crash,boredom"], /no fault "boredom"/],
  [["--bug", "laziness"], /no bug "laziness"; there are\n.* {2}takes readiness back\n/s],
  [["--bug", "takes"], /more than one bug has "takes" in its name/],
  [["--output", "xml"], /--output xml: it is text or json/],
  [["--sedes", "1"], /--sedes/],
];
for (const [args, why] of wrong)
  test(`${args.join(" ")} is rejected with the reason`, () => {
    const parsed = parseOptions(args);
    assert.equal(parsed.kind, "wrong");
    assert.match(parsed.kind === "wrong" ? parsed.why : "", why);
  });

test("--seed runs in this process", () => {
  const parsed = parseOptions(["--seed", "144", "--workers", "7"]);
  assert.ok(parsed.kind === "run");
  const { from, seeds, workers } = parsed.options;
  assert.deepEqual({ from, seeds, workers }, { from: 144, seeds: 1, workers: 0 });
});

test("--bug selects its scenario and runs in this process", () => {
  const parsed = parseOptions(["--bug", "readiness back", "--workers", "7"]);
  assert.ok(parsed.kind === "run");
  const { bug, among, workers } = parsed.options;
  assert.deepEqual(
    [bug?.name, among?.map(({ name }) => name).join(), workers],
    ["takes readiness back", "dynamic-create", 0],
  );
});

test("--scenario draws from each of the named scenarios and from no other", async () => {
  const parsed = parseOptions(["--scenario", "retain,claim,never-ready"]);
  assert.ok(parsed.kind === "run");
  const seeds = Array.from({ length: 30 }, (_, seed) => seed);
  const drawn = await Promise.all(seeds.map((seed) => scheduleOf(seed, parsed.options)));
  assert.deepEqual([...new Set(drawn.map(({ scenario }) => scenario.name))].sort(), ["claim", "never-ready", "retain"]);
});

test("the printed command repeats exactly the same schedule", async () => {
  const schedule = await scheduleOf(144);
  for (const faults of [schedule.faults, []]) {
    const [, words = ""] = replayCommand({ ...schedule, faults }).split("npm run sim -- ");
    const parsed = parseOptions(words.split(" ").map((word) => (word === '""' ? "" : word)));
    assert.ok(parsed.kind === "run");
    const { from, seeds, among, plan, trace } = parsed.options;
    assert.deepEqual({ from, seeds, plan, trace }, { from: 144, seeds: 1, plan: faults, trace: true });
    assert.deepEqual(among, [schedule.scenario]);
  }
});

test("--minutes accepts fractions, and --faults accepts families and names", () => {
  const parsed = parseOptions(["--minutes", "0.5", "--faults", "crash,watch-cut", "-o", "json"]);
  assert.ok(parsed.kind === "run");
  const { minutes, allowed } = parsed.options;
  assert.deepEqual([minutes, parsed.output], [0.5, "json"]);
  const row = (family: string, name: string) => ({ family, name }) as Parameters<typeof allowed>[0];
  assert.deepEqual([row("crash", "a"), row("watch", "watch-cut"), row("watch", "b")].map(allowed), [true, true, false]);
});

test("the help names every flag, scenario and family", () => {
  assert.equal(parseOptions(["-h"]).kind, "help");
  for (const word of ["--seeds ", "--plan ", "--exhaustive", "--workers ", "two-leaders", "Families of faults: "])
    assert.ok(usage.includes(word), word);
});
