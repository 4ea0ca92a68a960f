/** For tests against an adversary: code that changes files as fast as it can, in a thread of its own, while something else works on them. */
import { Worker } from "node:worker_threads";

/**
 * Repeats `round`, the body of a function of `fs`, `data` and `turn`, until `work` is done. It runs in another thread; what it throws ends
 * the race and fails it. `dwell()` lets a moment pass.
 */
export async function racing<T>(round: string, data: unknown, work: () => Promise<T>): Promise<T> {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { workerData: { data, stop }, parentPort } = require("node:worker_threads");
    const fs = require("node:fs");
    const dwell = () => { for (const end = performance.now() + 0.2; performance.now() < end; ); };
    const round = (turn) => { ${round} };
    for (let turn = 0; turn === 0 || Atomics.load(stop, 0) === 0; turn++) {
      round(turn);
      if (turn === 0) parentPort.postMessage("started");
    }`;
  const worker = new Worker(code, { eval: true, workerData: { data, stop } });
  const ended = new Promise<void>((resolve, reject) => worker.once("error", reject).once("exit", () => resolve()));
  try {
    await Promise.race([new Promise((resolve) => worker.once("message", resolve)), ended]);
    return await Promise.race([work(), ended.then(() => Promise.reject(new Error("the race ended by itself")))]);
  } finally {
    Atomics.store(stop, 0, 1);
    await ended;
  }
}

/** Repeats the work for about that long, and at least once; says how often. */
export async function repeatedFor(ms: number, work: (round: number) => Promise<void>): Promise<number> {
  const end = performance.now() + ms;
  let round = 0;
  do await work(round++);
  while (performance.now() < end);
  return round;
}
