import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, faults, isFault, isFinal } from "./fault.ts";

test("whatever is thrown becomes a fault, and what we do not recognise is never final", () => {
  for (const reason of [new Error("x"), "text", undefined, { odd: true }]) {
    const fault = Fault.from(reason);
    assert.equal(fault.code, "UnknownOutcome");
    assert.equal(isFinal(fault), false);
  }
});

test("a fault passes through the funnel unchanged", () => {
  const fault = new Fault("NotFound", "gone");
  assert.equal(Fault.from(fault), fault);
});

test("an aborted call is cancelled, not failed", () => {
  assert.equal(Fault.from(AbortSignal.abort().reason).code, "Cancelled");
});

test("an outcome that may still arrive is never final", () => {
  for (const code of [
    "DeadlineExceeded",
    "Unavailable",
    "Cancelled",
    "UnknownOutcome",
    "Aborted",
    "ResourceExhausted",
  ] as const)
    assert.equal(faults[code].final, false, code);
});

test("isFault tells codes apart", () => {
  const fault = new Fault("Conflict", "changed");
  assert.equal(isFault(fault, "NotFound", "Conflict"), true);
  assert.equal(isFault(fault, "NotFound"), false);
  assert.equal(isFault(new Error("x")), false);
});
