/** The table of supported Kubernetes versions says what is tested. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("the newest version in the table is the one that the end-to-end tests run", () => {
  const [, pinned] = /k8s\.io\/kubernetes v(1\.\d+)\.\d+/.exec(read("test/e2e/tools/kubernetes/go.mod")) ?? [];
  const table = read("docs/guides/install.md").split("## Supported versions")[1] ?? "";
  const versions = [...table.matchAll(/^\| (1\.\d+) \|/gm)].map(([, version]) => version);
  assert.equal(versions[0], pinned);
});

test("the chart asks for the oldest version in the table", () => {
  const { kubeVersion } = parse(read("deploy/helm/snapkeep/Chart.yaml")) as { readonly kubeVersion: string };
  const table = read("docs/guides/install.md").split("## Supported versions")[1] ?? "";
  const oldest = [...table.matchAll(/^\| (?:1\.\d+ to )?(1\.\d+)[^|]*\|/gm)].map(([, version = ""]) => version).at(-1);
  assert.equal(kubeVersion, `>=${oldest}.0-0`);
});
