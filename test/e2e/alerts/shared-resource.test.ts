/** The alerts about shared resources, as Prometheus itself evaluates them: `promtool test rules` on the file of deploy/. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { parse, stringify } from "yaml";
import { run } from "../harness/run.ts";

const rulesFile = resolve(import.meta.dirname, "../../../deploy/monitoring/alerts.yaml");

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
const rules = (parse(readFileSync(rulesFile, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

/** Series by name, in promtool's notation: "0+3x20" rises by 3 at each of 20 samples. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly given: string;
  readonly series: Series;
  readonly alert: string;
  readonly at: string;
  /** The severities that fire. */
  readonly fires: readonly string[];
  /** Between two scrapes; 30 s unless given. Prometheus' default is a minute. */
  readonly every?: string;
}

const prefix = "openshift_csi_share_";
const misuse = "SharedResourceMisuse";
const invalid = "SharedResourceInvalid";

const cases: readonly Case[] = [
  {
    given: "R70: one refusal by the webhook in five uses",
    series: {
      pod_readonly_failures_webhook_total: "0+1x20",
      mount_requests_total: "0+4x20",
      mount_failures_total: "0x20",
    },
    alert: misuse,
    at: "4m",
    fires: ["info"],
  },
  {
    given: "R70: one refusal by the driver in five uses, with the webhook down",
    series: {
      pod_readonly_failures_controller_total: "0+1x20",
      mount_requests_total: "0+5x20",
      mount_failures_total: "0+1x20",
    },
    alert: misuse,
    at: "4m",
    fires: ["info"],
  },
  {
    given: "R70: refused names on both sides, each below the limit and both above it",
    series: {
      sharedsecret_reserved_name_failures_webhook_total: "0+3x20",
      sharedconfigmap_reserved_name_failures_controller_total: "0+3x20",
      mount_requests_total: "0+40x20",
      mount_failures_total: "0x20",
    },
    alert: misuse,
    at: "4m",
    fires: ["info"],
  },
  {
    given: "R70: one refusal by the webhook in five uses, scraped once a minute",
    series: {
      pod_readonly_failures_webhook_total: "0+1x20",
      mount_requests_total: "0+4x20",
      mount_failures_total: "0x20",
    },
    every: "60s",
    alert: misuse,
    at: "6m",
    fires: ["info"],
  },
  {
    given: "R70: one refusal in twenty uses, scraped once a minute",
    series: {
      pod_readonly_failures_webhook_total: "0+1x20",
      mount_requests_total: "0+20x20",
      mount_failures_total: "0x20",
    },
    every: "60s",
    alert: misuse,
    at: "6m",
    fires: [],
  },
  {
    given: "R70: one refusal in twenty uses",
    series: {
      pod_readonly_failures_webhook_total: "0+1x20",
      mount_requests_total: "0+20x20",
      mount_failures_total: "0x20",
    },
    alert: misuse,
    at: "4m",
    fires: [],
  },
  {
    given: "R70: nothing at all happens",
    series: { pod_readonly_failures_webhook_total: "0x20", mount_requests_total: "0x20", mount_failures_total: "0x20" },
    alert: misuse,
    at: "4m",
    fires: [],
  },
  {
    given: "R70: refusals that have ended",
    series: {
      pod_readonly_failures_webhook_total: "0+1x4 4x20",
      mount_requests_total: "0+4x24",
      mount_failures_total: "0x24",
    },
    alert: misuse,
    at: "10m",
    fires: [],
  },
  {
    given: "R71: a share of a user that refers to nothing",
    series: { not_true_info: "1x20", not_true_warning: "0x20", not_true_critical: "0x20" },
    alert: invalid,
    at: "6m",
    fires: ["info"],
  },
  {
    given: "R71: a share of the platform that refers to nothing",
    series: { not_true_info: "0x20", not_true_warning: "1x20", not_true_critical: "0x20" },
    alert: invalid,
    at: "6m",
    fires: ["warning"],
  },
  {
    given: "R71: a share whose allow-list says critical",
    series: { not_true_info: "0x20", not_true_warning: "0x20", not_true_critical: "1x20" },
    alert: invalid,
    at: "6m",
    fires: ["critical"],
  },
  {
    given: "R71: shares that are all in order",
    series: { not_true_info: "0x20", not_true_warning: "0x20", not_true_critical: "0x20" },
    alert: invalid,
    at: "6m",
    fires: [],
  },
  {
    given: "R79: a webhook without an endpoint",
    series: { webhook_endpoints: "0x20" },
    alert: "SharedResourceWebhookUnreachable",
    at: "6m",
    fires: ["warning"],
  },
  {
    given: "R79: a webhook whose certificate the API server does not trust",
    series: { webhook_endpoints: "2x20", webhook_trusted: "0x20" },
    every: "60s",
    alert: "SharedResourceWebhookUnreachable",
    at: "7m",
    fires: ["warning"],
  },
  {
    given: "R80: a webhook that is reached and trusted",
    series: { webhook_endpoints: "2x20", webhook_trusted: "1x20" },
    alert: "SharedResourceWebhookUnreachable",
    at: "6m",
    fires: [],
  },
  {
    given: "R73: a volume that is not emptied, scraped once a minute",
    series: { 'volumes_not_current{cause="not_emptied"}': "1x20", 'volumes_not_current{cause="memory"}': "0x20" },
    every: "60s",
    alert: "SharedResourceVolumeNotEmptied",
    at: "7m",
    fires: ["critical"],
  },
  {
    given: "R73: a volume that has no room",
    series: { 'volumes_not_current{cause="not_emptied"}': "0x40", 'volumes_not_current{cause="memory"}': "1x40" },
    alert: "SharedResourceVolumeNotCurrent",
    at: "16m",
    fires: ["warning"],
  },
  {
    given: "R73: volumes that are all as they should be",
    series: { 'volumes_not_current{cause="not_emptied"}': "0x40", 'volumes_not_current{cause="memory"}': "0x40" },
    alert: "SharedResourceVolumeNotCurrent",
    at: "16m",
    fires: [],
  },
  {
    given: "R80: no webhook configuration",
    series: { webhook_endpoints: "-1x20", webhook_trusted: "-1x20" },
    alert: "SharedResourceWebhookUnreachable",
    at: "6m",
    fires: [],
  },
];

/** With the labels of the scrape beside its own. */
const seriesOf = (name: string): string =>
  `${prefix}${name.endsWith("}") ? name.replace(/\}$/, ',instance="a"}') : `${name}{instance="a"}`}`;

async function promtool(t: { after(end: () => void): void }, { series, alert, at, fires, every = "30s" }: Case) {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-alerts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "test.yaml");
  const annotationsOf = (severity: string) =>
    rules.find((rule) => rule.alert === alert && rule.labels.severity === severity)?.annotations;
  const text = stringify({
    rule_files: [rulesFile],
    // Rules are evaluated between two scrapes too: at the moment of a scrape alone, a range of one minute would hold two samples.
    evaluation_interval: "15s",
    tests: [
      {
        interval: every,
        input_series: Object.entries(series).map(([name, values]) => ({
          series: seriesOf(name),
          values,
        })),
        alert_rule_test: [
          {
            eval_time: at,
            alertname: alert,
            exp_alerts: fires.map((severity) => ({
              exp_labels: { severity },
              exp_annotations: annotationsOf(severity),
            })),
          },
        ],
      },
    ],
  });
  writeFileSync(file, text);
  return run("promtool", ["test", "rules", file]);
}

for (const row of cases) {
  const [, requirement = "", given = ""] = /^(R\d+): (.*)$/.exec(row.given) ?? [];
  const then = row.fires.length === 0 ? "does not fire" : `fires with severity ${row.fires.join(", ")}`;
  test(`${requirement}: given ${given}, ${row.alert} ${then}`, async (t) => {
    const { code, stdout, stderr } = await promtool(t, row);
    assert.equal(code, 0, `${stdout}${stderr}`);
  });
}

test("promtool finds nothing wrong with the rules of any component", async () => {
  const { code, stdout, stderr } = await run("promtool", ["check", "rules", rulesFile]);
  assert.equal(code, 0, `${stdout}${stderr}`);
});
