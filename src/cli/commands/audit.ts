/** `snapkeep audit`: every stored object against the strict rules, now. */
import type { KindName } from "../../api/kinds.ts";
import { type CommandInput, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { bool, oneOf, text } from "../../runtime/flag-kinds.ts";
import { type AuditApi, auditPages } from "../audit/audit.ts";
import { auditFormats, reportIn } from "../audit/output.ts";
import { connected } from "../connected.ts";
import { count } from "../findings/count.ts";
import { gateFlags } from "../findings/gates.ts";
import { createProgress } from "../progress.ts";

const flags = {
  ...kubeFlags,
  namespace: text({ short: "n", default: "", help: "Audit only this namespace, and not the objects without one." }),
  output: oneOf(auditFormats, { short: "o", default: "table", help: "Output format of the findings." }),
  claims: bool({ default: true, help: "Also audit the data sources of PersistentVolumeClaims." }),
  ...gateFlags,
} as const;

export const command = defineCommand({
  flags,
  examples: [
    { does: "List every stored object that breaks the rules", line: "snapkeep audit" },
    { does: "Audit one namespace, for a script", line: "snapkeep audit --namespace=team -o json" },
    { does: "Write a report for code scanning", line: "snapkeep audit -o sarif > audit.sarif" },
  ],
  run: (input) => connected("snapkeep-audit", input, { managedFields: "keep" }, (api) => audit(api, input)),
});

const clusterKinds: readonly KindName[] = ["VolumeSnapshotContent", "VolumeSnapshotClass"];

async function audit(api: AuditApi, input: CommandInput<typeof flags>): Promise<number> {
  const { options, out, error, world, signal, version } = input;
  const kinds: readonly KindName[] = [
    "VolumeSnapshot",
    ...(options.namespace === "" ? clusterKinds : []),
    ...(options.claims ? (["PersistentVolumeClaim"] as const) : []),
  ];
  const report = reportIn(options.output, out, version);
  const progress = createProgress(world, error);
  const objects: Record<string, number> = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  const severities = { error: 0, warning: 0 };
  const { namespace } = options;
  for await (const page of auditPages(api, { kinds, namespace, gates: options, signal })) {
    objects[page.kind] = (objects[page.kind] ?? 0) + page.objects.length;
    for (const finding of page.findings) {
      severities[finding.severity] += 1;
      report.add(finding);
    }
    progress(() => `audited ${count(objects[page.kind] ?? 0, page.kind)} so far, ${count(severities.error, "error")}`);
  }
  report.end({ objects, errors: severities.error, warnings: severities.warning });
  return severities.error > 0 ? exitCodes.failed.code : exitCodes.good.code;
}
