import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { startCommand } from "../../../test/command-line.ts";
import { errorRows, remedyOf } from "../../errors/codes.ts";

const run = async (...argv: readonly string[]) => {
  const { said, code } = startCommand(...argv);
  return { code: await code, ...said };
};
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
const { title, why } = errorRows["SNAP-212"];
const remedy = remedyOf("SNAP-212");

for (const [given, ...argv] of [
  ["the command and the code", "errors", "SNAP-212"],
  ["help and the code", "help", "SNAP-212"],
  ["small letters", "errors", "snap-212"],
  ["the number alone", "errors", "212"],
  ["a message that ends in the code", "errors", "the driver has no class [SNAP-212]"],
] as const)
  test(`given ${given}, the page of the code is printed`, async () => {
    const { code, out } = await run(...argv);
    assert.equal(code, 0);
    assert.equal(oneLine(out), oneLine(`SNAP-212: ${title} ${why} What to do: ${remedy}`));
  });

test("the page says what docs/reference/errors.md says, for every code", async () => {
  const reference = oneLine(readFileSync(resolve(import.meta.dirname, "../../../docs/reference/errors.md"), "utf8"));
  for (const code of Object.keys(errorRows)) {
    const [, ...paragraphs] = (await run("errors", code)).out.split("\n\n").map(oneLine);
    assert.equal(paragraphs.length, 2, code);
    for (const text of paragraphs) assert.ok(reference.includes(text), `${code}: ${text}`);
  }
});

test("without a code all codes are listed, and -o json has their pages", async () => {
  const { code, out } = await run("errors");
  assert.equal(code, 0);
  assert.deepEqual(
    out
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[0]),
    Object.keys(errorRows).sort(),
  );
  const all = JSON.parse((await run("errors", "-o", "json")).out) as readonly { code: string }[];
  assert.equal(all.length, Object.keys(errorRows).length);
  assert.deepEqual(JSON.parse((await run("errors", "212", "-o=json")).out), [{ code: "SNAP-212", title, why, remedy }]);
});

test("a code that does not exist is a usage error that names it", async () => {
  for (const argv of [
    ["errors", "SNAP-999"],
    ["help", "SNAP-999"],
    ["errors", "SNAP-212", "nonsense"],
  ]) {
    const { code, error } = await run(...argv);
    assert.equal(code, 2);
    assert.match(error, /there is no code "(SNAP-999|nonsense)"; "snapkeep errors" lists those of this release/);
  }
});
