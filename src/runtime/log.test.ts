import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../base/fault.ts";
import type { LogOptions } from "./log.ts";
import { createLog } from "./log.ts";

function setUp(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const world = { now: () => Date.UTC(2026, 10, 15, 9, 40, 54, 123) };
  const out = { write: (line: string) => lines.push(line) };
  return { lines, log: createLog({ format: "text", verbosity: 0, name: "sidecar", world, out, ...options }) };
}

test("the text format is klog's: level, date, component, constant message, fields", () => {
  const { lines, log } = setUp();
  log
    .with({ key: "team/a" })
    .warn("reconcile failed", { fault: "Unavailable", reason: new Fault("Unavailable", "two\nlines"), n: 5n });
  assert.deepEqual(lines, [
    'W1115 09:40:54.123000 sidecar] reconcile failed key="team/a" fault="Unavailable" reason="two\\nlines" n="5"\n',
  ]);
});

test("JSON has the fields of Kubernetes' components", () => {
  const { lines, log } = setUp({ format: "json" });
  log.info("started", { workers: 10, absent: undefined });
  assert.deepEqual(JSON.parse(lines[0] ?? ""), {
    ts: 1794735654123,
    level: "info",
    logger: "sidecar",
    msg: "started",
    v: 0,
    workers: 10,
  });
});

test("debug messages are written from -v=4 on", () => {
  for (const [verbosity, count] of [
    [0, 0],
    [3, 0],
    [4, 1],
    [10, 1],
  ] as const) {
    const { lines, log } = setUp({ verbosity });
    log.with({}).debug("decided");
    assert.equal(lines.length, count);
  }
});

for (const format of ["text", "json"] as const) {
  test(`secrets do not reach a ${format} log`, () => {
    const { lines, log } = setUp({ format });
    log.info("csi call", { request: { name: "s", secrets: { password: "hunter2" } }, note: "Bearer hunter2hunter2" });
    assert.equal(lines.length, 1);
    assert.equal(lines.join("").includes("hunter2"), false);
  });

  test(`a value that cannot be printed does not throw, and the ${format} message is still written`, () => {
    const { lines, log } = setUp({ format });
    const hostile = {
      get field(): string {
        throw new Error("no");
      },
    };
    log.error("went wrong", { hostile });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /went wrong.*unprintable/);
  });

  test(`a ${format} message is one line for any content`, () => {
    const { lines, log } = setUp({ format });
    log.info("two\nlines", { three: "a\nb\nc" });
    assert.equal((lines[0] ?? "").indexOf("\n"), (lines[0] ?? "").length - 1);
  });
}

test("a log whose stream is broken does not throw", () => {
  const out = {
    write: () => {
      throw new Error("EPIPE");
    },
  };
  setUp({ out }).log.error("nobody hears this");
});
