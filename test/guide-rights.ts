/** What the guides tell an administrator to add to the shipped roles, read from the guides themselves. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { PolicyRule } from "kubernetes-types/rbac/v1.js";
import { parse } from "yaml";

const guides = resolve(import.meta.dirname, "../docs/guides");

/** The blocks of rules in a guide. */
function rulesIn(name: string): readonly PolicyRule[] {
  const text = readFileSync(resolve(guides, name), "utf8");
  const rules = [...text.matchAll(/```yaml\n(- [\s\S]*?)```/g)].flatMap(
    ([, block = ""]) => parse(block) as PolicyRule[],
  );
  assert.ok(rules.length > 0, `${name} has no rules`);
  return rules;
}

const helpful = rulesIn("replacing-external-provisioner.md");

export const guideRights = {
  /** For drivers whose classes name secrets. */
  secrets: helpful.filter(({ resources = [] }) => resources.includes("secrets")),
  /** For the provisioner, where snapshots of other namespaces may be restored. */
  "other namespaces": rulesIn("cross-namespace.md"),
  /** For the driver of shares, where it may watch who may use them. */
  "roles and bindings": rulesIn("shared-resources.md"),
  /** For the controller with the RBAC file of the release. */
  "grants and links": rulesIn("replacing-upstream.md"),
  /** For the provisioner with the RBAC file of the release. */
  "rules that help": helpful,
} as const satisfies Readonly<Record<string, readonly PolicyRule[]>>;

export type GuideRight = keyof typeof guideRights;
