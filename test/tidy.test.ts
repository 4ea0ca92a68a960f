/** Architecture as a test: what may import what, what is pure, and where time and chance may be touched. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { test } from "node:test";
import { scenarioNames } from "./e2e/scenarios/names.ts";
import { isDeciding, loadedBy, reachedFrom, root, type Source, sources, withoutComments } from "./sources.ts";

/** Lowest first: a file may import its own layer and those before it. */
const layers = [
  "base",
  "api",
  "errors",
  "rules",
  "schema",
  "kube",
  "csi",
  "node",
  "runtime",
  "components",
  "apiserver",
  "cli",
  "main.ts",
];
const layerOf = (path: string): number => layers.indexOf(path.split("/")[1] ?? "");
/** Tests may plug the embedded API server into anything; production code may not look up. */
const isTest = (path: string): boolean => path.endsWith(".test.ts");

test("imports point downward only", () => {
  const strays = sources
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, imports }) =>
      imports.filter((i) => i.startsWith("src/") && layerOf(i) > layerOf(path)).map((i) => `${path} → ${i}`),
    );
  assert.deepEqual(strays, []);
});

test("every source file belongs to a layer", () => {
  assert.deepEqual(
    sources.map(({ path }) => path).filter((path) => layerOf(path) === -1),
    [],
  );
});

test("a component never imports another component", () => {
  const componentOf = (path: string): string | undefined => /^src\/components\/([^/]+)\//.exec(path)?.[1];
  const strays = sources.flatMap(({ path, imports }) =>
    imports
      .filter(
        (i) => componentOf(path) !== undefined && componentOf(i) !== undefined && componentOf(i) !== componentOf(path),
      )
      .map((i) => `${path} → ${i}`),
  );
  assert.deepEqual(strays, []);
});

/** Helpers of the server's own tests. */
const testsOfTheServer = /^(src\/apiserver\/|test\/(admission|strategy)\.ts$)/;
test("whatever is outside of the API server imports its door, src/apiserver/index.ts, and nothing else of it", () => {
  const outside = globSync("{src,test,bench,scripts}/**/*.ts", { cwd: root }).filter(
    (path) => !testsOfTheServer.test(path),
  );
  const strays = outside.flatMap((path) =>
    [...readFileSync(resolve(root, path), "utf8").matchAll(/(?:from|import\()\s*"([^"]*\/apiserver\/[^"]+)"/g)]
      .map(([, from = ""]) => from)
      .filter((from) => from.startsWith(".") && !from.endsWith("/apiserver/index.ts"))
      .map((from) => `${path} → ${from}`),
  );
  assert.deepEqual(strays, []);
});

test("the API server imports no plugin: what is not Kubernetes' own comes in through its door", () => {
  const isPlugin = (path: string): boolean => path.startsWith("src/apiserver/plugins/");
  const strays = sources
    .filter(({ path }) => path.startsWith("src/apiserver/") && path !== "src/apiserver/index.ts" && !isTest(path))
    .filter(({ path }) => !isPlugin(path))
    .flatMap(({ path, imports }) => imports.filter(isPlugin).map((from) => `${path} → ${from}`));
  assert.deepEqual(strays, []);
});

/** Groups of files each of which reaches the others: Tarjan's strongly connected components. */
function cyclesIn(files: readonly Source[], next: (file: Source) => readonly string[]): readonly (readonly string[])[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const found = new Map<string, number>();
  const open: string[] = [];
  const cycles: (readonly string[])[] = [];
  const visit = (file: Source): number => {
    const order = found.size;
    found.set(file.path, order);
    open.push(file.path);
    let low = order;
    for (const path of next(file)) {
      const other = byPath.get(path);
      if (other === undefined) continue;
      if (!found.has(path)) low = Math.min(low, visit(other));
      else if (open.includes(path)) low = Math.min(low, found.get(path) ?? low);
    }
    if (low === order) {
      const group = open.splice(open.indexOf(file.path));
      if (group.length > 1) cycles.push(group.sort());
    }
    return low;
  };
  for (const file of files) if (!found.has(file.path)) visit(file);
  return cycles;
}

const program = sources.filter(({ path }) => !isTest(path));

test("there are no import cycles between files", () =>
  assert.deepEqual(
    cyclesIn(program, ({ loads }) => loads),
    [],
  ));

/** Types are gone when the program runs, and two files of one folder may each name a type of the other; folders may not. */
test("there are no type import cycles between folders", () => {
  const acrossFolders = cyclesIn(program, ({ imports }) => imports).filter(
    (group) => new Set(group.map((path) => dirname(path))).size > 1,
  );
  assert.deepEqual(acrossFolders, []);
});

/** What makes a file impure by itself: it waits, or it loads a part of the platform or a package. */
const impuritiesOf = ({ path, text, loads }: Source): readonly string[] => [
  ...(/\bawait\b/.test(withoutComments(text)) ? [`${path} awaits`] : []),
  ...loads.filter((from) => !from.startsWith("src/")).map((from) => `${path} → ${from}`),
];

/** Purity goes by what is loaded, however far away, and not by the names of files. */
test("pure files, and all files they load, do not await and load neither Node modules nor packages", () => {
  const reached = reachedFrom(program.filter(({ path }) => isDeciding(path)));
  assert.deepEqual(reached.flatMap(impuritiesOf), []);
});

test("a type-only import loads nothing, every other import does", () => {
  const text = [
    'import type { A } from "./types.ts";',
    'import { type B, type C } from "./more-types.ts";',
    'import { type D, e } from "./values.ts";',
    'export { f } from "./exported.ts";',
    'export type { G } from "./exported-types.ts";',
    'import {\n  h,\n  type I,\n} from "./lines.ts";',
    'import "./effects.ts";',
  ].join("\n");
  assert.deepEqual(loadedBy(text), ["./values.ts", "./exported.ts", "./lines.ts", "./effects.ts"]);
});

test("each import cycle is reported completely and once", () => {
  const file = (path: string, ...loads: readonly string[]): Source => ({ path, text: "", imports: loads, loads });
  const files = [file("a", "b"), file("b", "c", "d"), file("c", "a"), file("d", "e"), file("e", "d"), file("f", "a")];
  assert.deepEqual(
    cyclesIn(files, ({ loads }) => loads),
    [
      ["d", "e"],
      ["a", "b", "c"],
    ],
  );
});

test("clock, timers and random numbers are used in base/world.ts only", () => {
  const forbidden =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(|\brandomUUID\(/;
  const strays = sources
    .filter(({ path, text }) => path !== "src/base/world.ts" && !isTest(path) && forbidden.test(withoutComments(text)))
    .map(({ path }) => path);
  assert.deepEqual(strays, []);
});

/** The names that any file gives to a reading of the wall clock: `nowMs: world.now()`, `const startedAt = now()`, `since ??= now()`. */
const namesOfReadings = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\b(\w+)(?:\s*:\s*\w+)?\s*(?:=|:|\?\?=)\s*(?:\w+\.)*now\(\)(?!\s*[-+*/.])/g)].map(
        ([, name = ""]) => name,
      ),
    ),
  );

/** The lines that subtract a reading, or from one. */
function subtractions(text: string, names: ReadonlySet<string>): readonly string[] {
  const reading = `(?:(?:\\w+[?!]?\\.)*(?:now\\(\\)|(?:${[...names].join("|")})\\b(?!\\()))`;
  const pattern = new RegExp(`(?<![\\w.])${reading}\\s*-(?![-=>])|(?<!-)-\\s*${reading}`);
  return text.split("\n").filter((line) => pattern.test(line));
}

/** Set back by an hour, it would make every age wrong by an hour. */
test("no file subtracts two readings of the wall clock: durations are measured by elapsed()", () => {
  const files = program.map(({ path, text }) => ({ path, text: withoutComments(text) }));
  // A reading that is called "now" is one in its own file: elsewhere that is a word for elapsed(), too.
  const everywhere = [...namesOfReadings(files.map(({ text }) => text)), "nowMs"].filter((name) => name !== "now");
  const lines = files.flatMap(({ path, text }) =>
    subtractions(text, new Set([...everywhere, ...namesOfReadings([text])])).map((line) => `${path}: ${line.trim()}`),
  );
  const strays = lines.filter((line) => !wallClockDates.some((known) => line.startsWith(known)));
  assert.deepEqual(strays, []);
  const unused = wallClockDates.filter((known) => !lines.some((line) => line.startsWith(known)));
  assert.deepEqual(unused, [], "no longer needed");
});

for (const [given, text, isFound] of [
  ["two calls", "const agoMs = world.now() - now();", true],
  ["a reading with a name", "const startedAt = world.now();\nlog(options.world.elapsed() - startedAt);", true],
  ["a member that holds a reading", "remember({ askedMs: world.now() });\nreturn nowMs - entry.askedMs;", true],
  ["a reading that was assigned later", "since ??= clock.now();\nif (until - since > limit) stop();", true],
  ["a name with a type", "const begun: Millis = now();\nreturn begun - other;", true],
  [
    "a reading of the clock that nobody sets",
    "const startedAt = world.elapsed();\nreturn world.elapsed() - startedAt;",
    false,
  ],
  ["a sum", "const until = now() + limitMs;\nreturn until - elapsed();", false],
  ["another name that ends alike", "const at = now();\nreturn heldAt - format - 1;", false],
  ["an arrow and a decrement", "const count = now();\nfor (count--; ; ) run(() => count);", false],
] as const)
  test(`the clock's rule ${isFound ? "finds" : "leaves alone"} ${given}`, () =>
    assert.equal(subtractions(text, new Set([...namesOfReadings([text]), "nowMs"])).length > 0, isFound));

/** Where the other side is a date that somebody else has written, or a duration before now. */
const wallClockDates: readonly string[] = [
  // Timestamps of objects.
  "src/kube/status.ts:",
  "src/components/snapshot-controller/measure.ts:",
  "src/components/snapshot-controller/plan.ts: const leftMs = Date.parse(",
  // Dates that are made or read: of certificates, and of a window of stored records.
  "src/components/webhook/certificates/issue.ts:",
  "src/cli/migrate/judge-stored.ts:",
];

test("argv and the environment are read in main.ts only", () => {
  const strays = sources
    .filter(
      ({ path, text }) =>
        path !== "src/main.ts" && !isTest(path) && /\bprocess\.(argv|env)\b/.test(withoutComments(text)),
    )
    .map(({ path }) => path);
  assert.deepEqual(strays, []);
});

test("no file declares an interface twice: TypeScript would merge them, and each would accept the other's options", () => {
  const merged = sources.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/^(?:export )?interface (\w+)/gm)].map(([, name]) => name);
    return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${path}: ${name}`);
  });
  assert.deepEqual(merged, []);
});

test("the sources contain no TODO markers", () => {
  const marker = new RegExp(["TO" + "DO", "FIX" + "ME", "X" + "XX"].join("|"));
  assert.deepEqual(
    sources.filter(({ text }) => marker.test(text)).map(({ path }) => path),
    [],
  );
});

test("files stay readable: at most 400 lines each", () => {
  const long = sources
    .filter(({ path, text }) => !isTest(path) && text.split("\n").length > 400)
    .map(({ path }) => path);
  assert.deepEqual(long, []);
});

test("setup of a test file is inside a suite, because top-level setup would run with the tests of all files", () => {
  const hook = /^(before|beforeEach|afterEach)\(/m;
  const early = globSync("{src,test}/**/*.test.ts", { cwd: root }).filter((path) =>
    hook.test(readFileSync(resolve(root, path), "utf8")),
  );
  assert.deepEqual(early, []);
});

test("every scenario name is a file of that name, and every file is a scenario", () => {
  const files = globSync("test/e2e/scenarios/*.ts", { cwd: root }).map((path) => basename(path, ".ts"));
  assert.deepEqual(files.sort(), [...scenarioNames, "index", "names"].sort());
});
