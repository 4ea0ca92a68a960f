/** Every right that the manifests grant has a recorded check that fails without it (`npm run rbac`). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { isProven, printed, recorded } from "./e2e/rbac/report.ts";
import { coveredRules, textOf, triedRights, unexplainedRights } from "./e2e/rbac/rights.ts";

const path = resolve(import.meta.dirname, "../docs/results/rbac.txt");

describe("the rights of the manifests", () => {
  test("each has its row in docs/results/rbac.txt, and no row is about a right that is not granted", () => {
    const rows = recorded(readFileSync(path, "utf8"));
    assert.deepEqual([...rows.keys()].sort(), triedRights.map(textOf).sort());
  });

  test("with all of them every check held, for each component", () => {
    const text = readFileSync(path, "utf8");
    for (const component of new Set(triedRights.map((right) => right.component)))
      assert.ok(text.includes(`\n${component}: all rights | every check holds\n`), component);
  });

  test("the pod of directory-driver has the rights of its sidecars and no others", () => {
    assert.deepEqual(unexplainedRights().map(textOf), []);
  });

  test("no rule grants what another rule of its role grants", () => {
    assert.deepEqual(coveredRules(), []);
  });

  test("what is printed is read back; a right that nothing needs has no row, and is not proven", () => {
    const [needed, unneeded] = triedRights;
    assert.ok(needed !== undefined && unneeded !== undefined);
    const outcomes = [
      { component: needed.component },
      { component: needed.component, right: needed, check: "a snapshot becomes ready", denied: "get x" },
      { component: unneeded.component, right: unneeded },
    ];
    assert.deepEqual([...recorded(printed(outcomes))], [[textOf(needed), "a snapshot becomes ready"]]);
    assert.deepEqual(outcomes.map(isProven), [true, true, false]);
    assert.match(printed(outcomes), /1 of 2 rights are needed$/);
  });
});
