/** Custom objects against their schema: what is refused and how, what is dropped, what is filled in. */
import type { JsonObject, JsonValue } from "../../../../src/base/json.ts";
import { create, get, patch, replace, type Script, script } from "../script.ts";
import { aThing, things } from "./custom.ts";

const single: Readonly<Record<string, JsonObject>> = {
  "only what must be": {},
  "a text that is too short": { text: "a" },
  "a text that is too long": { text: "abcdef" },
  "a text of five characters in many bytes": { text: "äöüß😀" },
  "a text where a number belongs": { number: "five" },
  "a number where a text belongs": { text: 5 },
  "a fraction where a whole number belongs": { number: 3.5 },
  "a whole number written as a fraction": { number: 4.0 },
  "a number below the minimum": { number: 2 },
  "a number above the maximum": { number: 11 },
  "a number on an excluded minimum": { between: 1 },
  "a number on an excluded maximum": { between: 2.5 },
  "a number between": { between: 1.5 },
  "a number that is no multiple": { even: 3 },
  "a number beyond int32": { small: 2147483648 },
  "a boolean as text": { on: "true" },
  "an object where a text belongs": { text: { a: 1 } },
  "a list where a text belongs": { text: ["a"] },
  "an unknown policy": { policy: "Keep" },
  "an unknown level": { level: 3 },
  "a policy of the wrong type": { policy: 5 },
  "a text that does not match": { pattern: "A1" },
  "a time that is none": { time: "yesterday" },
  "a time that is one": { time: "2024-02-29T12:00:00.5+01:00" },
  "a time that is a number": { time: 5 },
  "a day that is none": { day: "2023-02-29" },
  "an id that is none": { id: "1-2-3" },
  "an address that is none": { address: "10.0.0.300" },
  "bytes that are none": { bytes: "%%" },
  "a format nobody knows": { odd: "anything" },
  "an empty list": { list: [] },
  "a list that is too long": { list: ["a", "b", "c", "d"] },
  "a list with an entry that is too long": { list: ["a", "bbbb"] },
  "a list with an entry of the wrong type": { list: ["a", 5] },
  "a set with a double": { set: ["a", "b", "a", "a"] },
  "a map with a double": { map: [{ key: "a" }, { key: "a", port: 81 }, { key: "a", port: 80 }] },
  "a map entry without its key": { map: [{ port: 1 }] },
  "labels that are too many": { labels: { a: "1", b: "2", c: "3" } },
  "labels that are too few": { labels: {} },
  "a label that is too long": { labels: { a: "1234" } },
  "a label of the wrong type": { labels: { a: 1 } },
  "a null that is allowed": { maybe: null },
  "a null that is not": { text: null },
  "a null in a list": { list: [null] },
  "a null with a default": { defaulted: null },
  "a null in a map": { labels: { a: null } },
  "no choice": { choice: {} },
  "two choices": { choice: { a: "1", b: "2" } },
  "one choice": { choice: { a: "1" } },
  "none of some": { some: {} },
  "both of some": { some: { a: "1", b: "2" } },
  "one of all": { all: "ab" },
  "none of all": { all: "a" },
  "what must not be": { not: "never" },
  "a number for a number or text": { either: 5 },
  "a text for a number or text": { either: "5%" },
  "a boolean for a number or text": { either: true },
  "unknown fields": { foo: 1, nested: { bar: 2 }, list: ["a"] },
  "unknown fields where they are kept": { open: { known: "x", more: { deep: [1, 2] } } },
  "a value of the wrong type where others are kept": { open: { known: 5 } },
  "an embedded object": {
    embedded: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", foo: 1 }, data: { a: "b" } },
  },
  "an embedded object without a kind": { embedded: { apiVersion: "v1" } },
  "an embedded object with a bad name": { embedded: { apiVersion: "v1", kind: "Pod", metadata: { name: "a/b" } } },
  "half of the nested object": { nested: { note: "x" } },
  "a nested null": { nested: null },
  "a nested null that is allowed": { nested: { also: null } },
  "several mistakes at once": { text: "a", number: 99, policy: "x", list: [] },
};

const creations: readonly Script[] = Object.entries(single).map(([name, fields]) =>
  script(`a custom object with ${name}`, create(things, aThing(fields)), get(`${things}/t`)),
);

const big =
  '{"apiVersion":"schema.example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"must":"x","large":9007199254740993}}';
const bigger = big.replace("9007199254740993", "9223372036854775808");

/** More than a float64 holds. */
const endless = big.replace("9007199254740993", "1e400").replace('"large"', '"between"');
const asYaml = { type: "application/yaml" };
const yamlThing = (value: string): string =>
  `apiVersion: schema.example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {must: x, open: {x: ${value}}}\n`;

const outOfRange: readonly Script[] = [
  script("a custom object with a number out of range", create(things, endless), get(`${things}/t`)),
  script("a custom object with an unknown number out of range", create(things, endless.replace('"between"', '"foo"'))),
  script(
    "a patch with a number out of range",
    create(things, aThing()),
    patch("merge", `${things}/t`, '{"spec":{"between":1e400}}'),
    patch("json", `${things}/t`, '[{"op":"add","path":"/spec/between","value":1e400}]'),
    get(`${things}/t`),
  ),
  ...["1e400", "-1e400", "1e-400", ".inf", "-.inf", ".nan"].map((value) =>
    script(`a custom object in YAML with ${value}`, create(things, yamlThing(value), asYaml)),
  ),
  script(
    "an applied custom object with a number out of range",
    patch("apply", `${things}/t?fieldManager=me`, yamlThing("1e400")),
    patch("apply", `${things}/u?fieldManager=me`, endless.replace('"name":"t"', '"name":"u"')),
  ),
];

const strictness: readonly Script[] = ["Strict", "Warn", "Ignore"].map((how) =>
  script(
    `unknown fields with fieldValidation=${how}`,
    create(`${things}?fieldValidation=${how}`, aThing({ foo: 1, nested: { bar: 2 }, open: { x: 1 } }, { foo: 1 })),
    create(
      `${things}?fieldValidation=${how}`,
      '{"apiVersion":"schema.example.com/v1","kind":"Thing","metadata":{"name":"u"},"spec":{"must":"x","must":"y","nested":{"deep":1,"deep":2}}}',
    ),
    patch("merge", `${things}/t?fieldValidation=${how}`, { spec: { unknown: 1 } }),
  ),
);

const odd: readonly Script[] = [
  script("a custom object with an integer beyond 2^53", create(things, big), get(`${things}/t`)),
  script("a custom object with an integer beyond 2^63", create(things, bigger)),
  script(
    "a custom object without a spec",
    create(things, { apiVersion: "schema.example.com/v1", kind: "Thing", metadata: { name: "t" } }),
  ),
  script("a custom object of another kind", create(things, { ...aThing(), kind: "Other" })),
  script(
    "a custom object that does not say its kind",
    create(things, { metadata: { name: "t" }, spec: { must: "x" } }),
  ),
  script(
    "a custom object that does not say its version",
    create(things, { kind: "Thing", metadata: { name: "t" }, spec: { must: "x" } }),
  ),
  script(
    "a custom object of another version",
    create(`${things}?fieldValidation=Ignore`, { ...aThing(), apiVersion: "schema.example.com/v2" }),
  ),
  script("a custom object with labels of the wrong type", create(things, aThing({}, { labels: { a: 1 } }))),
  script("a custom object with metadata that is none", create(things, { ...aThing(), metadata: "x" })),
  script("a custom object whose spec is a list", create(things, { ...aThing(), spec: [] })),
  script("a custom object whose spec is a text", create(things, { ...aThing(), spec: "x" })),
];

const update = (name: string, before: JsonObject, after: JsonObject): Script =>
  script(
    `an update of a custom object ${name}`,
    create(things, aThing(before)),
    patch("merge", `${things}/t`, { spec: after }),
    get(`${things}/t`),
  );

const updates: readonly Script[] = [
  update("sets a field", {}, { number: 5 }),
  update("sets a bad value", {}, { number: 50 }),
  update("removes what must be", {}, { must: null }),
  update("removes a default", {}, { defaulted: null }),
  update("adds a double to a set", { set: ["a"] }, { set: ["a", "a"] }),
  update("adds an unknown field", {}, { foo: 1 }),
  update("sets a null that is allowed", {}, { maybe: null }),
];

/** Objects stored before a rule existed: the rule is added by changing the definition. */
const status: readonly Script[] = [
  script(
    "status is written apart from spec",
    create(things, { ...aThing(), status: { phase: "Ready" } }),
    patch("merge", `${things}/t/status`, { status: { phase: "Ready", count: 3 }, spec: { number: 5 } }),
    patch("merge", `${things}/t`, { status: { phase: "Gone" }, spec: { number: 6 } }),
    get(`${things}/t/status`),
  ),
  script(
    "a bad status is refused, and its fields are named from the status",
    create(things, aThing()),
    patch("merge", `${things}/t/status`, { status: { phase: "Gone" } }),
    patch("merge", `${things}/t/status`, { status: { count: "many" } }),
    patch("merge", `${things}/t/status`, { status: { foo: 1 } }),
    patch("merge", `${things}/t/status`, { status: { phase: 5, count: 1.5 } }),
  ),
  script(
    "generation counts changes of spec only",
    create(things, aThing()),
    patch("merge", `${things}/t`, { metadata: { labels: { a: "b" } } }),
    patch("merge", `${things}/t`, { spec: { number: 5 } }),
    patch("merge", `${things}/t/status`, { status: { count: 1 } }),
    replace(`${things}/t`, aThing({ number: 7 })),
  ),
];

const dryRuns: readonly Script[] = [
  script(
    "a dry run validates and defaults without storing",
    create(`${things}?dryRun=All`, aThing({ text: "a" })),
    create(`${things}?dryRun=All`, aThing()),
    get(`${things}/t`),
  ),
];

const deep = (depth: number): JsonValue => (depth === 0 ? {} : { a: deep(depth - 1) });
const keeping: readonly Script[] = [
  script("a deep object where everything is kept", create(things, aThing({ open: deep(50) })), get(`${things}/t`)),
];

export const valueScripts: readonly Script[] = [
  ...creations,
  ...strictness,
  ...odd,
  ...outOfRange,
  ...updates,
  ...status,
  ...dryRuns,
  ...keeping,
];
