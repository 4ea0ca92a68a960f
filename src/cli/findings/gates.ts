/** What the cluster supports, for the rules of claims. */
import { bool } from "../../runtime/flag-kinds.ts";

export const gateFlags = {
  anyVolumeDataSource: bool({
    default: true,
    help: "Whether the cluster allows custom kinds as data source of claims.",
  }),
  crossNamespace: bool({
    default: true,
    help: "Whether the cluster keeps spec.dataSourceRef.namespace of claims.",
  }),
} as const;
