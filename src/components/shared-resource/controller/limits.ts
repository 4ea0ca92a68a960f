export const shareLimits = {
  /** A reference that is missing or may not be read is looked up again after this long, or after the relist interval if that is shorter. */
  brokenReferenceMs: 30_000,
  webhookCheckMs: 10_000,
  webhookHandshakeMsMax: 3_000,
  /** Endpoints whose certificates are looked at. */
  webhookHandshakesMax: 3,
  /** While the webhook has no endpoint, the event is repeated this often. */
  webhookEventMs: 600_000,
} as const;
