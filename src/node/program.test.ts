import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Fault } from "../base/fault.ts";
import { asFault, runProgram } from "./program.ts";

const shell = (script: string, options = {}) => runProgram("sh", ["-c", script], options);

test("the output of a program is returned", async () =>
  assert.equal((await shell("echo one; echo two")).output, "one\ntwo"));

const failures: readonly { given: string; script: string; code: string; message: RegExp }[] = [
  { given: "a full disk", script: "No space left on device", code: "ResourceExhausted", message: /sh: cp: .*No space/ },
  { given: "a quota", script: "Disk quota exceeded", code: "ResourceExhausted", message: /quota/ },
  {
    given: "an option it does not know",
    script: "unrecognized option --reflink",
    code: "FailedPrecondition",
    message: /reflink; install GNU coreutils, GNU tar and util-linux/,
  },
  { given: "anything else", script: "Input/output error", code: "Internal", message: /Input/ },
];
for (const { given, script, code, message } of failures)
  test(`a program that fails for ${given} gives ${code}`, () =>
    assert.rejects(shell(`echo 'cp: writing: ${script}' >&2; exit 1`), { code, message }));

test("a program that fails without output gives its exit code", () =>
  assert.rejects(shell("exit 7"), { code: "Internal", message: "sh: ended with exit code 7" }));

test("a missing program is an error with a remedy, and leaves no kill timer", async () => {
  const { signal } = new AbortController();
  await assert.rejects(runProgram("no-such-program", [], { signal }), {
    code: "FailedPrecondition",
    message: /not installed/,
  });
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});

test("errors are ignored only if all lines may be ignored and the exit code matches", async () => {
  const forgives = (complaint: string): boolean => complaint === "gone";
  const { forgiven } = await shell("echo gone >&2; echo gone >&2; exit 1", { forgives });
  assert.deepEqual(forgiven, ["gone", "gone"]);
  await assert.rejects(shell("echo gone >&2; echo broken >&2; exit 1", { forgives }), { message: "sh: broken" });
  await assert.rejects(shell("echo gone >&2; exit 2", { forgives }), { code: "Internal" });
  await assert.rejects(shell("echo gone >&2; kill -9 $$", { forgives }), { code: "Internal" });
});

test("an abort kills the program and waits for its end", async () => {
  const stop = new AbortController();
  const running = shell("exec sleep 60", { signal: stop.signal });
  stop.abort(new Fault("Unavailable", "the driver is shutting down"));
  await assert.rejects(running, { code: "Unavailable" });
  await assert.rejects(shell("exit 0", { signal: stop.signal }), { code: "Unavailable" });
});

const errors = [
  { code: "ENOSPC", gives: "ResourceExhausted" },
  { code: "EDQUOT", gives: "ResourceExhausted" },
  { code: "EFBIG", gives: "OutOfRange" },
] as const;
for (const { code, gives } of errors)
  test(`errno ${code} becomes ${gives}`, () => {
    const said = asFault(Object.assign(new Error(`${code}: write`), { code }));
    assert.ok(said instanceof Fault && said.code === gives);
  });

test("an errno without a gRPC code stays unchanged", () => {
  const reason = Object.assign(new Error("EIO: read"), { code: "EIO" });
  assert.equal(asFault(reason), reason);
});
