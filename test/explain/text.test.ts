/** The words of `explain` on a terminal: they fit it, commands can be copied, and nothing is coloured. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { explanationText } from "../../src/cli/explain/output.ts";
import { answerTo, stuckCases } from "./answer.ts";
import { now } from "./cluster.ts";

for (const columns of [110, 80, 60])
  test(`an answer fits ${columns} columns, except for commands and single long words`, async () => {
    for (const each of stuckCases) {
      const found = await answerTo(each);
      assert.ok(found !== undefined);
      const text = explanationText(found, Date.parse(now), columns);
      const commands = new Set(found.next.flatMap(({ command }) => (command === undefined ? [] : [command])));
      const tooLong = text
        .split("\n")
        .filter((line) => line.length > columns && /\S \S/.test(line.trim().replace(/^[-→] /, "")))
        .filter((line) => !commands.has(line.trim()));
      assert.deepEqual(tooLong, [], each.given);
      for (const command of commands) assert.ok(text.includes(`\n      ${command}\n`), "a command stays on its line");
      // So NO_COLOR has nothing to turn off.
      assert.ok(!text.includes("\u001b"));
    }
  });

test("no sentence is said twice: neither along the chain nor as a step", async () => {
  for (const each of stuckCases) {
    const found = await answerTo(each);
    assert.ok(found !== undefined);
    const text = explanationText(found, Date.parse(now), 110).replace(/\s+/g, " ");
    const says = found.says.replace(/\s+/g, " ");
    assert.equal(text.split(says).length - 1, 1, `${each.given}: ${text}`);
  }
});

test("what is being deleted shows since when, and by which finalizers it is held", async () => {
  const each = stuckCases.find(({ given }) => given === "a deletion that the driver refuses");
  assert.ok(each !== undefined);
  const found = await answerTo(each);
  assert.ok(found !== undefined);
  assert.match(
    explanationText(found, Date.parse(now), 200).replace(/\s+/g, " "),
    /Seen: VolumeSnapshot team\/monday: deletionTimestamp 2026-03-01T11:45:00Z, finalizers snapshot\.storage\.kubernetes\.io\/volumesnapshot-as-source-protection, /,
  );
});

const guide = readFileSync(resolve(import.meta.dirname, "../../docs/guides/explain.md"), "utf8");

test("the guide names the thread of each known defect", () => {
  const threads = stuckCases.filter(({ cause }) => cause === "KnownDefect").map(({ thread }) => thread ?? "none");
  assert.deepEqual(
    threads.filter((thread) => !guide.includes(thread)),
    [],
  );
  assert.equal(threads.length, 3);
});

test("the guide shows what is printed", async () => {
  const each = stuckCases.find(({ given }) => given === "a driver that has no room");
  assert.ok(each !== undefined);
  const found = await answerTo(each);
  assert.ok(found !== undefined);
  assert.ok(guide.includes(`\n${explanationText(found, Date.parse(now), 110)}\`\`\``));
});
