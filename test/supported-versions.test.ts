/** The table of supported Kubernetes versions says what is tested. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { olderVersions } from "./e2e/harness/tools.ts";

const root = resolve(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const table = (read("docs/guides/install.md").split("## Supported versions")[1] ?? "").split("\n## ")[0] ?? "";

test("the newest version in the table is the one that the end-to-end tests run", () => {
  const [, pinned] = /k8s\.io\/kubernetes v(1\.\d+)\.\d+/.exec(read("test/e2e/tools/kubernetes/go.mod")) ?? [];
  const versions = [...table.matchAll(/^\| (1\.\d+) \|/gm)].map(([, version]) => version);
  assert.equal(versions[0], pinned);
});

test("the chart asks for the oldest version in the table", () => {
  const { kubeVersion } = parse(read("deploy/helm/snapkeep/Chart.yaml")) as { readonly kubeVersion: string };
  const oldest = [...table.matchAll(/^\| (?:1\.\d+ to )?(1\.\d+)[^|]*\|/gm)].map(([, version = ""]) => version).at(-1);
  assert.equal(kubeVersion, `>=${oldest}.0-0`);
});

test("every older version that the end-to-end tests can run has its row, and a recorded run without a failure", () => {
  const results = read("docs/results/kubernetes-versions.txt");
  for (const version of olderVersions()) {
    assert.match(table, new RegExp(`^\\| ${version.replace(".", "\\.")} \\|`, "m"));
    const [, module] = /k8s\.io\/kubernetes v(\S+)/.exec(read(`test/e2e/tools/kubernetes-${version}/go.mod`)) ?? [];
    assert.match(results, new RegExp(`^${module}: [1-9]\\d* passed, 0 failed, `, "m"), version);
  }
});
