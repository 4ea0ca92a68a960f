/** The webhook for snapshots in the simulation: the production verdicts, without the network between it and the API server. */
import { snapshotConfiguration } from "../../src/api/manifests/webhook-configurations.ts";
import type { KubeObject } from "../../src/api/types.ts";
import {
  type Admission,
  conditionsHold,
  internal,
  Refusal,
  type Webhook as RegisteredWebhook,
  type Review,
} from "../../src/apiserver/index.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { decideReview } from "../../src/components/webhook/judges.ts";
import { platformAllowLists } from "../../src/rules/share-allow-lists.ts";
import type { AdmissionEntry, WatchedKind } from "./record.ts";

export type FailurePolicy = "Ignore" | "Fail";
export type Decide = (...args: Parameters<typeof decideReview>) => Pick<ReturnType<typeof decideReview>, "denied">;

export interface Webhook {
  readonly policy: FailurePolicy | undefined;
  isUp: boolean;
  /** The same admission, with the webhook asked last. */
  around(admission: Admission): Admission;
}

interface WebhookOptions {
  readonly policy: FailurePolicy | undefined;
  readonly decide: Decide | undefined;
  /** As releases before the match conditions registered it. */
  readonly isAskedAlways?: boolean | undefined;
  note(entry: Omit<AdmissionEntry, "type" | "atMs">): void;
}

/** The conditions that ship, under which the webhook is asked. */
const place = { client: { url: "https://webhook" } };
const [shipped] = snapshotConfiguration(place).webhooks as unknown as readonly [RegisteredWebhook];
/** As deploy/webhook registers it. */
const operations = ["CREATE", "UPDATE"];
const kinds: readonly string[] = ["VolumeSnapshot", "VolumeSnapshotContent", "VolumeSnapshotClass"];
const name = "validation-webhook.snapshot.storage.k8s.io";
const surroundings: Parameters<typeof decideReview>[1] = {
  gates: () => ({ anyVolumeDataSource: true, crossNamespace: false }),
  otherDefaults: () => undefined,
  allowLists: () => platformAllowLists,
  self: () => undefined,
};

export function createWebhook({
  policy,
  decide: answer = decideReview,
  isAskedAlways = false,
  note,
}: WebhookOptions): Webhook {
  const isAsked = (review: Review): boolean =>
    operations.includes(review.operation) &&
    review.subresource === "" &&
    kinds.includes(review.resource.kind) &&
    (isAskedAlways || conditionsHold(shipped, review, review.resource));
  const judge = (review: Review): void => {
    const { operation, resource, object, oldObject } = review;
    if (object === undefined) return;
    const before = oldObject as unknown as JsonObject | undefined;
    const { group, plural } = resource;
    const sender = { user: { username: "user", uid: "" }, dryRun: false };
    const request = { uid: "review", operation, group, resource: plural, oldObject: before, ...sender };
    const { denied } = answer({ ...request, object: object as unknown as JsonObject }, surroundings);
    note({
      kind: resource.kind as WatchedKind,
      key: review.namespace === "" ? review.name : `${review.namespace}/${review.name}`,
      before: oldObject as unknown as KubeObject | undefined,
      after: object as unknown as KubeObject,
      refused: denied?.message,
    });
    if (denied !== undefined)
      throw new Refusal(
        denied.code,
        "BadRequest",
        `admission webhook ${JSON.stringify(name)} denied the request: ${denied.message}`,
      );
  };
  const webhook: Webhook = {
    policy,
    isUp: true,
    around: (admission) =>
      policy === undefined
        ? admission
        : {
            mutate: admission.mutate,
            validate: async (review) => {
              await admission.validate(review);
              if (!isAsked(review)) return;
              if (webhook.isUp) judge(review);
              else if (policy === "Fail")
                throw internal(`failed calling webhook ${JSON.stringify(name)}: connect: connection refused`);
            },
          },
  };
  return webhook;
}
