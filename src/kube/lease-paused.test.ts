/** Processes that are stopped past their lease and continued: never two leaders. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elect, leads, pausable, untilAborted } from "../../test/electors.ts";
import { createFakeKube, type Hook } from "../../test/fake-kube.ts";
import { createVirtualWorld, diceFrom } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import type { World } from "../base/world.ts";
import type { Leadership } from "./lease.ts";

test("a leader that was stopped past its deadline knows that it lost the lease before any timer runs", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const process = pausable(kube, world);
  const one = elect("one", process.api, process.world);
  await world.advance(0);
  const two = elect("two", kube, world);
  await world.advance(12_000);
  process.pause();
  await world.advance(60_000);
  assert.equal(leads(one), false, "asked synchronously");
  assert.equal(one.leadership?.signal.aborted, false, "no timer has run yet");
  assert.equal(leads(two), true);
  const before = kube.calls.filter(({ verb }) => verb !== "get").length;
  process.resume();
  await world.advance(0);
  assert.equal(one.leadership?.signal.aborted, true);
  assert.equal(one.end, "lost");
  assert.equal(kube.calls.filter(({ verb }) => verb !== "get").length, before, "it wrote nothing more");
});

/** Requests fail before or after their effect, or take their time. */
const troubled =
  (random: () => number, world: World): Hook =>
  async ({ signal }) => {
    const draw = random();
    if (draw < 0.05) throw new Fault("UnknownOutcome", "connection reset");
    if (draw < 0.1) await world.sleep(random() * 12_000, signal);
    else await world.sleep(random() * 50, signal);
  };

for (let seed = 1; seed <= 8; seed++)
  test(`seed ${seed}: three electors, pauses and lost replies: never two leaders, and soon one again`, async () => {
    const world = createVirtualWorld(seed);
    const random = diceFrom(seed + 500);
    const kube = createFakeKube(troubled(random, world));
    const processes = [0, 1, 2].map(() => pausable(kube, world));
    const overlaps: string[] = [];
    let reigns = 0;
    // Two can lead at once only from the moment on at which the second of them begins.
    const begin = async ({ signal }: Leadership): Promise<void> => {
      reigns += 1;
      const leading = electors.filter(leads).map(({ name }) => name);
      if (leading.length > 1) overlaps.push(`at ${world.elapsed()} ms ${leading.join(" and ")}`);
      await untilAborted(signal);
    };
    const electors = processes.map(({ api, world }, index) => elect(`e${index}.0`, api, world, begin));
    let ledMs = 0;
    for (let second = 0; second < 500; second++) {
      await world.advance(1_000);
      ledMs += electors.filter(leads).length * 1_000;
      for (const [index, process] of processes.entries()) {
        if (random() < 0.03) process.pause();
        if (random() < 0.1) process.resume();
        if (electors[index]?.end !== undefined)
          electors[index] = elect(`e${index}.${second}`, process.api, process.world, begin);
      }
    }
    assert.deepEqual(overlaps, []);
    assert.ok(reigns > 2 && ledMs > 100_000, `${reigns} reigns, ${ledMs} of 500000 ms`);
  });
