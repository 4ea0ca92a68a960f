import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, faults, isFault, isFinal } from "./fault.ts";

test("every thrown value becomes a fault, and an unknown one is never final", () => {
  for (const reason of [new Error("x"), "text", undefined, { odd: true }]) {
    const fault = Fault.from(reason);
    assert.equal(fault.code, "UnknownOutcome");
    assert.equal(isFinal(fault), false);
  }
});

test("Fault.from returns a fault unchanged", () => {
  const fault = new Fault("NotFound", "gone");
  assert.equal(Fault.from(fault), fault);
});

test("an aborted call becomes Cancelled, not a failure", () => {
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

test("isFault compares codes", () => {
  const fault = new Fault("Conflict", "changed");
  assert.equal(isFault(fault, "NotFound", "Conflict"), true);
  assert.equal(isFault(fault, "NotFound"), false);
  assert.equal(isFault(new Error("x")), false);
});
