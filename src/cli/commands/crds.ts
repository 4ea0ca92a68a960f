/** `snapkeep crds`: the CustomResourceDefinitions, ready for kubectl apply. */
import { stringify } from "yaml";
import { crdPhases, snapshotCrds } from "../../api/crds/index.ts";
import { defineCommand } from "../../runtime/command.ts";
import { oneOf } from "../../runtime/flag-kinds.ts";

export const command = defineCommand({
  flags: {
    phase: oneOf(crdPhases.map(String), {
      default: "3",
      help: "Strictness of the schemas: 1 is loose v1beta1, 2 is strict v1 with v1beta1 as storage version, 3 is v1 only.",
    }),
    output: oneOf(["yaml", "json"], { default: "yaml", short: "o", help: "Format of the output." }),
  },
  examples: [
    { does: "Install the current snapshot CRDs", line: "snapkeep crds | kubectl apply -f -" },
    { does: "Print the CRDs that serve v1 and still store v1beta1", line: "snapkeep crds --phase 2" },
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
