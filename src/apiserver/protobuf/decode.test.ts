import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonValue } from "../../base/json.ts";
import { isObject, parse } from "../../base/json.ts";
import { Refusal } from "../status.ts";
import { decodeProtobuf } from "./decode.ts";

interface Vector {
  readonly name: string;
  /** What client-go sends, in base64. */
  readonly body: string;
  /** What it would have sent as JSON. */
  readonly value: JsonValue;
}

const vectorsIn = (file: string): readonly Vector[] =>
  parse(readFileSync(new URL(file, import.meta.url), "utf8")) as unknown as readonly Vector[];
/** Written by Kubernetes' own serializer. */
const vectors = [...vectorsIn("vectors.json"), ...vectorsIn("vectors-workloads.generated.json")];
const bodyOf = (vector: Vector | undefined): Uint8Array => Buffer.from(vector?.body ?? "", "base64");

/** Go writes a zero time and an unset list as null and an unset struct as {}: to the server all are absent. */
function withoutEmpty(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, item ?? null] as const);
  const kept = entries.filter(([key, item]) => item !== null && !(isObject(item) && unset(key, item)));
  return Object.fromEntries(kept.map(([key, item]) => [key, key === "fieldsV1" ? item : withoutEmpty(item)]));
}
const unset = (key: string, item: JsonValue): boolean =>
  isObject(item) &&
  !["nodeTopology", "fieldsV1", "emptyDir"].includes(key) &&
  Object.values(item).every((inner) => isObject(inner) && unset("", inner));

for (const vector of vectors.filter(({ name }) => !name.includes("not read")))
  test(`${vector.name} sent as protobuf is the object it would be as JSON`, () => {
    assert.deepEqual(decodeProtobuf(bodyOf(vector)), withoutEmpty(vector.value));
  });

const refusedWith = (code: number) => (reason: unknown) => reason instanceof Refusal && reason.status.code === code;

test("protobuf for a kind that Go components do not send is rejected with 415", () => {
  const pod = vectors.find(({ name }) => name.includes("not read"));
  assert.throws(() => decodeProtobuf(bodyOf(pod)), refusedWith(415));
});

test("a protobuf body without the envelope is a bad request", () => {
  assert.throws(() => decodeProtobuf(Buffer.from("{}")), refusedWith(400));
});

test("a truncated or changed protobuf body is decoded or rejected, without other effects", () => {
  const claim = bodyOf(vectors[0]);
  const change = fc.record({ at: fc.nat(claim.length - 1), byte: fc.nat(255), cut: fc.nat(claim.length) });
  fc.assert(
    fc.property(change, ({ at, byte, cut }) => {
      const bytes = Uint8Array.from(claim.subarray(0, Math.max(cut, 4)));
      if (at < bytes.length) bytes[at] = byte;
      try {
        decodeProtobuf(bytes);
      } catch (reason) {
        assert.ok(reason instanceof Refusal, String(reason));
      }
    }),
    { numRuns: 300 },
  );
});
