/** CEL rules: what compiles, what is said when not, and what rules say to objects. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, patch, type Script, script } from "../script.ts";
import { aDefinition, definitions, install } from "./custom.ts";

const word = { type: "string", maxLength: 20 };
const properties: JsonObject = {
  name: word,
  count: { type: "integer" },
  ratio: { type: "number" },
  on: { type: "boolean" },
  port: { "x-kubernetes-int-or-string": true, maxLength: 10 },
  list: { type: "array", maxItems: 5, items: { type: "integer" } },
  words: { type: "array", maxItems: 5, "x-kubernetes-list-type": "set", items: word },
  labels: { type: "object", maxProperties: 5, additionalProperties: word },
  when: { type: "string", format: "date-time" },
  long: { type: "string", format: "duration" },
  maybe: { type: "string", nullable: true, maxLength: 5 },
  obj: { type: "object", properties: { a: word } },
  "a-b": word,
  namespace: word,
};

const withRule = (rule: JsonObject): JsonObject =>
  aDefinition({
    plural: "trials",
    kind: "Trial",
    schema: {
      type: "object",
      properties: { spec: { type: "object", properties, "x-kubernetes-validations": [rule] } },
    },
  });

/** Each is refused, with the place and the reason. */
const mistakes: readonly string[] = [
  ...["self.foo == 1", "self.name.x == 'a'", "foo == 1", "self.name == 1", "self.name == null", "1 == 1.0"],
  ...["self.name.startsWith(1)", "foo(1)", "self.name.foo()", "self.name && true", "true || self.count", "!self.name"],
  ...[
    "self.count.all(x, true)",
    "[1, 'a'] == []",
    "{'a': 1, 'b': 'x'} == {}",
    "self.list.all(x, x)",
    "self.list.filter(x, x) == []",
  ],
  ...[
    "self.labels['a'] == 1",
    "self.labels[1] == 'a'",
    "self.list['a'] == 1",
    "has(self.foo)",
    "has(self.obj.b)",
    "self.name",
    "null",
  ],
  ...[
    "self.on ? self.name : self.count",
    "self.count ? true : false",
    "size(self.count) == 1",
    "duration('1x') == self.long",
  ],
  ...[
    "timestamp('x') == self.when",
    "self.name.matches('(')",
    "self.when > self.long",
    "quantity(self.count)",
    "self.words + self.list == []",
  ],
  ...[
    "self.words.sum() == 1",
    "self.list.join(',') == 'a'",
    "self.?foo.orValue('x') == 'x'",
    "self.?name == 'x'",
    "bool(self.count)",
  ],
  ...[
    "self.count + 1.0 > 2.0",
    "self.name + 1 == 'a'",
    "self.ratio % 2.0 == 1.0",
    "self.",
    "1 +",
    "self.name ==",
    "self.list[",
    "(1",
  ],
  ...[
    "has(self)",
    "self.list.all(1, true)",
    "for == 1",
    "'a' 'b'",
    "1u + 1 == 2u",
    "sets.contains(self.words, [1])",
    "math.greatest(1, 2) == 2",
  ],
  ...[
    "self.obj == {'a': 'b'}",
    "size(self) == 1",
    "self.words.filter(w, w.size())",
    "cel.bind(x, 1, x == 1)",
    "self.metadata.name == 'x'",
  ],
];

const trials: readonly Script[] = mistakes.map((rule) =>
  script(`a definition with the rule ${rule}`, create(`${definitions}?dryRun=All`, withRule({ rule }))),
);

/** Each is asked of an object, and holds or not. */
const asked: readonly string[] = [
  "self.count == 3",
  "self.count > 5",
  "self.ratio > 1.4 && self.ratio < 1.6",
  "self.name.startsWith('sn') && self.name.endsWith('p') && self.name.contains('na')",
  "self.name.matches('^[a-z]+$') && !self.name.matches('[0-9]')",
  "self.name.upperAscii() == 'SNAP' && self.name.size() == 4 && self.name.charAt(1) == 'n'",
  "self.name.replace('s', 'x') == 'xnap' && self.name.substring(1, 3) == 'na' && self.name.indexOf('a') == 2",
  "'a,b'.split(',') == ['a', 'b'] && self.words.join('-') == 'a-b'",
  "self.list.all(i, i > 0) && self.list.exists(i, i == 2) && self.list.exists_one(i, i == 1)",
  "self.list.map(i, i * 2) == [6, 2, 4] && self.list.filter(i, i > 1) == [3, 2]",
  "self.list.sum() == 6 && self.list.min() == 1 && self.list.max() == 3 && !self.list.isSorted()",
  "self.list.sort() == [1, 2, 3] && self.list.reverse() == [2, 1, 3] && self.list.slice(0, 1) == [3]",
  "self.words == ['b', 'a'] && self.words + ['c'] == ['c', 'b', 'a']",
  "sets.contains(self.words, ['a']) && sets.equivalent(self.words, ['b', 'a'])",
  "self.labels.all(k, self.labels[k] == '1') && 'x' in self.labels && self.labels.size() == 1",
  "self.labels.y == '1'",
  "self.list[5] == 1",
  "self.count / 0 == 1",
  "self.port > 5",
  "type(self.port) == string && self.port == '80%'",
  "self.when.getFullYear() == 2024 && self.when.getMonth() == 1 && self.when > timestamp('2024-01-01T00:00:00Z')",
  "self.long == duration('90m') && self.long.getMinutes() == 90 && string(self.long) == '5400s'",
  "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1Gi') == quantity('1024Mi')",
  "url('https://a.example:8080/p').getHostname() == 'a.example' && url('https://a:1/p').getPort() == '1'",
  "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
  "!format.dns1123Label().validate('a-b').hasValue()",
  "semver('1.2.3').isLessThan(semver('1.10.0'))",
  "self.?obj.?a.orValue('none') == 'none' && !has(self.obj)",
  "self.a__dash__b == 'dash' && self.__namespace__ == 'team' && self.namespace == 'team'",
  "dyn(self.maybe) == null",
  "string(self.count) == '3' && int('5') == 5 && string(1000000.0) == '1e+06'",
  "false",
  "self.name == 'x' || self.labels.y == 'z' || true",
];

const evaluations: readonly Script[] = asked.map((rule, index) => {
  const group = `r${index}.example.com`;
  const list = `/apis/${group}/v1/namespaces/$NS/asks`;
  const definition = aDefinition({
    plural: "asks",
    kind: "Ask",
    group,
    schema: {
      type: "object",
      properties: { spec: { type: "object", properties, "x-kubernetes-validations": [{ rule }] } },
    },
  });
  const spec = {
    ...{
      name: "snap",
      count: 3,
      ratio: 1.5,
      on: true,
      port: "80%",
      list: [3, 1, 2],
      words: ["a", "b"],
      labels: { x: "1" },
    },
    ...{ when: "2024-02-29T12:30:00Z", long: "90m", maybe: null, "a-b": "dash", namespace: "team" },
  };
  const object = { apiVersion: `${group}/v1`, kind: "Ask", metadata: { name: "x" }, spec };
  return script(`an object is asked: ${rule}`, ...install(definition, `/apis/${group}/v1/asks`), create(list, object));
});

const changing = aDefinition({
  plural: "changes",
  kind: "Change",
  group: "rules.example.com",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        "x-kubernetes-validations": [
          { rule: "has(self.a) != has(self.b)", message: "exactly one of a and b must be set" },
          { rule: "self.limit <= 10", messageExpression: "'limit' + ' is above 10'" },
        ],
        properties: {
          a: {
            type: "string",
            maxLength: 9,
            "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "a is immutable" }],
          },
          b: { type: "string", maxLength: 9 },
          limit: { type: "integer", default: 1 },
          mode: {
            type: "string",
            maxLength: 9,
            "x-kubernetes-validations": [
              { rule: "self != 'bad'" },
              {
                rule: "!oldSelf.hasValue() || self.size() >= oldSelf.value().size()",
                optionalOldSelf: true,
                message: "must not shrink",
              },
            ],
          },
          entries: {
            type: "array",
            maxItems: 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            items: {
              type: "object",
              required: ["k"],
              properties: {
                k: { type: "string", maxLength: 9 },
                v: {
                  type: "integer",
                  "x-kubernetes-validations": [
                    { rule: "self >= oldSelf", message: "only grows", reason: "FieldValueForbidden" },
                  ],
                },
              },
            },
          },
          nested: {
            type: "object",
            properties: { x: { type: "object", properties: { y: { type: "integer" } } } },
            "x-kubernetes-validations": [
              { rule: "self.x.y > 0", fieldPath: ".x.y", reason: "FieldValueRequired", message: "set y" },
            ],
          },
          number: {
            type: "integer",
            "x-kubernetes-validations": [{ rule: "self != 13", reason: "FieldValueDuplicate" }],
          },
        },
      },
    },
  },
});

const changes = "/apis/rules.example.com/v1/namespaces/$NS/changes";
const aChange = (spec: JsonObject): JsonObject => ({
  apiVersion: "rules.example.com/v1",
  kind: "Change",
  metadata: { name: "c" },
  spec: { a: "x", ...spec },
});
const created = (name: string, spec: JsonObject): Script =>
  script(`rules at creation: ${name}`, create(changes, aChange(spec)));
const changed = (name: string, from: JsonObject, to: JsonObject): Script =>
  script(`rules at an update: ${name}`, create(changes, aChange(from)), patch("merge", `${changes}/c`, { spec: to }));

const transitions: readonly Script[] = [
  script(
    "a definition whose rules look back is established",
    ...install(changing, "/apis/rules.example.com/v1/changes"),
  ),
  created("all in order", {}),
  created("both of two", { b: "y" }),
  created("a computed message", { limit: 11 }),
  created("a rule without a message", { mode: "bad" }),
  created("a reason and a path", { nested: { x: { y: 0 } } }),
  created("a value that is not there", { nested: {} }),
  created("a duplicate", { number: 13 }),
  created("a type that stops all rules", { limit: "many", mode: "bad" }),
  created("a bound that stops all rules", { b: "far too long for this" }),
  changed("what must not change", {}, { a: "y" }),
  changed("what must not change is removed", {}, { a: null, b: "y" }),
  changed("what must not shrink", { mode: "long" }, { mode: "x" }),
  changed("what was not there", {}, { mode: "x" }),
  changed(
    "an entry found by its key",
    { entries: [{ k: "a", v: 2 }] },
    {
      entries: [
        { k: "new", v: 0 },
        { k: "a", v: 1 },
      ],
    },
  ),
  changed("a new entry", { entries: [{ k: "a", v: 2 }] }, { entries: [{ k: "b", v: 1 }] }),
];

export const ruleScripts: readonly Script[] = [...trials, ...transitions, ...evaluations];
