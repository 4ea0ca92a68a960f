/** Style as a test: words, comments, names and casts that a reader would have to guess at. What is left of them may only become less. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { root } from "./sources.ts";

interface TextFile {
  readonly path: string;
  readonly text: string;
}

const filesIn = (...patterns: readonly string[]): readonly TextFile[] =>
  globSync(patterns, { cwd: root, exclude: ["src/csi/gen/**", "docs/results/**"] })
    .sort()
    .map((path) => ({ path, text: readFileSync(resolve(root, path), "utf8") }));

const itself = "test/style-tidy.test.ts";
const code = filesIn("{src,test,scripts,bench}/**/*.ts").filter(({ path }) => path !== itself);
const pages = filesIn("docs/**/*.md", "README.md", "CONTRIBUTING.md");

interface Place {
  readonly path: string;
  readonly text: string;
}

const placesOf = (files: readonly TextFile[], pattern: RegExp): readonly Place[] =>
  files.flatMap(({ path, text }) => [...text.matchAll(pattern)].map(([found]) => ({ path, text: found.trim() })));

/** There is none, except in the files and folders of `left`, where the number may only fall, and the row goes with the last of them. */
function assertNone(places: readonly Place[], left: Readonly<Record<string, number>>): void {
  const leftIn = (path: string): string | undefined => Object.keys(left).find((start) => path.startsWith(start));
  const strays = places.filter(({ path }) => leftIn(path) === undefined).map(({ path, text }) => `${path}: ${text}`);
  assert.deepEqual(strays, []);
  for (const [start, most] of Object.entries(left)) {
    const found = places.filter(({ path }) => leftIn(path) === start);
    const list = found.map(({ path, text }) => `${path}: ${text}`).join("\n");
    assert.ok(found.length <= most, `${start}: ${found.length} where ${most} were left:\n${list}`);
  }
}

test("objects and processes have the nouns of Kubernetes, and no picture words", () => {
  const pictures = /^.*\b(shelf|shelves|wakes|woken|mishap|cutter)\b.*$/gim;
  assertNone(placesOf([...code, ...pages], pictures), {});
});

test("a doc comment has a subject: it does not begin with Of or By", () => {
  assertNone(placesOf(code, /\/\*\*?\s*(?:\*\s*)?(?:Of|By)\b.*$/gm), {});
});

test("the program casts nothing to never: that would switch the compiler off", () => {
  const program = code.filter(({ path }) => path.startsWith("src/") && !path.endsWith(".test.ts"));
  assertNone(placesOf(program, /^(?!\s*(?:\/\/|\*|\/\*)).*\bas never\b.*$/gm), {
    "src/components/webhook/certificates/issue.ts": 5,
    "src/cli/install/sidecar.ts": 1,
  });
});

/** What one person reads together: the layers that everything rests on, with one component, the API server or the command line. */
const readerOf = (path: string): string => /^src\/(components\/[^/]+|apiserver|cli)\//.exec(path)?.[1] ?? "shared";
/** Each component, folder of one, and command exports these: the same step under the same name. */
const shape: ReadonlySet<string> = new Set(["command", "noMemory", "observe", "phaseOf", "start"]);

/** The exported names that mean several things to one reader, each with its files. */
function ambiguousNames(files: readonly TextFile[]): readonly string[] {
  const declared = /^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
  const filesOf = new Map<string, Set<string>>();
  for (const { path, text } of files)
    for (const [, name = ""] of text.matchAll(declared)) filesOf.set(name, (filesOf.get(name) ?? new Set()).add(path));
  return [...filesOf].flatMap(([name, paths]) => {
    const readers = Map.groupBy(paths, readerOf);
    const shared = readers.get("shared") ?? [];
    const isClear =
      shared.length < 2 && [...readers].every(([key, own]) => key === "shared" || own.length + shared.length < 2);
    return isClear || shape.has(name) ? [] : [`${name}: ${[...paths].join(", ")}`];
  });
}

test("an exported name has one meaning within a component and the layers below it", () => {
  const found = ambiguousNames(code.filter(({ path }) => path.startsWith("src/") && !path.endsWith(".test.ts")));
  assert.ok(found.length <= 51, `${found.length} names mean several things:\n${found.join("\n")}`);
});

test("the same name in two components has two readers, but in a component and a layer it has one", () => {
  const file = (path: string, ...names: readonly string[]): TextFile => ({
    path,
    text: names.map((name) => `export const ${name} = 1;\n`).join(""),
  });
  const two = [file("src/components/a/x.ts", "View", "observe"), file("src/components/b/x.ts", "View", "observe")];
  assert.deepEqual(ambiguousNames(two), []);
  assert.deepEqual(ambiguousNames([...two, file("src/kube/x.ts", "View")]), [
    "View: src/components/a/x.ts, src/components/b/x.ts, src/kube/x.ts",
  ]);
  assert.deepEqual(ambiguousNames([file("src/cli/a/x.ts", "at"), file("src/cli/b/x.ts", "at")]), [
    "at: src/cli/a/x.ts, src/cli/b/x.ts",
  ]);
});
