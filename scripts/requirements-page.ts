/** docs/reference/shared-resource-requirements.md: which test shows which requirement, read from the names of the tests. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requirements } from "./shared-resource-requirements.ts";

interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** A text that begins with "R12: " or "R12, R13: ", in quotes of any kind. */
const name = /["'`](R\d+(?:, R\d+)*): ([^"'`\n]*)/g;
const testsMax = 3;

/** Finds the tests of each requirement. */
export function testsOfRequirements(root: string): ReadonlyMap<string, readonly NamedTest[]> {
  const found = new Map<string, NamedTest[]>();
  for (const file of globSync("{src,test}/**/*.test.ts", { cwd: root }).sort())
    for (const [, ids = "", title = ""] of readFileSync(join(root, file), "utf8").matchAll(name))
      for (const id of ids.split(", ")) found.set(id, [...(found.get(id) ?? []), { file, name: title.trim() }]);
  return found;
}

export function requirementsPage(root: string): string {
  const tests = testsOfRequirements(root);
  const rows = Object.entries(requirements).map(
    ([id, { what, notCode }]) => `| ${id} | ${what} | ${notCode ?? testCell(tests.get(id) ?? [])} |`,
  );
  return [
    "# Requirements of shared resources",
    "<!-- Written by `npm run docs` from scripts/shared-resource-requirements.ts and the names of the tests. -->",
    "Each requirement, and the tests that show it. What is not code has a reason instead. In names, `${…}` stands for each row of a table.",
    ["| requirement | what | shown by |", "| --- | --- | --- |", ...rows].join("\n"),
    "",
  ]
    .join("\n\n")
    .trimEnd()
    .concat("\n");
}

function testCell(tests: readonly NamedTest[]): string {
  const shown = tests
    .slice(0, testsMax)
    .map(({ file, name: title }) => `[${file.split("/").at(-1)}](../../${file}): ${title.replaceAll("|", "\\|")}`);
  const more = tests.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("<br>");
}
