import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type FaultCode, faults, isFinal } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { CallAnswer, faultCodeOf, grpcNameOf, grpcStatusOf } from "./status.ts";

/** The same classes as Kubernetes' own sidecars: these codes leave the outcome open, every other one ends it. */
const open: ReadonlySet<number> = new Set([1, 4, 8, 10, 14]);
for (let code = 1; code <= 16; code++)
  test(`gRPC code ${code} from a driver is ${open.has(code) ? "not final" : "final"}`, () => {
    const fault = new Fault(faultCodeOf({ code, details: "said the driver" }), "");
    assert.equal(isFinal(fault), !open.has(code));
  });

const noReply: readonly (readonly [number, string])[] = [
  [13, "Received RST_STREAM with code 2 (Internal server error)"],
  [13, "Received RST_STREAM with code 0 (Call ended without gRPC status)"],
  [13, "Received RST_STREAM with code 2 triggered by internal client error: read EPIPE"],
  [14, "Received HTTP status code 502"],
  [13, "Write error: write after end"],
  [14, "Write failed with error write EPIPE"],
  [7, "Protocol not secure enough"],
];
for (const [code, details] of noReply)
  test(`"${details}" is not a reply of the driver: the outcome is unknown`, () =>
    assert.equal(faultCodeOf({ code, details }), "UnknownOutcome"));

const malformed: readonly (readonly [number, string])[] = [
  [13, "Response message parsing error: invalid wire type 7"],
  [12, "Received HTTP status code 404"],
  [2, "Received HTTP status code 200"],
  [12, "No message received"],
  [12, "Too many responses received"],
  [2, "No status information received"],
  [8, "Received message larger than max (1752460652 vs 4194304)"],
  [8, "Received message that decompresses to a size larger than 4194304"],
  [13, "Failed to decompress gzip-encoded message"],
  [0, "whatever"],
  [17, "a code that does not exist"],
  [-1, "a code that does not exist"],
  [Number.NaN, "a code that is no number"],
];
for (const [code, details] of malformed)
  test(`${code} "${details}" is a malformed reply: the driver has answered, the outcome is unknown`, () => {
    const faultCode = faultCodeOf({ code, details });
    assert.equal(faultCode, "MalformedReply");
    assert.equal(faults[faultCode].final, false);
  });

for (const code of Object.keys(faults) as FaultCode[])
  test(`${code} travels under a number of the fault table, and never becomes more final on the way`, () => {
    const status = grpcStatusOf(new Fault(code, "text"));
    const arrived = faultCodeOf(status);
    assert.equal(faults[arrived].grpc, status.code);
    if (faults[code].grpc !== 2) assert.equal(status.code, faults[code].grpc);
    if (!faults[code].final) assert.equal(faults[arrived].final, false);
  });

test("a long error text is truncated to the header limit", () =>
  assert.equal(grpcStatusOf(new Fault("Internal", "x".repeat(1e6))).details.length, limits.csiErrorCharsMax));

test("metrics name the status as Go does", () => {
  const codes = ["Cancelled", "UnknownOutcome", "Conflict", "DeadlineExceeded"] as const;
  const named = [undefined, ...codes.map((code) => new Fault(code, ""))].map(grpcNameOf);
  assert.deepEqual(named, ["OK", "Canceled", "Unknown", "Aborted", "DeadlineExceeded"]);
});

test("a driver's error prints as in Go and keeps its code: a plain error of a Go driver is Unknown", () => {
  const unknown = new CallAnswer({ code: 2, details: "disk is missing" });
  assert.deepEqual([unknown.code, grpcNameOf(unknown)], ["Internal", "Unknown"]);
  assert.equal(unknown.message, "rpc error: code = Unknown desc = disk is missing");
  assert.equal(
    new CallAnswer({ code: 9, details: "" }).message,
    "rpc error: code = FailedPrecondition desc = no reason given",
  );
});
