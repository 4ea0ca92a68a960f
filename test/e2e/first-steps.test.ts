/** A part of `npm run first-steps` that is quick enough for every run: dist and the package on three Nodes, and a clone without scripts. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { nodeFolder, nodeVersions } from "./first-steps/nodes.ts";
import { type Case, createWorkshop, titleOf } from "./first-steps/steps.ts";

// Fetched once and then in the cache; it counts against no test's time.
for (const version of nodeVersions) await nodeFolder(version);
const workshop = createWorkshop();
after(workshop.close);

const user = "root";
const cases: readonly Case[] = [
  ...nodeVersions.flatMap((node) => [
    { from: "dist", node, user, scripts: true } as const,
    { from: "pack", node, user, scripts: true } as const,
  ]),
  { from: "clone", node: "20", user, scripts: false },
];
for (const given of cases)
  test(`${titleOf(given).replaceAll(/ +/g, " ")}: every step works, or says in one line what to do`, async () => {
    const outcomes = await workshop.play(given);
    const expected = given.node === "24" ? "works" : "says what to do";
    assert.ok(outcomes.length > 0);
    for (const { step, verdict, said } of outcomes) assert.equal(verdict, expected, `${step}: ${said}`);
  });
