/** Who else has a say: first what is built in, then the webhooks, once to change the object and once to judge it. */
import type { Admission, BackgroundContext, Parts } from "../contracts.ts";
import { createHttpsReach, type ReachWebhook } from "./call.ts";
import { createDispatch } from "./dispatch.ts";
import { mutateBuiltIn, validateBuiltIn } from "./plugins.ts";

export interface AdmissionOptions {
  /** How webhooks are reached; over HTTPS unless they live in this process. */
  readonly reach?: ReachWebhook;
}

export const createAdmissionWith =
  ({ reach = createHttpsReach() }: AdmissionOptions = {}): Parts["createAdmission"] =>
  (context: BackgroundContext): Admission => {
    const webhooks = createDispatch(context, reach);
    return {
      mutate: async (review) => webhooks.mutate({ ...review, object: mutateBuiltIn(review, context.registry) }),
      validate: async (review) => {
        validateBuiltIn(review, context.registry);
        await webhooks.validate(review);
      },
    };
  };
