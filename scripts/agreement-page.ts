/** docs/reference/admission-agreement.md: where admission policies answer otherwise than the webhook, and in how many pairs of objects. */
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

The policies cost less than a tenth of what the API server allows, for the largest object that it stores: the same test has it evaluate each
expression ten times over.
`;
}
