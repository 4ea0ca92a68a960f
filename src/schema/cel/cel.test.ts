import assert from "node:assert/strict";
import { test } from "node:test";
import { quickly } from "../../../test/quickly.ts";
import { readSchema } from "../node.ts";
import { CelProblems, printProblems } from "./ast.ts";
import { checkCel } from "./check.ts";
import { compileCel } from "./compile.ts";
import { celTypeOf, celValueOf } from "./data.ts";
import { escapeName, unescapeName } from "./escape.ts";
import { parseCel } from "./parse.ts";
import { printType, types } from "./types.ts";
import { celEquals, type Value } from "./value.ts";

const schema = readSchema({
  type: "object",
  properties: {
    name: { type: "string" },
    count: { type: "integer" },
    ratio: { type: "number" },
    big: { type: "integer", format: "int64" },
    on: { type: "boolean" },
    port: { "x-kubernetes-int-or-string": true },
    list: { type: "array", items: { type: "integer" } },
    words: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    labels: { type: "object", additionalProperties: { type: "string" } },
    entries: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key"],
      items: { type: "object", properties: { key: { type: "string" }, value: { type: "integer" } } },
    },
    when: { type: "string", format: "date-time" },
    long: { type: "string", format: "duration" },
    namespace: { type: "string" },
    "a-b": { type: "string" },
    maybe: { type: "string", nullable: true },
    size: { type: "string" },
  },
});
const object = {
  name: "snap",
  count: 3,
  ratio: 1.5,
  big: 9007199254740993n,
  on: true,
  port: "80%",
  list: [3, 1, 2],
  words: ["a", "b"],
  labels: { x: "1" },
  entries: [
    { key: "a", value: 1 },
    { key: "b", value: 2 },
  ],
  when: "2024-02-29T12:30:00Z",
  long: "90m",
  namespace: "team",
  "a-b": "dash",
  maybe: null,
  size: "5Gi",
};

const self = celTypeOf(schema, false, "selfType0") ?? types.dyn;
const variables = new Map([["self", self]]);

function evaluate(source: string): Value {
  const expression = parseCel(source);
  const checked = checkCel(expression, variables);
  assert.deepEqual(
    checked.problems.map(({ message }) => message),
    [],
    source,
  );
  return compileCel(expression, checked)({ self: celValueOf(schema, object) });
}

const truths: readonly string[] = [
  "1 + 2 * 3 == 7",
  "-3 / 2 == -1 && -3 % 2 == -1",
  "0x10 == 16 && 1u + 2u == 3u && 1e3 == 1000.0",
  "dyn(1) == 1.0 && 1 < 1.5 && 2u > 1",
  "(true ? 'a' : 'b') == 'a'",
  "self.count == 3 && self.ratio > 1.0 && self.on",
  "self.big == 9007199254740993",
  "self.name + '!' == 'snap!'",
  "size(self.name) == 4 && self.name.size() == 4 && size('😀') == 1",
  "has(self.name) && !has(self.labels.y) && has(self.labels.x)",
  "self.labels['x'] == '1' && 'x' in self.labels && !('z' in self.labels)",
  "self.list.all(i, i > 0) && self.list.exists(i, i == 2) && self.list.exists_one(i, i == 1)",
  "self.list.map(i, i * 2) == [6, 2, 4] && self.list.filter(i, i > 1) == [3, 2]",
  "self.list.map(i, i > 1, i + 1) == [4, 3]",
  "self.list.all(i, v, v > 0 && i < 3)",
  "self.labels.all(k, k == 'x') && self.labels.all(k, v, k == 'x' && v == '1')",
  "self.list.transformList(i, v, i + v) == [3, 2, 4]",
  "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
  "self.list.sum() == 6 && self.list.min() == 1 && self.list.max() == 3 && !self.list.isSorted()",
  "self.list.sort() == [1, 2, 3] && self.list.sortBy(i, -i) == [3, 2, 1] && self.list.reverse() == [2, 1, 3]",
  "[1, 1, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2] && lists.range(3) == [0, 1, 2]",
  "self.list.indexOf(1) == 1 && [1, 1].lastIndexOf(1) == 1 && self.list.slice(0, 2) == [3, 1]",
  "self.words == ['b', 'a'] && self.words + ['a', 'c'] == ['a', 'b', 'c']",
  "sets.contains(self.words, ['a']) && sets.intersects(self.words, ['a', 'z']) && sets.equivalent(self.words, ['b', 'a'])",
  "self.entries.exists(e, e.key == 'a' && e.value == 1)",
  "self.port == '80%' && type(self.port) == string && self.port.endsWith('%')",
  "'Hello'.lowerAscii() == 'hello' && 'x'.upperAscii() == 'X' && ' a '.trim() == 'a'",
  "'a,b,c'.split(',') == ['a', 'b', 'c'] && 'a,b,c'.split(',', 2) == ['a', 'b,c'] && ['a', 'b'].join('-') == 'a-b'",
  "'hello'.substring(1, 3) == 'el' && 'hello'.charAt(1) == 'e' && 'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3",
  "'aaa'.replace('a', 'b', 2) == 'bba' && 'abc'.replace('', '-') == '-a-b-c-'",
  "'abc123'.matches('^[a-z]+[0-9]+$') && 'abc 123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
  "'%s is %d and %.2f'.format([dyn('x'), 5, 1.5]) == 'x is 5 and 1.50'",
  "string(5) == '5' && int('5') == 5 && double('1.5') == 1.5 && string(1000000.0) == '1e+06' && bool('true')",
  "duration('1h30m') == self.long && self.long.getMinutes() == 90 && string(duration('90s')) == '90s'",
  "self.when.getFullYear() == 2024 && self.when.getMonth() == 1 && self.when.getDayOfYear() == 59 && self.when.getDayOfWeek() == 4",
  "self.when + duration('1h') > self.when && timestamp('2024-02-29T13:30:00+01:00') == self.when",
  "self.__namespace__ == 'team' && self.a__dash__b == 'dash'",
  "!has(self.maybe)",
  "quantity(self.size).isGreaterThan(quantity('4Gi')) && quantity('1Gi') == quantity('1024Mi') && isQuantity('5m') && !isQuantity('x')",
  "quantity('1500m').asApproximateFloat() == 1.5 && quantity('2').add(1).asInteger() == 3 && quantity('-1').sign() == -1",
  "url('https://a.example:8080/p/q?x=1&x=2').getHostname() == 'a.example' && url('https://a:1/').getPort() == '1' && isURL('/x')",
  "url('https://a/p?x=1&x=2').getQuery()['x'] == ['1', '2']",
  "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
  "isIP('::1') && ip('::1').isLoopback() && string(ip('2001:db8::0:1')) == '2001:db8::1' && cidr('10.1.0.0/16').masked() == cidr('10.1.0.0/16')",
  "!format.dns1123Label().validate('a-b').hasValue() && format.named('dns1035Label').value().validate('1').hasValue()",
  "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('1.0.0-rc.1') && !isSemver('v1') && semver('v1', true).major() == 1",
  "optional.of(1).hasValue() && optional.none().orValue(5) == 5 && self.?labels.?y.orValue('none') == 'none'",
  "self.?labels['x'].orValue('') == '1' && self.labels[?'x'].orValue('') == '1' && optional.of(2).optMap(v, v + 1).value() == 3",
  "[1, ?optional.none(), ?optional.of(2)] == [1, 2] && {?'a': optional.none()} == {}",
  "false && 1 / 0 == 1 ? false : true",
  "1 / 0 == 1 || true",
  "[0, 1].exists(i, 1 / i == 1)",
  "b'\\xff' == b'\\xff' && bytes('a') == b'a'",
  'r\'\\d\' == \'\\\\d\' && """a"b""" == \'a"b\'',
  "type(1) == int && type([]) == list && type(self.when) == google.protobuf.Timestamp",
  "{'a': [1], 'b': [1, 2]} == {'b': [1, 2], 'a': [1]}",
  "dyn(1) == 1 && [1, 2][1] == 2",
  "!quantity('9999999999999999999999999999999999999G').isInteger() && quantity('50000000G').isInteger() && !isQuantity(' 1')",
  "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/' && url('https://a').getEscapedPath() == ''",
  "url('https://a/?key with spaces=value with spaces').getQuery() == {'key with spaces': ['value with spaces']}",
  "url('/x?%zz=1&a=b=c&d').getQuery() == {'a': ['b=c'], 'd': ['']} && url('/p?a=b#f').getQuery()['a'] == ['b']",
  "!isURL('https://a:b:c/') && !isURL('../x') && !isURL('https://[::1/') && !isURL('https://a/%zz') && !isURL('https://a b/')",
  "isURL('https://user:pass@example.com:80/path?query=val#fragment') && isURL('mailto:a@b') && url('https://[::1]:80/').getHost() == '[::1]:80'",
  "duration('123.321456789s').getMilliseconds() == 123321",
  "uint('18446744073709551615') == 18446744073709551615u && double('-inf') < 0.0",
  "!isSemver('1.0.0-a..b') && !isSemver('1.0.0-01') && isSemver('1.0.0-0a+01') && !isSemver('99999999999999999999.0.0')",
  "!isCIDR('10.0.0.0/08') && isCIDR('10.0.0.0/8') && !isIP('::1.02.3.4') && isIP('::1.2.3.4')",
  "optional.unwrap([optional.of(1), optional.none()]) == [1] && [optional.none(), optional.of(2)].unwrapOpt() == [2]",
  // As the conformance tests of CEL have it.
  "'%.0f %.0f %.1f %.2f %.2f %.0f'.format([2.5, 3.5, -0.25, 1.005, 1.015, -1.5]) == '2 4 -0.2 1.00 1.01 -2'",
  "'\\u0085\\u00a0\\u1680text\\u3000'.trim() == 'text' && '\\ufefftext\\u200b'.trim() == '\\ufefftext\\u200b'",
  "!(dyn(9223372036854775807) < 9223372036854775808.0) && dyn(9223372036854775807) >= 9223372036854775808.0",
  "[7, 8, 9][dyn(1u)] == 8 && int(-9223372036854774784.0) < 0",
  "!optional.ofNonZeroValue(duration('0s')).hasValue() && optional.ofNonZeroValue(duration('1s')).hasValue()",
];

for (const source of truths) test(`${source} is true`, () => assert.equal(evaluate(source), true));

const faults: readonly (readonly [source: string, says: string | RegExp])[] = [
  ["self.labels.y == 'a'", "no such key: y"],
  ["self.list[7] == 1", "index out of bounds: 7"],
  ["1 / 0 == 1", "division by zero"],
  ["1 % 0 == 1", "modulus by zero"],
  ["9223372036854775807 + 1 == 0", "integer overflow"],
  ["self.port > 5", "no such overload"],
  ["int(-9223372036854775808.0) == 1", "integer overflow"],
  ["[].min() == 1", "min called on empty list"],
  ["optional.none().value() == 1", "optional.none() dereference"],
  ["quantity('9999999999999999999999999999999999999G').asInteger() == 1", "cannot convert value to integer"],
  ["'%.200f'.format([1.0]) == ''", "error during formatting: precision 200 is too large"],
  ["timestamp(9223372036854775807).getFullYear() == 1", "timestamp overflow"],
  ["string(timestamp('9999-12-31T23:59:59Z') + duration('1s')) == ''", "timestamp overflow"],
  ["timestamp(self.name + '-').getFullYear() == 1", /^parsing time "snap-"/],
  ["timestamp('2024-02-' + '30T00:00:00Z').getFullYear() == 1", /^parsing time "2024-02-30T00:00:00Z"/],
  ["timestamp('2024-02-' + '20T24:00:00Z').getFullYear() == 1", /^parsing time/],
  ["duration('9999999999' + '999h').getHours() == 1", 'time: invalid duration "9999999999999h"'],
  ["0.0 / 0.0 <= 1.0", "NaN values cannot be ordered"],
  ["double('0x10') == 16.0", 'strconv.ParseFloat: parsing "0x10": invalid syntax'],
  ["double('1e999') > 1.0", 'strconv.ParseFloat: parsing "1e999": value out of range'],
  ["uint('+1') == 1u", 'strconv.ParseUint: parsing "+1": invalid syntax'],
  // Longer than any text can be.
  [`lists.range(190000).map(i, '').join('${"x".repeat(3_000)}') == ''`, /^internal error: /],
  ["lists.range(2000).all(i, lists.range(2000).all(j, i + j >= 0))", "operation cancelled: actual cost limit exceeded"],
];

for (const [source, says] of faults)
  test(`${source.slice(0, 90)} fails: ${says}`, () =>
    assert.throws(() => evaluate(source), { name: "CelFault", message: says }));

const many: readonly string[] = [
  "lists.range(40000).distinct().size() == 40000",
  "sets.equivalent(lists.range(40000), lists.range(40000).reverse()) && !sets.intersects(lists.range(40000), [-1])",
  "(self.words + lists.range(50000).map(i, string(i))).size() == 50002",
];
for (const source of many)
  test(`not every value is compared with every other: ${source}`, () =>
    assert.equal(
      quickly(() => evaluate(source)),
      true,
    ));

test("equal values of different types are the same in sets", () => {
  for (const source of [
    "[1, 2, 1].distinct() == [1, 2] && [[1, 2], [2, 1], [1, 2]].distinct() == [[1, 2], [2, 1]]",
    "[dyn(1), 1.0, 1u, '1'].distinct().size() == 2 && [dyn(0.0), -0.0, 0].distinct().size() == 1",
    "[{'a': 1}, {'a': 2}, {'a': 1}].distinct().size() == 2 && [b'a', b'b', b'a'].distinct().size() == 2",
    "[duration('60s'), duration('1m')].distinct().size() == 1 && [quantity('1k'), quantity('1000')].distinct().size() == 1",
    "[optional.of(1), optional.of(1), optional.none()].distinct().size() == 2",
    "self.entries + self.entries == self.entries && (self.words + ['c', 'a']) == ['c', 'b', 'a']",
  ])
    assert.equal(evaluate(source), true, source);
});

const problems: readonly (readonly [source: string, says: string])[] = [
  ["self.foo == 1", "ERROR: <input>:1:5: undefined field 'foo'\n | self.foo == 1\n | ....^"],
  [
    "self.name.x == 1",
    "ERROR: <input>:1:10: type 'string' does not support field selection\n | self.name.x == 1\n | .........^",
  ],
  ["foo == 1", "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^"],
  [
    "self.name == 1",
    "ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(string, int)'\n | self.name == 1\n | ..........^",
  ],
  [
    "self.name.startsWith(1)",
    "ERROR: <input>:1:21: found no matching overload for 'startsWith' applied to 'string.(int)'\n | self.name.startsWith(1)\n | ....................^",
  ],
  ["foo(1)", "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n | foo(1)\n | ...^"],
  ["self.name && true", "ERROR: <input>:1:5: expected type 'bool' but found 'string'\n | self.name && true\n | ....^"],
  [
    "self.count.all(x, true)",
    "ERROR: <input>:1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | self.count.all(x, true)\n | ....^",
  ],
  ["[1, 'a'] == []", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a'] == []\n | ....^"],
];

for (const [source, says] of problems)
  test(`${source} does not compile: ${says.split("\n")[0]}`, () =>
    assert.equal(printProblems(source, checkCel(parseCel(source), variables).problems), says));

for (const source of ["self.", "1 +", "(1", "[1", "self.a b", "'open", "has(self)", "for", "#"])
  test(`${source} is not an expression`, () => assert.throws(() => parseCel(source), CelProblems));

test("types are inferred through lists, maps and choices", () => {
  const typeOf = (source: string): string => printType(checkCel(parseCel(source), variables).type);
  assert.equal(typeOf("[1].map(x, string(x))"), "list(string)");
  assert.equal(typeOf("self.labels"), "map(string, string)");
  assert.equal(typeOf("true ? 1 : 2"), "int");
  assert.equal(typeOf("self.port"), "dyn");
  assert.equal(typeOf("self.?name"), "optional_type(string)");
  assert.equal(typeOf("self.entries[0].value"), "int");
});

test("every field name that can be written in a rule can be read back", () => {
  for (const name of ["a", "a-b", "a.b/c", "__a", "a__b", "namespace", "_", "in", "x__dash__y"])
    assert.equal(unescapeName(escapeName(name) ?? ""), name);
  for (const name of ["", "1a", "a b", "ä"]) assert.equal(escapeName(name), undefined);
});

test("values of one type are compared by content", () => {
  assert.equal(celEquals(1n, 1), true);
  assert.equal(celEquals("1", 1n), false);
});
