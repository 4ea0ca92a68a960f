import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryLog } from "../../test/csi-sockets.ts";
import { debugVerbosity } from "../base/log.ts";
import type { Measurement } from "../kube/call.ts";
import { traced } from "./traced.ts";

const path = "/api/v1/namespaces/team/persistentvolumeclaims/data";
const patched: Measurement = { method: "PATCH", path, code: "200", ms: 12.4 };

test("at verbosity 5 a request that changes something is a line with its duration, a read is none, and both are measured", () => {
  const log = createMemoryLog();
  const measured: Measurement[] = [];
  const measure = traced(log, (measurement) => void measured.push(measurement));
  const read = { ...patched, method: "GET" };
  const refused = { ...patched, method: "DELETE", code: "403" };
  const lost = { ...patched, method: "POST", code: "<error>" };
  for (const measurement of [patched, read, refused, lost]) measure?.(measurement);
  const line = { level: "trace", message: "api write finished", path, tookMs: 12 };
  assert.deepEqual(log.lines, [
    { ...line, method: "PATCH", code: "200" },
    { ...line, method: "DELETE", code: "403" },
    { ...line, method: "POST", code: "<error>" },
  ]);
  assert.deepEqual(measured, [patched, read, refused, lost]);
});

test("at verbosity 5 requests are logged also where nobody measures them", () => {
  const log = createMemoryLog();
  traced(log)?.(patched);
  assert.equal(log.lines.length, 1);
});

test("below verbosity 5 a request costs nothing", () => {
  const measure = () => undefined;
  const log = { ...createMemoryLog(), verbosity: debugVerbosity };
  assert.equal(traced(log, measure), measure);
  assert.equal(traced(log), undefined);
});
