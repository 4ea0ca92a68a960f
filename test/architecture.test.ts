/** docs/architecture.md, held against the sources: the way of a snapshot is one that a reader can walk. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
const way = [...page.matchAll(/^\d+\. `(src\/\S+?)#(\w+)`/gm)].map(([, file = "", symbol = ""]) => ({ file, symbol }));

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
const importsOf = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) => join(dirname(file), path));
const imports = (from: string, to: string): boolean => importsOf(from).includes(to);

/** The files that connect the parts of a component. */
const wirings = globSync("src/components/*/{index,start}.ts", { cwd: root });

function areJoined(one: string, other: string): boolean {
  return (
    imports(one, other) || imports(other, one) || wirings.some((file) => imports(file, one) && imports(file, other))
  );
}

test("each step of the way names a symbol that its file exports", () => {
  assert.ok(way.length > 20, String(way.length));
  for (const { file, symbol } of way)
    assert.match(textOf(file), new RegExp(`export (async )?(function|const|interface|type|class) ${symbol}\\b`), file);
});

test("an import, or the wiring of a component, joins each step to the next", () => {
  const apart = way.flatMap(({ file }, index) => {
    const next = way[index + 1]?.file;
    return next === undefined || areJoined(file, next) ? [] : [`${file} and ${next}`];
  });
  assert.deepEqual(apart, []);
});

test("every file and folder that the page names exists", () => {
  const names = [...page.matchAll(/`((?:src|test)\/[\w./-]+)/g)].map(([, name = ""]) => name);
  assert.deepEqual(
    names.filter((name) => !existsSync(join(root, name))),
    [],
  );
});
