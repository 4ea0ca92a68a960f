/** Who else has a say: first what is built in, then the webhooks, once to change the object and once to judge it. */
import type { Admission, BackgroundContext, Parts } from "../contracts.ts";
import { createHttpsReach, type ReachWebhook } from "./call.ts";
import { createDispatch } from "./dispatch.ts";
import { mutateBuiltIn, validateBuiltIn } from "./plugins.ts";
import { type Phase, webhooksIn } from "./webhook.ts";

export interface AdmissionOptions {
  /** How webhooks are reached; over HTTPS unless they live in this process. */
  readonly reach?: ReachWebhook;
}

export const createAdmissionWith =
  ({ reach = createHttpsReach() }: AdmissionOptions = {}): Parts["createAdmission"] =>
  (context: BackgroundContext): Admission => {
    const webhooks = createDispatch(context, reach);
    const isAnybodyAsked = (phase: Phase): boolean => webhooksIn(context.registry, phase).length > 0;
    return {
      mutate: async (review) => {
        const object = mutateBuiltIn(review, context.registry);
        return isAnybodyAsked("mutating") ? webhooks.mutate({ ...review, object }) : object;
      },
      validate: async (review) => {
        validateBuiltIn(review, context.registry);
        if (isAnybodyAsked("validating")) await webhooks.validate(review);
      },
    };
  };
