/** The admission webhook as a `Handler`: request → rules → AdmissionReview. This file only wires; the verdicts come from judges.ts. */
import { Fault } from "../../base/fault.ts";
import { bodyText, type Handler, type HttpResponse, isStream } from "../../base/http.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { Instruments } from "../../runtime/metrics.ts";
import type { Check } from "../../runtime/status-pages.ts";
import { type AdmissionRequest, reply } from "./admission-review.ts";
import { decideReview, type ReviewContext, type ReviewDecision, resourceLabel } from "./judges.ts";
import type { webhookMetrics } from "./metrics.ts";

export interface WebhookDeps extends ReviewContext {
  readonly world: Pick<World, "elapsed">;
  readonly log: Log;
  readonly instruments: Instruments<typeof webhookMetrics>;
  /** Why no more requests should be sent here; they are answered all the same. */
  readonly ready: Check;
}

const plain = (status: number, body: string): HttpResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: `${body}\n`,
});

const checked = (problem: string | undefined): HttpResponse =>
  problem === undefined ? plain(200, "ok") : plain(503, problem);

export function createWebhook({ world, log, instruments, ready, ...context }: WebhookDeps): Handler {
  const { decisions, seconds, claimDenials } = instruments;
  const countSharing = ({ sharing, verdict: { ratcheted }, denied }: ReviewDecision): void => {
    if (sharing === "SharedSecret" && denied !== undefined) instruments.secretNameFailures.add({});
    if (sharing === "SharedConfigMap" && denied !== undefined) instruments.configMapNameFailures.add({});
    if (sharing === "volumes" && denied !== undefined) instruments.readOnlyFailures.add({});
    if (sharing === "volumes" && denied === undefined && ratcheted.length === 0) instruments.readOnlySuccesses.add({});
  };
  const count = ({ resource }: AdmissionRequest, { verdict: { refused, ratcheted }, denied }: ReviewDecision): void => {
    const verdict = denied === undefined ? "allowed" : "denied";
    if (refused.length + ratcheted.length === 0) decisions.add({ rule: "", verdict, ratcheted: "false" });
    for (const { code } of refused) decisions.add({ rule: code, verdict, ratcheted: "false" });
    for (const { code } of ratcheted) decisions.add({ rule: code, verdict, ratcheted: "true" });
    if (resource === "persistentvolumeclaims") for (const { code } of refused) claimDenials.add({ rule: code });
  };
  const answer = (request: AdmissionRequest): ReviewDecision => {
    const startedMs = world.elapsed();
    const decision = decideReview(request, context);
    count(request, decision);
    countSharing(decision);
    seconds.observe({ resource: resourceLabel(request) }, (world.elapsed() - startedMs) / 1_000);
    if (decision.denied !== undefined)
      log.debug("request denied", { resource: request.resource, uid: request.uid, reason: decision.denied.message });
    return decision;
  };
  return async ({ method, path, headers, body = "" }) => {
    if (method === "GET" && path === "/healthz") return checked(undefined);
    if (method === "GET" && path === "/readyz") return checked(ready());
    if (method !== "POST") return plain(405, "send an AdmissionReview by POST");
    const type = headers["content-type"] ?? "";
    if (!/^application\/json\s*(;|$)/i.test(type)) return plain(400, `contentType=${type}, expect application/json`);
    try {
      const text = isStream(body) ? "" : bodyText(body);
      return { status: 200, headers: { "content-type": "application/json" }, body: reply(text, answer) };
    } catch (reason) {
      if (!(reason instanceof Fault)) throw reason;
      return plain(400, reason.message);
    }
  };
}
