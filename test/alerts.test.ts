/** Every alert and panel uses metrics that exist, and every alert has a situation in which promtool sees it fire. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { componentRows } from "../src/api/manifests/rows.ts";
import { commands } from "../src/cli/commands.ts";
import { referencePages } from "../src/cli/reference.ts";
import { situations } from "./alert-situations.ts";
import { alerts, nameOf, shortRules } from "./e2e/alerts/made/rules.ts";

/** kube-apiserver itself has this metric. */
const foreign = ["apiserver_admission_webhook_rejection_count"];

const metricsIn = (expression: string): readonly string[] => {
  const bare = expression.replace(/\{[^}]*\}/g, "").replace(/\b(?:by|without) \([^)]*\)/g, "");
  return [...bare.matchAll(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?!\()/g)].map(([name]) => name);
};

test("every metric in alerts and panels is in the reference", async () => {
  const page = (await referencePages(commands))["metrics.md"] ?? "";
  const known = new Set([...page.matchAll(/^\| `([a-z0-9_]+)`/gm)].map(([, name = ""]) => name));
  const used = componentRows.flatMap(({ alerts, panels }) => [
    ...alerts.flatMap(({ expression }) => metricsIn(expression)),
    ...panels.flatMap(({ queries }) => queries.flatMap(({ expression }) => metricsIn(expression))),
  ]);
  assert.ok(used.length > 10);
  const unknown = used.filter((name) => !known.has(name.replace(/_(count|bucket|sum)$/, "")) && !known.has(name));
  assert.deepEqual(
    [...new Set(unknown)].filter((name) => !foreign.includes(name)),
    [],
  );
});

test("every alert has a recorded situation, made on a real control plane, in which it fires, and is silent while all is well", () => {
  const text = readFileSync(join(import.meta.dirname, "../docs/results/alerts.txt"), "utf8");
  const rows = [...text.matchAll(/^(\w+ \(\w+\)) \| silent while all is well \| fires: .+$/gm)].map(([, name]) => name);
  assert.deepEqual(rows.sort(), alerts.map(nameOf).sort());
});

test("the recorded run had every duration divided by 60, and no other change", () => {
  const [{ rules } = { rules: [] }] = shortRules().groups;
  assert.equal(rules.length, alerts.length);
  for (const [index, { expr, for: wait }] of rules.entries()) {
    const original = alerts[index];
    assert.equal(`${Number.parseInt(wait, 10)}m`, original?.for);
    assert.doesNotMatch(expr, /\[\d+m\]/);
    assert.equal(expr.replaceAll(/\[(\d+)s\]/g, "[$1m]").replace(/> 15$/, "> 900"), original?.expression);
  }
});

test("every alert is tested by promtool, and says what to do", () => {
  const suites = globSync("e2e/alerts/*.test.ts", { cwd: import.meta.dirname }).map((path) =>
    readFileSync(join(import.meta.dirname, path), "utf8"),
  );
  const isTested = (name: string): boolean => name in situations || suites.some((text) => text.includes(name));
  assert.deepEqual(
    alerts.map(({ name }) => name).filter((name) => !isTested(name)),
    [],
  );
  for (const { remedy, summary } of alerts) assert.ok(remedy.length > 40 && /\.$/.test(summary));
});
