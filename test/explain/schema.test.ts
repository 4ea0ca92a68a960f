/** The JSON of `explain` is what its schema says, member by member, and the schema says nothing that never comes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explanationJson } from "../../src/cli/explain/output.ts";
import { explanationSchema } from "../../src/cli/explain/schema.ts";
import { answerTo, stuckCases } from "./answer.ts";
import { now } from "./cluster.ts";

interface Schema {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** What the value breaks. A member that the schema does not know is a mistake here: programs could not know of it. */
function mistakes(value: unknown, schema: Schema, path: string, seen: Set<string>): readonly string[] {
  seen.add(path);
  if (schema.type === "array")
    return Array.isArray(value) && schema.items !== undefined
      ? value.flatMap((item) => mistakes(item, schema.items as Schema, `${path}[]`, seen))
      : [`${path} is no list`];
  if (schema.type === "object") {
    if (typeof value !== "object" || value === null) return [`${path} is no object`];
    const { properties = {}, required = [] } = schema;
    return [
      ...required.filter((name) => !(name in value)).map((name) => `${path}.${name} is missing`),
      ...Object.entries(value).flatMap(([name, member]) =>
        properties[name] === undefined
          ? [`${path}.${name} is not in the schema`]
          : mistakes(member, properties[name], `${path}.${name}`, seen),
      ),
    ];
  }
  if (typeof value !== "string") return [`${path} is no text`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${path} is ${value}`];
  return schema.format === "date-time" && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)
    ? [`${path} is no date`]
    : [];
}

function pathsIn(schema: Schema, path = ""): readonly string[] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, each]) => pathsIn(each, `${path}.${name}`));
  return [path, ...below, ...(schema.items === undefined ? [] : pathsIn(schema.items, `${path}[]`))];
}

test("the JSON of every case is what the schema says, and every member of the schema comes in some case", async () => {
  const schema = explanationSchema as unknown as Schema;
  const seen = new Set<string>();
  const found: string[] = [];
  for (const each of stuckCases) {
    const answer = await answerTo(each);
    assert.ok(answer !== undefined);
    const json: unknown = JSON.parse(JSON.stringify(explanationJson(answer, Date.parse(now))));
    found.push(...mistakes(json, schema, "", seen).map((mistake) => `${each.given}: ${mistake}`));
  }
  assert.deepEqual(found, []);
  assert.deepEqual(
    pathsIn(schema).filter((path) => !seen.has(path) && !path.endsWith(".namespace")),
    [],
  );
});
