import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { Fault } from "../../base/fault.ts";
import type { MigrateContext } from "./act.ts";
import { inFlightMax, rewriteObjects } from "./rewrite.ts";

interface Given {
  readonly objects: number;
  readonly perPage?: number;
  readonly requestMs?: number;
  readonly pageMs?: number;
  /** What the request for this object fails with, at its n-th attempt. */
  refuse?(name: string, attempt: number): Fault | undefined;
  eachPage?(page: number): void;
  readonly after?: string;
}

/** Object number n has the resourceVersion n. */
async function rewritten({ objects, perPage = 500, requestMs = 10, pageMs = 100, after = "999999", ...given }: Given) {
  const world = createVirtualWorld();
  const attempts = new Map<string, number>();
  const [done, said, shown] = [[] as string[], [] as string[], [] as string[]];
  const seen = { inFlight: 0, inFlightMost: 0, pagesRead: 0, pagesBegun: 0, aheadMost: 0, lastAt: 0 };
  async function* pages() {
    for (let from = 0; from < objects; from += perPage) {
      await world.sleep(pageMs);
      seen.pagesRead += 1;
      seen.aheadMost = Math.max(seen.aheadMost, seen.pagesRead - seen.pagesBegun);
      const names = Array.from({ length: Math.min(perPage, objects - from) }, (_, index) => from + index);
      yield {
        objects: names.map((number) => ({ metadata: { name: `o-${number}`, resourceVersion: String(number) } })),
        resourceVersion: "1",
      };
    }
  }
  const patch = async ({ name }: { name: string }): Promise<void> => {
    seen.inFlight += 1;
    seen.inFlightMost = Math.max(seen.inFlightMost, seen.inFlight);
    await world.sleep(requestMs);
    seen.inFlight -= 1;
    seen.lastAt = world.elapsed();
    const attempt = (attempts.get(name) ?? 0) + 1;
    attempts.set(name, attempt);
    const fault = given.refuse?.(name, attempt);
    if (fault !== undefined) throw fault;
    done.push(name);
  };
  const context = {
    api: { pages, patch },
    world,
    signal: new AbortController().signal,
    say: (line: string) => said.push(line),
    progress: (text: () => string) => shown.push(text()),
  };
  const eachPage = async (): Promise<void> => {
    seen.pagesBegun += 1;
    given.eachPage?.(seen.pagesBegun);
  };
  const options = { kind: "VolumeSnapshot", version: "v1", after, eachPage } as const;
  const failure = await world.run(
    rewriteObjects(context as unknown as MigrateContext, options).then(
      () => undefined,
      (reason: unknown) => Fault.from(reason),
    ),
  );
  return { ...seen, attempts, done, said, shown, failure, tookMs: world.elapsed() };
}

test("sixteen requests are in flight, and the next page is read meanwhile", async () => {
  const { done, inFlightMost, aheadMost, tookMs } = await rewritten({ objects: 5_000 });
  assert.equal(new Set(done).size, 5_000);
  assert.equal(inFlightMost, inFlightMax);
  // Ten pages one after the other would take a second more.
  const leastMs = (5_000 / inFlightMax) * 10 + 100;
  assert.ok(tookMs < leastMs + 100, `${tookMs} ms, at least ${leastMs}`);
  assert.ok(aheadMost <= 2, `${aheadMost} pages are held`);
});

test("what has been written since the run began is left alone: a resumed run goes on where the killed one was", async () => {
  const { done } = await rewritten({ objects: 1_000, after: "300" });
  assert.deepEqual(
    done.map((name) => Number(name.slice(2))).sort((one, other) => one - other),
    Array.from({ length: 301 }, (_, index) => index),
  );
});

test("it says how many are rewritten so far, also of those that need no write", async () => {
  const gone = new Fault("NotFound", "gone");
  const { shown } = await rewritten({ objects: 3, refuse: (name) => (name === "o-1" ? gone : undefined) });
  assert.deepEqual(shown, [
    "rewritten 1 VolumeSnapshot so far",
    "rewritten 2 VolumeSnapshots so far",
    "rewritten 3 VolumeSnapshots so far",
  ]);
});

test("an object that has changed meanwhile, or is gone, needs no second write", async () => {
  const faults = { "o-1": new Fault("Conflict", "changed"), "o-2": new Fault("NotFound", "gone") };
  const { failure, attempts } = await rewritten({ objects: 4, refuse: (name) => faults[name as keyof typeof faults] });
  assert.equal(failure, undefined);
  assert.deepEqual([...attempts.values()], [1, 1, 1, 1]);
});

test("a server that asks to wait is asked again after that time, and not before", async () => {
  const busy = new Fault("ResourceExhausted", "too many requests", { retryAfterMs: 7_000 });
  const { failure, done, lastAt } = await rewritten({
    objects: 3,
    refuse: (name, attempt) => (name === "o-0" && attempt === 1 ? busy : undefined),
  });
  assert.equal(failure, undefined);
  assert.deepEqual(done, ["o-1", "o-2", "o-0"]);
  assert.ok(lastAt >= 7_000, `${lastAt} ms`);
});

test("objects that cannot be written are listed, and all others are written", async () => {
  const invalid = new Fault("Invalid", "spec is wrong");
  const { failure, done, said } = await rewritten({
    objects: 1_000,
    refuse: (name) => (name.endsWith("7") ? invalid : undefined),
  });
  assert.match(failure?.message ?? "", /^100 VolumeSnapshots could not be rewritten; .*\[SNAP-608\]$/);
  assert.deepEqual([done.length, said.length, said[0]], [900, 20, "VolumeSnapshot o-7: spec is wrong"]);
});

test("when the server is gone for good, the run ends, and nothing is written after its end", async () => {
  const { failure, done, inFlight } = await rewritten({
    objects: 5_000,
    refuse: (name) => (Number(name.slice(2)) >= 100 ? new Fault("Unavailable", "nobody answers") : undefined),
  });
  assert.equal(failure?.message, "nobody answers");
  assert.deepEqual([done.length, inFlight], [100, 0]);
});

test("a run that another has taken over stops before its next page", async () => {
  const { failure, done } = await rewritten({
    objects: 5_000,
    eachPage: (page) => {
      if (page === 3) throw new Fault("FailedPrecondition", "another run has taken over");
    },
  });
  assert.equal(failure?.message, "another run has taken over");
  assert.equal(done.length, 1_000);
});
