import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isFault } from "../base/fault.ts";
import { createFrameDecoder } from "./frames.ts";

/** The bytes cut at the given places. */
function cutAt(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index] ?? 0, end));
}

const frames = fc.array(
  fc.record({ type: fc.constant("ADDED"), object: fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()) }),
);

test("any chunking gives the same frames, also within a character", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(10_000)), (events, places) => {
      const lines = events.map((event) => JSON.stringify(event));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const decoder = createFrameDecoder();
      const decoded = cutAt(bytes, places).flatMap((chunk) => decoder.push(chunk));
      decoder.end();
      assert.deepEqual(decoded, lines);
    }),
  );
});

test("a stream that ends within a frame is a fault", () => {
  const bytes = Buffer.from('{"type":"ADDED","object":{"name":"ä"}}\n');
  for (let length = 1; length < bytes.length; length++) {
    const decoder = createFrameDecoder();
    assert.deepEqual(decoder.push(bytes.subarray(0, length)), []);
    assert.throws(
      () => decoder.end(),
      (reason) => isFault(reason, "UnknownOutcome") && reason.message.includes(`${length} bytes`),
    );
  }
});

test("text chunks, blank lines and carriage returns are accepted", () => {
  const decoder = createFrameDecoder();
  assert.deepEqual(decoder.push('{"a":1}\r\n\r\n\n{"b"'), ['{"a":1}\r']);
  assert.deepEqual(decoder.push(new Uint8Array([0x3a, 0x32, 0x7d, 0x0a, 0x20])), ['{"b":2}']);
  decoder.end();
});

test("whole lines of text give the same frames as their bytes, and are decoded only where that changes something", () => {
  const text = '{"name":"ä"}\n\r\n{"name":"b"}\r\n';
  const decoded: string[] = [];
  const decode = (bytes: Buffer, start: number, end: number): string => {
    decoded.push(bytes.toString("utf8", start, end));
    return decoded.at(-1) ?? "";
  };
  const frames = ['{"name":"ä"}', '{"name":"b"}\r'];
  assert.deepEqual(createFrameDecoder().push(text), createFrameDecoder().push(Buffer.from(text)));
  assert.deepEqual(createFrameDecoder({ decode, isFinalText: () => true }).push(text), frames);
  assert.equal(decoded.length, 0);
  assert.deepEqual(createFrameDecoder({ decode, isFinalText: () => false }).push(text), frames);
  assert.ok(decoded.includes('{"name":"ä"}'));
});

test("a frame without an end fails at the size limit", () => {
  const decoder = createFrameDecoder({ bytesMax: 1_000 });
  assert.throws(
    () => {
      for (let chunks = 0; chunks < 20; chunks++) decoder.push("x".repeat(100));
    },
    (reason) => isFault(reason, "UnknownOutcome") && reason.message.includes("1000 bytes"),
  );
});
