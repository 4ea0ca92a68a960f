/** For work that a bad way of doing it would take minutes for: what holds up the process, no timeout of a test ends. */
import assert from "node:assert/strict";

const cpuSecondsMax = 5;

export function quickly<T>(work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const { user } = process.cpuUsage(before);
  assert.ok(user < cpuSecondsMax * 1e6, `took ${(user / 1e6).toFixed(1)} s of the processor`);
  return result;
}
