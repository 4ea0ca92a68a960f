/** The cluster of `snapkeep up`, whose process runs the components: nothing is installed in it. Pure. */
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { labelOf, nameOf } from "./fields.ts";

const [label, value] = ["app.kubernetes.io/managed-by", "snapkeep-up"] as const;

/** Labels of the webhook configuration, the only object of an installation that `up` creates. */
export const upLabels = { [label]: value } as const;

export const isOfUp = (stored: JsonObject | undefined): boolean =>
  stored !== undefined && nameOf(stored) === snapshotConfigurationName && labelOf(stored, label) === value;

export const upOwner = "snapkeep up, whose process runs the components";
export const upNote =
  "snapkeep up runs the components of this cluster in its own process: nothing is installed, and nothing has to be";
