/** Architecture as a test: what may import what, what is pure, and where time and chance may be touched. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { test } from "node:test";
import { scenarioNames } from "./e2e/scenarios/names.ts";

const root = resolve(import.meta.dirname, "..");

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources: readonly Source[] = globSync("src/**/*.ts", { cwd: root })
  .filter((path) => !path.includes("/gen/"))
  .map((path) => {
    const text = readFileSync(resolve(root, path), "utf8");
    const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier]) => specifier ?? "");
    return {
      path,
      text,
      imports: specifiers.map((s) => (s.startsWith(".") ? relative(root, resolve(root, dirname(path), s)) : s)),
    };
  });

/** Lowest first: a file may import its own layer and those before it. */
const layers = ["base", "api", "rules", "kube", "csi", "runtime", "components", "apiserver", "cli", "main.ts"];
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

const isPure = (path: string): boolean =>
  /^src\/(base|api|rules)\//.test(path) || /^src\/components\/.*\/(observe|phase|rules|plan)[^/]*\.ts$/.test(path);

test("deciding files import only pure files, and await nothing", () => {
  const deciding = sources.filter(
    ({ path }) => isPure(path) && !isTest(path) && path !== "src/base/world.ts" && path !== "src/base/http.ts",
  );
  const strays = deciding.flatMap(({ path, imports }) =>
    imports.filter((i) => (i.startsWith("src/") ? !isPure(i) : i.startsWith("node:"))).map((i) => `${path} → ${i}`),
  );
  assert.deepEqual(strays, []);
  assert.deepEqual(
    deciding.filter(({ text }) => /\bawait\b/.test(withoutComments(text))).map(({ path }) => path),
    [],
  );
});

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

test("the clock, timers and dice are used in base/world.ts only", () => {
  const forbidden =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(|\brandomUUID\(/;
  const strays = sources
    .filter(({ path, text }) => path !== "src/base/world.ts" && !isTest(path) && forbidden.test(withoutComments(text)))
    .map(({ path }) => path);
  assert.deepEqual(strays, []);
});

test("argv and the environment are read in main.ts only", () => {
  const strays = sources
    .filter(
      ({ path, text }) =>
        path !== "src/main.ts" && !isTest(path) && /\bprocess\.(argv|env)\b/.test(withoutComments(text)),
    )
    .map(({ path }) => path);
  assert.deepEqual(strays, []);
});

test("nothing is left to do in the sources", () => {
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

test("what a test file does before its tests stands in a suite: at the top it would be done before, or beside, the tests of all files", () => {
  const hook = /^(before|beforeEach|afterEach)\(/m;
  const early = globSync("{src,test}/**/*.test.ts", { cwd: root }).filter((path) =>
    hook.test(readFileSync(resolve(root, path), "utf8")),
  );
  assert.deepEqual(early, []);
});

test("every known name of a scenario is a file of that name, and has no other", () => {
  const files = globSync("test/e2e/scenarios/*.ts", { cwd: root }).map((path) => basename(path, ".ts"));
  assert.deepEqual(files.sort(), [...scenarioNames, "index", "names"].sort());
});
