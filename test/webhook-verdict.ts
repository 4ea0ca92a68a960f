/** The webhook's verdict without HTTP, for tests that compare it with others. */
import { decideReview, type ReviewDecision } from "../src/components/webhook/judges.ts";
import { platformAllowLists } from "../src/rules/share-allow-lists.ts";
import type { AdmissionPair } from "./admission-pairs.ts";

export const claimGates = { anyVolumeDataSource: true, crossNamespace: false };
const resources = { VolumeSnapshot: "volumesnapshots", VolumeSnapshotContent: "volumesnapshotcontents" } as const;

/** What the webhook answers to a pair, as it would over HTTP. */
export const webhookDecision = ({ kind, before, after }: AdmissionPair): ReviewDecision =>
  decideReview(
    {
      uid: "u",
      operation: before === undefined ? "CREATE" : "UPDATE",
      group: "snapshot.storage.k8s.io",
      resource: resources[kind],
      user: { username: "tester", uid: "" },
      dryRun: false,
      object: after,
      oldObject: before,
    },
    { gates: () => claimGates, otherDefaults: () => [], allowLists: () => platformAllowLists, self: () => undefined },
  );

/** What the webhook says of a pair: "error" for what it refuses, "warning" for what it lets pass because it was so before. */
export function webhookVerdict(pair: AdmissionPair): readonly string[] {
  const { verdict } = webhookDecision(pair);
  return [
    ...verdict.refused.map(({ code }) => `error ${code}`),
    ...verdict.ratcheted.map(({ code }) => `warning ${code}`),
  ].sort();
}
