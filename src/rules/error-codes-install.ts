/** What keeps an installation from being applied: SNAP-8xx. */
import type { ErrorRow } from "./error-row.ts";

export const installErrorRows = {
  "SNAP-801": {
    title: "Another snapshot-controller is at work",
    why: "It holds a lease in another namespace than ours waits for. Two controllers at work would create two contents for one snapshot.",
    remedy: "Scale the other controller to 0 replicas, then run the command again.",
  },
  "SNAP-802": {
    title: "A stored CustomResourceDefinition is newer",
    why: "Replacing it by an older one would remove fields or versions that stored objects use.",
    remedy: "Install the release that the message names, or a later one.",
  },
  "SNAP-803": {
    title: "A driver's workload cannot get our sidecars",
    why: "The pod has no container whose socket can be shared, or the flags of the replaced sidecar are not accepted.",
    remedy:
      "Correct what the message names in the driver's manifest, or add the containers by hand from docs/guides/install.md.",
  },
} as const satisfies Record<string, ErrorRow>;
