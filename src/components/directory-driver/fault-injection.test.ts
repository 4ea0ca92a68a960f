import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Controller } from "../../csi/gen/csi_pb.js";
import type { Unary } from "../../csi/wire.ts";
import { faultInjectionLayer, type InjectedFault, parseInjectedFault } from "./fault-injection.ts";

const readings: readonly { text: string; gives: InjectedFault | RegExp }[] = [
  {
    text: "CreateSnapshot=Unavailable*2",
    gives: { method: "CreateSnapshot", code: "Unavailable", times: 2, afterwards: false },
  },
  {
    text: "DeleteSnapshot=deadlineexceeded:after",
    gives: { method: "DeleteSnapshot", code: "DeadlineExceeded", times: 1, afterwards: true },
  },
  {
    text: "NodePublishVolume=Internal*3:after",
    gives: { method: "NodePublishVolume", code: "Internal", times: 3, afterwards: true },
  },
  {
    text: "CreateSnapshots=Unavailable",
    gives:
      /^"CreateSnapshots" is not a CSI method, did you mean CreateSnapshot\? \(one of .*DeleteSnapshot, .*NodePublishVolume.*\)$/,
  },
  {
    text: "CreateSnapshot=Sleepy",
    gives: /^"Sleepy" is not a code \(one of .*Unavailable.*DeadlineExceeded.*|.*DeadlineExceeded.*Unavailable.*\)$/,
  },
  {
    text: "CreateSnapshot=Unavailable*0",
    gives: /^"0" is not a number of times: expected a whole number of at least 1$/,
  },
  { text: "CreateSnapshot=Unavailable*-1", gives: /^"-1" is not a number of times/ },
  { text: "CreateSnapshot=Unavailable:before", gives: /^":before" is unknown: expected :after or nothing$/ },
  { text: "CreateSnapshot", gives: /^"CreateSnapshot" has no "=": expected METHOD=CODE/ },
  { text: "", gives: /^"" has no "="/ },
];
for (const { text, gives } of readings)
  test(`"${text}" ${gives instanceof RegExp ? "is rejected, and the error names the invalid part" : "is accepted"}`, () => {
    const read = parseInjectedFault(text);
    if (gives instanceof RegExp) assert.match(String(read), gives);
    else assert.deepEqual(read, gives);
  });

const { createSnapshot, deleteSnapshot } = Controller.method;
const call = (method: typeof createSnapshot | typeof deleteSnapshot) => ({
  method,
  request: create(method.input),
  timeoutMs: 1,
});
const never = new AbortController().signal;

/** The real work, which counts how often it was done. */
function working(): { work: Unary; done(): number } {
  let done = 0;
  const work: Unary = async ({ method }) => {
    done += 1;
    return create(method.output);
  };
  return { work, done: () => done };
}

test("the given number of calls fails without effect, and later calls succeed", async () => {
  const { work, done } = working();
  const layer = faultInjectionLayer([{ method: "CreateSnapshot", code: "Unavailable", times: 2, afterwards: false }])(
    work,
  );
  for (const left of [1, 0])
    await assert.rejects(layer(call(createSnapshot), never), {
      code: "Unavailable",
      message: `CreateSnapshot fails because --fault says so, ${left} more to come`,
    });
  assert.equal(done(), 0);
  await layer(call(createSnapshot), never);
  assert.equal(done(), 1);
});

test("a fault after the effect loses only the reply", async () => {
  const { work, done } = working();
  const layer = faultInjectionLayer([{ method: "CreateSnapshot", code: "UnknownOutcome", times: 1, afterwards: true }])(
    work,
  );
  await assert.rejects(layer(call(createSnapshot), never), { code: "UnknownOutcome" });
  assert.equal(done(), 1);
});

test("other methods are not affected, and two faults of one method apply one after the other", async () => {
  const { work } = working();
  const injected = (code: InjectedFault["code"]): InjectedFault => ({
    method: "CreateSnapshot",
    code,
    times: 1,
    afterwards: false,
  });
  const layer = faultInjectionLayer([injected("Internal"), injected("Aborted")])(work);
  await layer(call(deleteSnapshot), never);
  await assert.rejects(layer(call(createSnapshot), never), { code: "Internal" });
  await assert.rejects(layer(call(createSnapshot), never), { code: "Aborted" });
  await layer(call(createSnapshot), never);
});
