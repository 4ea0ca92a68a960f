/** Asks the webhooks: the mutating ones after each other, then the validating ones all at once. */
import { parse } from "../../base/json.ts";
import { uuid } from "../../base/world.ts";
import { goQuote } from "../../schema/go-text.ts";
import type { ApiObject, BackgroundContext, Resource, Review } from "../contracts.ts";
import { applyJsonPatch } from "../json-patch.ts";
import { fit } from "../prepare.ts";
import { badRequest, internal } from "../status.ts";
import { ask, endpointOf, type ReachWebhook } from "./call.ts";
import { denial, inVersionOf, questionFor, type Verdict, verdictOf, versionFor } from "./exchange.ts";
import { conditionsHold } from "./match-conditions.ts";
import { type Phase, rowFor, type Webhook, webhooksIn } from "./webhook.ts";

const defaultTimeoutSeconds = 10;

export interface Dispatch {
  mutate(review: Review): Promise<ApiObject | undefined>;
  validate(review: Review): Promise<void>;
}

export function createDispatch({ registry, world, log }: BackgroundContext, reach: ReachWebhook): Dispatch {
  const verdictFrom = async (webhook: Webhook, review: Review, row: Resource, phase: Phase): Promise<Verdict> => {
    const version = versionFor(webhook);
    if (version === undefined) throw new Error("webhook does not accept known AdmissionReview versions (v1, v1beta1)");
    const seconds = webhook.timeoutSeconds ?? defaultTimeoutSeconds;
    const uid = uuid(world);
    const question = questionFor(review, row, version, uid);
    const endpoint = endpointOf(webhook, seconds);
    const answer = await ask(reach, endpoint, question, world, seconds * 1000, review.signal).catch((reason) => {
      throw new Error(`failed to call webhook: ${reason instanceof Error ? reason.message : String(reason)}`);
    });
    try {
      return verdictOf(answer, phase, version, uid);
    } catch (reason) {
      throw new Error(
        `received invalid webhook response: ${reason instanceof Error ? reason.message : String(reason)}`,
      );
    }
  };

  /** Undefined: it could not be asked, and is not needed (failurePolicy Ignore). */
  const call = async (webhook: Webhook, review: Review, row: Resource, phase: Phase): Promise<Verdict | undefined> => {
    const { name, sideEffects, failurePolicy } = webhook;
    if (review.context.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun")
      throw badRequest(`admission webhook ${goQuote(name)} does not support dry run`);
    try {
      return await verdictFrom(webhook, review, row, phase);
    } catch (reason) {
      const why = `failed calling webhook ${goQuote(name)}: ${reason instanceof Error ? reason.message : String(reason)}`;
      if (failurePolicy !== "Ignore") throw internal(why);
      log.warn("webhook call failed and is ignored", { webhook: name, reason: why });
      return undefined;
    }
  };

  const heed = (webhook: Webhook, review: Review, verdict: Verdict | undefined): void => {
    for (const text of verdict?.warnings ?? []) review.warn(text);
    if (verdict?.allowed === false) throw denial(webhook.name, verdict.status);
  };

  /** The version of the resource that it is to be asked about, if it is to be asked. */
  const rowToAsk = (webhook: Webhook, review: Review): Resource | undefined => {
    const row = rowFor(webhook, review, registry, registry.resources());
    return row !== undefined && conditionsHold(webhook, review, row) ? row : undefined;
  };

  return {
    mutate: async (review) => {
      let { object } = review;
      for (const webhook of webhooksIn(registry, "mutating")) {
        const current: Review = { ...review, object };
        const row = rowToAsk(webhook, current);
        if (row === undefined) continue;
        const verdict = await call(webhook, current, row, "mutating");
        heed(webhook, review, verdict);
        if (verdict?.patch !== undefined && object !== undefined) object = patched(object, review, row, verdict.patch);
      }
      return object;
    },
    validate: async (review) => {
      const asked = webhooksIn(registry, "validating").flatMap((webhook) => {
        const row = rowToAsk(webhook, review);
        return row === undefined ? [] : [{ webhook, row }];
      });
      const settled = await Promise.allSettled(
        asked.map(({ webhook, row }) => call(webhook, review, row, "validating")),
      );
      for (const [index, outcome] of settled.entries()) {
        if (outcome.status === "rejected") throw outcome.reason;
        const { webhook } = asked[index] ?? {};
        if (webhook !== undefined) heed(webhook, review, outcome.value);
      }
    },
  };
}

/** What the patch made of the object, fitted and defaulted like a request's body. */
function patched(object: ApiObject, { resource, context }: Review, row: Resource, patch: string): ApiObject {
  let result: ApiObject;
  try {
    const shown = inVersionOf(object, resource, row) ?? object;
    result = inVersionOf(applyJsonPatch(shown, parse(patch)) as ApiObject, row, resource) ?? object;
  } catch (reason) {
    throw internal(reason instanceof Error ? reason.message : String(reason));
  }
  fit(result, resource, context.gates);
  return result;
}
