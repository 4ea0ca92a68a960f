import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inflicted, Result } from "./campaign.ts";
import { isComplete } from "./report.ts";
import { gaps, nextGap } from "./strikes.ts";

test("as many strikes as there are gaps reach each of them, and one that was missed is reached later", () => {
  const kinds: Record<string, number> = {};
  const missed = nextGap(kinds, 0);
  const strike = (turn: number): void => {
    const { name } = nextGap(kinds, turn);
    kinds[name] = (kinds[name] ?? 0) + 1;
  };
  for (let turn = 1; turn <= gaps.length; turn++) strike(turn);
  assert.deepEqual(Object.keys(kinds).toSorted(), gaps.map(({ name }) => name).toSorted());
  assert.ok(missed.name in kinds);
  for (let turn = 0; turn < gaps.length; turn++) strike(turn);
  assert.deepEqual(new Set(Object.values(kinds)), new Set([2]));
});

test("a run is complete when every fault was inflicted, and every gap was hit that could be", () => {
  const faults = (gap: Inflicted) =>
    ({ kill: { asked: 1, done: 1, kinds: {} }, gap }) as unknown as Result["inflicted"];
  const kinds = Object.fromEntries(gaps.map(({ name }) => [name, 1]));
  const { length } = gaps;
  assert.ok(isComplete({ inflicted: faults({ asked: length, done: length, kinds }) }));
  assert.ok(!isComplete({ inflicted: faults({ asked: length, done: length - 1, kinds }) }));
  const { [gaps[3]?.name ?? ""]: _unhit, ...others } = kinds;
  assert.ok(!isComplete({ inflicted: faults({ asked: length, done: length, kinds: others }) }));
  assert.ok(isComplete({ inflicted: faults({ asked: 2, done: 2, kinds: {} }) }));
});
