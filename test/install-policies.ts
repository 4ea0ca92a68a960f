/** Rows of `install-table.ts` for clusters that serve admission policies. */
import assert from "node:assert/strict";
import { installationLabel } from "../src/api/manifests/component.ts";
import { policyObjects } from "../src/cli/install/admission.ts";
import { at } from "../src/cli/install/fields.ts";
import { describe } from "../src/cli/install/selection.ts";
import type { RowSession } from "./install-states.ts";
import * as states from "./install-states.ts";
import type { InstallRow } from "./install-table.ts";

async function policiesAre({ resources, one }: RowSession, expected: boolean): Promise<void> {
  for (const policy of policyObjects("any", ["snapshots", "guards"])) {
    const stored = await resources.read(policy);
    assert.equal(at(stored, "metadata", "labels", installationLabel), expected ? one : undefined, describe(policy));
  }
}
async function webhookIs({ resources }: RowSession, expected: boolean): Promise<void> {
  assert.equal((await resources.read(states.validation)) !== undefined, expected);
}
const installedWith =
  (mode: string): InstallRow["setUp"] =>
  async ({ install, one }) => {
    const { code, text } = await install("--apply", `--namespace=${one}`, `--admission=${mode}`);
    assert.equal(code, 0, text);
  };

export async function removePolicies({ resources }: Pick<RowSession, "resources">): Promise<void> {
  for (const policy of policyObjects("any", ["snapshots", "guards"])) {
    const stored = await resources.read(policy);
    if (stored !== undefined) await resources.remove(stored);
  }
}

export const policyInstallRows: readonly InstallRow[] = [
  {
    cluster: "is empty",
    setUp: states.nothing,
    command: "--apply -n ONE --admission=policies",
    code: 0,
    says: [/everything is ready$/m],
    after: async (session) => {
      await policiesAre(session, true);
      await webhookIs(session, false);
    },
  },
  {
    cluster: "has webhook and policies",
    setUp: installedWith("both"),
    command: "--uninstall -n ONE --components=webhook",
    code: 0,
    after: async (session) => {
      await policiesAre(session, true);
      await webhookIs(session, false);
    },
  },
  {
    cluster: "has policies",
    setUp: installedWith("policies"),
    command: "--diff -n ONE --admission=policies",
    code: 0,
    says: [/the cluster is as this release would install it/],
    changesNothing: true,
  },
  {
    cluster: "has policies",
    setUp: installedWith("policies"),
    command: "--uninstall -n ONE",
    code: 0,
    says: [/^deletes: ValidatingAdmissionPolicyBinding volumesnapshots\.storage\.snapkeep\.dev$/m],
    after: (session) => policiesAre(session, false),
  },
];

/** For a cluster older than 1.30. */
export const olderClusterRow: InstallRow = {
  cluster: "serves no admission policies",
  setUp: states.nothing,
  command: "--apply -n ONE --admission=policies",
  code: 1,
  says: [/does not serve ValidatingAdmissionPolicy .*1\.30 on; nothing was changed; .* \[SNAP-808\]/],
  changesNothing: true,
};
