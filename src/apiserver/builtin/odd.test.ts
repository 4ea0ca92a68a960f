/** Whatever a client leaves out or sends as null, a strategy answers with field errors, never with an exception. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aContext, decoded } from "../../../test/strategy.ts";
import { clone, type JsonObject, type JsonValue } from "../../base/json.ts";
import table from "../../schema/go/types.generated.json" with { type: "json" };
import { type GoStruct, type GoType, goStruct } from "../../schema/go/types.ts";
import type { ApiObject } from "../contracts.ts";
import { Refusal } from "../status.ts";
import { createStrategies } from "./strategies.ts";

const strategies = createStrategies();
const depthMax = 6;

/** Objects of a Go type with fields missing, null, empty or present, at every depth. */
function anything(type: GoType, depth: number): fc.Arbitrary<JsonValue> {
  switch (type.kind) {
    case "scalar":
      return type.of === "string"
        ? fc.constantFrom("", "a", "A b", "x/y")
        : type.of === "bool"
          ? fc.boolean()
          : fc.constantFrom(0, -1, 1, 70_000);
    case "opaque":
      return fc.constantFrom<JsonValue>(
        ...(type.of === "resource.Quantity"
          ? ["0", "1Gi", "-1"]
          : type.of === "intstr.IntOrString"
            ? [1, "x"]
            : ["2024-01-01T00:00:00.000000Z"]),
      );
    case "bytes":
      return fc.constantFrom("", "YQ==");
    case "pointer":
      return anything(type.of, depth);
    case "list":
      return fc.array(anything(type.of, depth), { maxLength: 2 }) as fc.Arbitrary<JsonValue>;
    case "map":
      return fc.dictionary(fc.constantFrom("a", "storage", "A b"), anything(type.of, depth), {
        maxKeys: 2,
      }) as fc.Arbitrary<JsonValue>;
    case "struct":
      return depth > depthMax ? fc.constant({}) : anyStruct(type.fields(), depth + 1);
  }
}

const anyStruct = (struct: GoStruct, depth: number): fc.Arbitrary<JsonValue> =>
  fc.record(
    Object.fromEntries(
      struct.fields
        .filter(({ name }) => name !== "metadata" || depth > 1)
        .map(({ name, type }) => [
          name,
          fc.option(
            fc.oneof(
              { weight: 1, arbitrary: fc.constant(null as JsonValue) },
              { weight: 3, arbitrary: fc.constant(type).chain((one) => anything(one, depth)) },
            ),
            { nil: undefined, freq: depth > 3 ? 1 : 3 },
          ),
        ]),
    ),
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonValue>;

function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

for (const root of Object.keys(table.roots)) {
  const [group, version, kind] = root.split("/").length === 2 ? ["", ...root.split("/")] : root.split("/");
  const strategy = strategies[`${group}/${kind}`];
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const struct = goStruct(apiVersion ?? "", kind ?? "");
  if (strategy === undefined || struct === undefined) continue;
  test(`validation of any ${kind} of ${apiVersion} does not throw`, () => {
    const context = aContext();
    const objects = anyStruct(struct, 0).map((body) => ({
      ...(withoutUndefined(body) as JsonObject),
      apiVersion: apiVersion ?? "",
      kind: kind ?? "",
      metadata: { name: "a", namespace: "n" },
    }));
    const judged = (body: JsonObject, old?: ApiObject): ApiObject | undefined => {
      try {
        const object = decoded(strategy, body, context);
        if (old === undefined) {
          strategy.prepareForCreate?.(object, context);
          strategy.validateCreate?.(object, context);
        } else {
          strategy.prepareForUpdate?.(object, clone(old) as ApiObject, context);
          strategy.validateUpdate?.(object, old, context);
        }
        strategy.warnings?.(object, old, context);
        strategy.graceSeconds?.(object, undefined);
        return object;
      } catch (reason) {
        assert.ok(reason instanceof Refusal, reason instanceof Error ? reason.stack : String(reason));
        return undefined;
      }
    };
    fc.assert(
      fc.property(objects, objects, (first, second) => {
        const stored = judged(first);
        if (stored !== undefined) judged(second, stored);
      }),
      { numRuns: 40, seed: 7 },
    );
  });
}
