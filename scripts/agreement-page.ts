/** docs/reference/admission-agreement.md: where admission policies answer otherwise than the webhook, and in how many pairs of objects. */
import { claimSourceTable, refusedByServer } from "../test/claim-source-table.ts";
import { differenceCounts } from "../test/policy-verdict.ts";

export function agreementPage(): string {
  const { pairs, refused, several, warned } = differenceCounts();
  const rows = [
    ["None: the same is refused and allowed", "", pairs],
    ["The status is 422 instead of 400", "A policy can answer only 403, 413 or 422.", refused],
    ["Of several broken rules the first is named", "Kubernetes answers with the first validation that fails.", several],
    ["None: the same is warned of, because it was broken before", "", warned],
  ];
  return `# Do policies and webhook agree?

<!-- Written by \`npm run docs\` from test/policy-verdict.ts; change that. -->

Pairs of an old and a new VolumeSnapshot or VolumeSnapshotContent: few values of each field, in all kinds of combinations. The unit tests compare
the [policies](admission-policies.md) with webhook and \`snapkeep lint\`, and \`test/e2e/admission-policies.test.ts\` compares them on the real API
server, in v1 and v1beta1, with these numbers. Messages are compared word for word.

| difference | why | pairs |
| --- | --- | --- |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

Data sources of claims: the ${claimSourceTable.length} rows of requirement document 003, judged by policies and webhook on a real API server of 1.36.

| difference | why | rows |
| --- | --- | --- |
| The API server refuses in its own words: ${refusedByServer.join(", ")} | It asks a validating policy only about what is valid. | ${refusedByServer.length} |

Shares: every kind that makes pods, with and without read-only volumes, and names with and without an entry in the allow-list, in the words of the
webhook and with its status 403.

| difference | why |
| --- | --- |
| Of several volumes the first is named | Kubernetes answers with the first validation that fails. |
| Without the ConfigMap of the allow-list no share of its kind can be created | A policy cannot tell a missing list from an empty one, and a reserved name must not slip through. |

The policies for snapshots cost less than a tenth of what the API server allows, for the largest object that it stores: the same test has it evaluate each
expression ten times over.
`;
}
