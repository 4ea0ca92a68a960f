/** The alerting rules in promtool: each fires in its situation and is silent in a like one. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, test } from "node:test";
import { stringify } from "yaml";
import { alertingRule } from "../../../src/api/manifests/monitoring.ts";
import { componentRows } from "../../../src/api/manifests/rows.ts";
import { type Situation, situations } from "../../alert-situations.ts";
import { run } from "../harness/run.ts";

const rules = resolve(import.meta.dirname, "../../../deploy/monitoring/alerts.yaml");

describe("the alerting rules", () => {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-alerts-"));
  after(() => rmSync(folder, { recursive: true }));

  test("promtool finds nothing wrong with the file", async () => {
    const { code, stderr, stdout } = await run("promtool", ["check", "rules", rules]);
    assert.equal(code, 0, stdout + stderr);
  });

  const inTable = componentRows.flatMap((row) => row.alerts).filter(({ name }) => name in situations);
  for (const alert of inTable)
    test(`${alert.name} fires when it should, and only then`, async () => {
      const situation = situations[alert.name] as Situation;
      const { labels, annotations } = alertingRule(alert);
      const summary = annotations.summary.replace(
        /\{\{ \$labels\.(\w+) \}\}/g,
        (_, name) => situation.labels?.[name] ?? "",
      );
      const expected = {
        exp_labels: { ...labels, ...situation.labels },
        exp_annotations: { ...annotations, summary },
      };
      const ruleTest = (series: Readonly<Record<string, string>>, alerts: readonly object[]) => ({
        interval: "1m",
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: situation.at, alertname: alert.name, exp_alerts: alerts }],
      });
      const file = join(folder, `${alert.name}.yaml`);
      const tests = [ruleTest(situation.fires, [expected]), ruleTest(situation.silent, [])];
      writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
      const { code, stdout, stderr } = await run("promtool", ["test", "rules", file]);
      assert.equal(code, 0, stdout + stderr);
    });
});
