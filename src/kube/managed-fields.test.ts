import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { textWithoutManagedFields } from "./managed-fields.ts";

const withoutManagedFields = (text: string, brace = 0): string => {
  const bytes = Buffer.from(text);
  return textWithoutManagedFields(bytes, 0, bytes.length, brace);
};

const key = fc.oneof(
  fc.constantFrom("managedFields", "metadata", "name", 'a"managedFields', "object", "spec"),
  fc.string(),
);
const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.constantFrom('"managedFields":[', '{"metadata":{"managedFields":[]}}', "]}", "\\", '\\"'),
    fc.integer(),
    fc.constantFrom(null, true),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(key, tie("value"), { maxKeys: 5 }),
}));
/** What happens to the parsed object: the field goes if it is a list, and nothing else does. */
function dropped(object: Record<string, unknown>): unknown {
  const { metadata } = object;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return object;
  const { managedFields, ...rest } = metadata as Record<string, unknown>;
  return Array.isArray(managedFields) ? { ...object, metadata: rest } : object;
}

const kubeObject = fc
  .tuple(json.object, json.object, fc.array(json.object, { maxLength: 3 }))
  .map(([object, metadata, managedFields]) => ({ ...object, metadata: { ...metadata, managedFields } }));

test("the stripped text is the text of the object without managedFields, for every object", () => {
  fc.assert(
    fc.property(fc.oneof(json.object, kubeObject), (object) => {
      const own = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
      assert.deepEqual(JSON.parse(withoutManagedFields(JSON.stringify(object))), dropped(own));
    }),
    { numRuns: 1_000 },
  );
});

test("managedFields are stripped from the object inside a watch frame", () => {
  const frame = (metadata: string): string => `{"type":"ADDED","object":{"kind":"X","metadata":${metadata}}}`;
  const brace = frame("").indexOf('{"kind"');
  for (const [given, then] of [
    ['{"managedFields":[{"a":["]"]}]}', "{}"],
    ['{"managedFields":[],"name":"n"}', '{"name":"n"}'],
    ['{"name":"n","managedFields":[1]}', '{"name":"n"}'],
    ['{"labels":{"managedFields":[1]},"name":"n"}', '{"labels":{"managedFields":[1]},"name":"n"}'],
  ] as const)
    assert.equal(withoutManagedFields(frame(given), brace), frame(then));
});

test("a truncated text is returned unchanged, so that the parser reports it", () => {
  for (const text of ["", "{", '{"metadata":{"managedFields":[', '{"metadata":{"name":"x'])
    assert.throws(() => JSON.parse(withoutManagedFields(text)));
});
