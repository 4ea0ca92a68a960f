/** From words to a tree, by precedence; macros are recognised on the way. */
import { CelProblem, CelProblems, type Constant, type Expression } from "./ast.ts";
import { expandMacro } from "./macros.ts";
import { isReserved, type Token, tokenize } from "./tokens.ts";

interface Cursor {
  readonly tokens: readonly Token[];
  at: number;
  depth: number;
}

const depthMax = 250;
const operandKinds = (more = ""): string =>
  `{'[', '{', '(', '.', '-', '!', ${more}'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`;

/** Throws CelProblems. */
export function parseCel(source: string): Expression {
  const { tokens, problems } = tokenize(source);
  try {
    const expression = parseWhole({ tokens, at: 0, depth: 0 });
    if (problems.length === 0) return expression;
  } catch (reason) {
    if (!(reason instanceof CelProblem)) throw reason;
    throw new CelProblems([...problems, reason]);
  }
  throw new CelProblems(problems);
}

function parseWhole(cursor: Cursor): Expression {
  const expression = parseConditional(cursor);
  const rest = take(cursor);
  if (rest.kind === "end") return expression;
  const word = peek(cursor).kind === "end" ? "extraneous" : "mismatched";
  throw new CelProblem(rest.at, `Syntax error: ${word} input '${rest.text}' expecting <EOF>`);
}

const end: Token = { kind: "end", at: 0, text: "<EOF>" };
const peek = (cursor: Cursor): Token => cursor.tokens[cursor.at] ?? end;
const isOperator = (token: Token, ...texts: readonly string[]): boolean =>
  token.kind === "operator" && texts.includes(token.text);

function take(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.at += 1;
  return token;
}

function expect(cursor: Cursor, text: string): Token {
  const token = take(cursor);
  if (isOperator(token, text)) return token;
  if (token.kind === "end" && text === ")") throw new CelProblem(token.at, "Syntax error: missing ')' at '<EOF>'");
  throw new CelProblem(token.at, `Syntax error: mismatched input '${token.text}' expecting '${text}'`);
}

function takeIf(cursor: Cursor, text: string): Token | undefined {
  return isOperator(peek(cursor), text) ? take(cursor) : undefined;
}

const call = (at: number, name: string, args: readonly Expression[], target?: Expression): Expression => ({
  at,
  kind: "call",
  name,
  target,
  args,
});

const tooDeep = (at: number): CelProblem => new CelProblem(at, `expression recursion limit exceeded: ${depthMax}`);

function parseConditional(cursor: Cursor): Expression {
  cursor.depth += 1;
  if (cursor.depth > depthMax) throw tooDeep(peek(cursor).at);
  const expression = parseChoice(cursor);
  cursor.depth -= 1;
  return expression;
}

function parseChoice(cursor: Cursor): Expression {
  const condition = parseBinary(cursor, 0);
  const mark = takeIf(cursor, "?");
  if (mark === undefined) return condition;
  const yes = parseBinary(cursor, 0);
  expect(cursor, ":");
  return call(mark.at, "_?_:_", [condition, yes, parseConditional(cursor)]);
}

/** Loosest first; all of one level bind to the left. */
const levels: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["<", "<=", ">", ">=", "==", "!=", "in"],
  ["+", "-"],
  ["*", "/", "%"],
];
const functionOf = (operator: string): string => (operator === "in" ? "@in" : `_${operator}_`);

function parseBinary(cursor: Cursor, level: number): Expression {
  const operators = levels[level];
  if (operators === undefined) return parseUnary(cursor);
  const terms = [parseBinary(cursor, level + 1)];
  const between: Token[] = [];
  while (isOperator(peek(cursor), ...operators)) {
    between.push(take(cursor));
    terms.push(parseBinary(cursor, level + 1));
  }
  // Only logic may go on for long: in which order it is put together does not matter.
  if (terms.length > depthMax) return level < 2 ? balanced(terms, between) : refuseChain(between);
  return terms.reduce((left, right, index) => joined(left, between[index - 1], right));
}

function refuseChain(between: readonly Token[]): never {
  throw tooDeep(between[depthMax - 1]?.at ?? 0);
}

const joined = (left: Expression, { at, text }: Token = end, right: Expression): Expression =>
  call(at, functionOf(text), [left, right]);

/** As deep as it must be, and no deeper. */
function balanced(terms: readonly Expression[], between: readonly Token[]): Expression {
  const [first] = terms;
  if (first !== undefined && terms.length === 1) return first;
  const middle = terms.length >> 1;
  return joined(
    balanced(terms.slice(0, middle), between.slice(0, middle - 1)),
    between[middle - 1],
    balanced(terms.slice(middle), between.slice(middle)),
  );
}

function parseUnary(cursor: Cursor): Expression {
  const first = peek(cursor);
  if (!isOperator(first, "!", "-")) return parseMember(cursor);
  let count = 0;
  while (isOperator(peek(cursor), first.text)) {
    take(cursor);
    count += 1;
  }
  const next = peek(cursor);
  // A minus before a number belongs to it: the smallest integer has no positive counterpart.
  if (first.text === "-" && count === 1 && next.kind === "constant" && isNumber(next.value)) {
    take(cursor);
    return parseSuffixes(cursor, { at: first.at, kind: "constant", value: -next.value });
  }
  const operand = parseMember(cursor);
  return count % 2 === 0 ? operand : call(first.at, `${first.text}_`, [operand]);
}

const isNumber = (value: Constant): value is number | bigint => typeof value === "number" || typeof value === "bigint";

const parseMember = (cursor: Cursor): Expression => parseSuffixes(cursor, parsePrimary(cursor));

function parseSuffixes(cursor: Cursor, of: Expression): Expression {
  let expression = of;
  for (let count = 0; ; count += 1) {
    const token = peek(cursor);
    if (count > depthMax) throw tooDeep(token.at);
    if (isOperator(token, ".")) expression = parseSelect(cursor, expression);
    else if (isOperator(token, "[")) expression = parseIndex(cursor, expression);
    else if (isOperator(token, "{") && isTypeName(expression))
      throw new CelProblem(token.at, "undeclared reference to a message type: objects cannot be constructed");
    else return expression;
  }
}

const isTypeName = (expression: Expression): boolean =>
  expression.kind === "name" || (expression.kind === "select" && isTypeName(expression.of));

function parseSelect(cursor: Cursor, of: Expression): Expression {
  const dot = take(cursor);
  const optional = takeIf(cursor, "?");
  const field = take(cursor);
  if (field.kind !== "name")
    throw new CelProblem(
      field.at,
      `Syntax error: no viable alternative at input '.${field.kind === "end" ? "" : field.text}'`,
    );
  const opening = optional === undefined ? takeIf(cursor, "(") : undefined;
  if (opening === undefined)
    return { at: dot.at, kind: "select", of, field: field.text, mode: optional === undefined ? "value" : "optional" };
  const args = parseArguments(cursor, ")");
  return expandMacro(opening.at, field.text, of, args) ?? call(opening.at, field.text, args, of);
}

function parseIndex(cursor: Cursor, of: Expression): Expression {
  const opening = take(cursor);
  const optional = takeIf(cursor, "?");
  const index = parseConditional(cursor);
  expect(cursor, "]");
  return call(opening.at, optional === undefined ? "_[_]" : "_[?_]", [of, index]);
}

function parseArguments(cursor: Cursor, closing: string): readonly Expression[] {
  const args: Expression[] = [];
  if (takeIf(cursor, closing) !== undefined) return args;
  do args.push(parseConditional(cursor));
  while (takeIf(cursor, ",") !== undefined);
  expect(cursor, closing);
  return args;
}

function parsePrimary(cursor: Cursor): Expression {
  const token = take(cursor);
  if (token.kind === "constant") return { at: token.at, kind: "constant", value: token.value };
  if (isOperator(token, "(")) {
    const inner = parseConditional(cursor);
    expect(cursor, ")");
    return inner;
  }
  if (isOperator(token, "[")) return parseList(cursor, token.at);
  if (isOperator(token, "{")) return parseMap(cursor, token.at);
  const word = isOperator(token, ".") ? take(cursor) : token;
  if (word.kind !== "name") throw noOperand(cursor, word);
  if (isReserved(word.text)) throw new CelProblem(word.at, `reserved identifier: ${word.text}`);
  const opening = takeIf(cursor, "(");
  if (opening === undefined) return { at: word.at, kind: "name", name: word.text };
  const args = parseArguments(cursor, ")");
  return expandMacro(opening.at, word.text, undefined, args) ?? call(opening.at, word.text, args);
}

/** One word too many is called extraneous when what follows could stand in its place. */
function noOperand(cursor: Cursor, word: Token): CelProblem {
  const isExtra = word.kind !== "end" && startsOperand(peek(cursor));
  const afterBracket = isOperator(cursor.tokens[cursor.at - 2] ?? end, "[");
  const expected = operandKinds(afterBracket ? "'?', " : "");
  return new CelProblem(
    word.at,
    `Syntax error: ${isExtra ? "extraneous" : "mismatched"} input '${word.text}' expecting ${expected}`,
  );
}

const startsOperand = (token: Token): boolean =>
  token.kind === "name" || token.kind === "constant" || isOperator(token, "(", "[", "{", "-", "!", ".");

function parseList(cursor: Cursor, at: number): Expression {
  const items: { value: Expression; optional: boolean }[] = [];
  while (takeIf(cursor, "]") === undefined) {
    const optional = takeIf(cursor, "?") !== undefined;
    items.push({ value: parseConditional(cursor), optional });
    if (takeIf(cursor, ",") === undefined) {
      expect(cursor, "]");
      break;
    }
  }
  return { at, kind: "list", items };
}

function parseMap(cursor: Cursor, at: number): Expression {
  const entries: { key: Expression; value: Expression; optional: boolean }[] = [];
  while (takeIf(cursor, "}") === undefined) {
    const optional = takeIf(cursor, "?") !== undefined;
    const key = parseConditional(cursor);
    expect(cursor, ":");
    entries.push({ key, value: parseConditional(cursor), optional });
    if (takeIf(cursor, ",") === undefined) {
      expect(cursor, "}");
      break;
    }
  }
  return { at, kind: "map", entries };
}
