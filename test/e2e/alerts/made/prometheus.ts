/** Debian's prometheus on loopback, which scrapes our processes and the API server several times a second. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { ControlPlane } from "../../harness/control-plane.ts";
import { freePort } from "../../harness/ports.ts";
import { until } from "../../harness/until.ts";
import { nameOf, shortRules } from "./rules.ts";

export interface Prometheus {
  /** Resolves when every target was scraped. */
  scraped(): Promise<void>;
  /** Resolves when no alert fires. */
  quiet(): Promise<void>;
  /** The alerts that fire now, with their severities. */
  firing(): Promise<readonly string[]>;
}

const everyMs = "400ms";
const waitMs = 120_000;

export async function startPrometheus(plane: ControlPlane, targets: readonly string[]): Promise<Prometheus> {
  const { folder, start } = plane.instance;
  const port = await freePort();
  const [config, rules] = [join(folder, "prometheus.yaml"), join(folder, "rules.yaml")];
  writeFileSync(rules, stringify(shortRules()));
  const server = {
    job_name: "apiserver",
    scheme: "https",
    authorization: { credentials: plane.token },
    tls_config: { ca_file: plane.caFile },
    static_configs: [{ targets: [new URL(plane.url).host] }],
    // It answers with a megabyte.
    scrape_interval: "1s",
  };
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: everyMs, scrape_timeout: everyMs, evaluation_interval: everyMs },
      rule_files: [rules],
      scrape_configs: [{ job_name: "components", static_configs: [{ targets }] }, server],
    }),
  );
  start("prometheus", "prometheus", [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, "prometheus")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  const ask = async <T>(path: string): Promise<T | undefined> =>
    fetch(`http://127.0.0.1:${port}/api/v1/${path}`).then(
      async (answer) => (answer.ok ? ((await answer.json()) as { data: T }).data : undefined),
      () => undefined,
    );
  const firing: Prometheus["firing"] = async () => {
    const data = await ask<{ alerts: readonly Alert[] }>("alerts");
    return (data?.alerts ?? [])
      .filter(({ state }) => state === "firing")
      .map(({ labels }) => nameOf({ name: labels.alertname, severity: labels.severity as never }));
  };
  return {
    firing,
    scraped: async () => {
      await until({ what: "every target is scraped", msMax: waitMs }, async () => {
        const data = await ask<{ activeTargets: readonly { health: string }[] }>("targets?state=active");
        const active = data?.activeTargets ?? [];
        return active.length > targets.length && active.every(({ health }) => health === "up") ? true : undefined;
      });
    },
    quiet: async () => {
      await until({ what: "no alert fires", msMax: waitMs }, async () =>
        (await firing()).length === 0 ? true : undefined,
      );
    },
  };
}

interface Alert {
  readonly state: string;
  readonly labels: { readonly alertname: string; readonly severity: string };
}
