/** `snapkeep crds`: the CustomResourceDefinitions, ready for kubectl apply. */
import { stringify } from "yaml";
import { crossNamespaceCrds } from "../../api/crds/cross-namespace.ts";
import { groupSnapshotCrds } from "../../api/crds/group-snapshots.ts";
import { crdPhases, snapshotCrds } from "../../api/crds/index.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";
import { sharedResourceCrds } from "../../api/crds/shared-resource.ts";
import { defineCommand } from "../../runtime/command.ts";
import { bool, oneOf } from "../../runtime/flag-kinds.ts";

export const command = defineCommand({
  flags: {
    phase: oneOf(crdPhases.map(String), {
      default: "3",
      help: "Strictness of the schemas: 1 is loose v1beta1, 2 is strict v1 with v1beta1 as storage version, 3 is v1 only.",
    }),
    for: oneOf(["snapshots", "group-snapshots", "shared-resources", "cross-namespace"], {
      default: "snapshots",
      help: "Which definitions: those of snapshots; or, without phases, those of group snapshots, SharedSecret and SharedConfigMap, or ReferenceGrant, VolumeSnapshotLink and VolumePopulator.",
    }),
    serveV1beta1: bool({ default: false, help: "In phase 2: also serve v1beta1, for clients that do not know v1." }),
    output: oneOf(["yaml", "json"], { default: "yaml", short: "o", help: "Format of the output." }),
  },
  examples: [
    { does: "Install the current snapshot CRDs", line: "snapkeep crds | kubectl apply -f -" },
    {
      does: "Install the CRDs of group snapshots, which serve v1, v1beta2 and v1beta1",
      line: "snapkeep crds --for group-snapshots | kubectl apply -f -",
    },
    {
      does: "Install SharedSecret and SharedConfigMap",
      line: "snapkeep crds --for shared-resources | kubectl apply -f -",
    },
    {
      does: "Install ReferenceGrant, VolumeSnapshotLink and VolumePopulator",
      line: "snapkeep crds --for cross-namespace | kubectl apply -f -",
    },
    { does: "Print the CRDs that serve v1 and still store v1beta1", line: "snapkeep crds --phase 2" },
  ],
  check: ({ phase, serveV1beta1 }) =>
    serveV1beta1 && phase !== "2" ? "--serve-v1beta1 works only in phase 2; add --phase=2" : undefined,
  async run({ options, out }) {
    const phase = crdPhases.find((candidate) => String(candidate) === options.phase) ?? 3;
    const sets = {
      snapshots: () => snapshotCrds(phase, options),
      "group-snapshots": () => groupSnapshotCrds(),
      "shared-resources": sharedResourceCrds,
      "cross-namespace": () => [referenceGrantCrd(), ...crossNamespaceCrds()],
    };
    const crds = sets[options.for as keyof typeof sets]();
    const list = { apiVersion: "v1", kind: "List", items: crds };
    const yaml = (): string => crds.map((crd) => `---\n${stringify(crd, { aliasDuplicateObjects: false })}`).join("");
    out.write(options.output === "json" ? `${JSON.stringify(list, undefined, 2)}\n` : yaml());
    return 0;
  },
});
