/** `snapkeep crds`: the CustomResourceDefinitions, ready for kubectl apply. */
import { stringify } from "yaml";
import { crdPhases, snapshotCrds } from "../../api/crds/index.ts";
import { defineCommand } from "../../runtime/command.ts";
import { oneOf } from "../../runtime/flag-kinds.ts";

export const command = defineCommand({
  flags: {
    phase: oneOf(crdPhases.map(String), {
      default: "3",
      help: "How tight the schemas are: 1 loose v1beta1, 2 strict v1 beside a stored v1beta1, 3 v1 alone.",
    }),
    output: oneOf(["yaml", "json"], { default: "yaml", short: "o", help: "Format of the output." }),
  },
  examples: [
    { does: "Install the snapshot CRDs of today", line: "snapkeep crds | kubectl apply -f -" },
    { does: "Show the CRDs that serve v1 and still store v1beta1", line: "snapkeep crds --phase 2" },
  ],
  async run({ options, out }) {
    const phase = crdPhases.find((candidate) => String(candidate) === options.phase) ?? 3;
    const crds = snapshotCrds(phase);
    const list = { apiVersion: "v1", kind: "List", items: crds };
    const yaml = (): string => crds.map((crd) => `---\n${stringify(crd, { aliasDuplicateObjects: false })}`).join("");
    out.write(options.output === "json" ? `${JSON.stringify(list, undefined, 2)}\n` : yaml());
    return 0;
  },
});
