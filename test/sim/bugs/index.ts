/** All seeded bugs. */

import { actBugs } from "./act.ts";
import type { Bug } from "./bug.ts";
import { consentBugs } from "./consent.ts";
import { controllerBugs } from "./controller.ts";
import { invalidBugs } from "./invalid.ts";
import { provisionerBugs } from "./provisioner.ts";
import { sidecarBugs } from "./sidecar.ts";

export const bugs: readonly Bug[] = [
  ...sidecarBugs,
  ...controllerBugs,
  ...actBugs,
  ...invalidBugs,
  ...provisionerBugs,
  ...consentBugs,
];

/** Finds the bug by any part of its name that no other has. */
export function bugNamed(words: string): Bug {
  const [bug, ...others] = bugs.filter(({ name }) => name.includes(words));
  if (bug !== undefined && others.length === 0) return bug;
  const choice = bug === undefined ? bugs : [bug, ...others];
  const why = bug === undefined ? `no bug "${words}"` : `more than one bug has "${words}" in its name`;
  throw new Error(`${why}; there are\n${choice.map(({ name }) => `  ${name}`).join("\n")}\n`);
}
