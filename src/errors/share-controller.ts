/** Errors about shares that the controller finds: SNAP-75x. */
import type { ErrorRow } from "./row.ts";

export const shareControllerErrorRows = {
  "SNAP-751": {
    title: "The Secret or ConfigMap of a share does not exist",
    why: "Pods that mount the share cannot start, and mounted volumes of it are empty.",
    fix: (
      object = "the Secret or ConfigMap that the share refers to",
      reference = "spec.secretRef or spec.configMapRef",
    ) => `create ${object}, or correct ${reference}`,
    more: "The condition Available follows within 30 seconds.",
  },
  "SNAP-752": {
    title: "The controller may not read the Secret or ConfigMap of a share",
    why: "Whether the reference exists cannot be found out; the condition Available is Unknown.",
    fix: "create a Role with get on that one Secret or ConfigMap (resourceNames) in its namespace, and bind it to the service account of the controller",
    more: "The same Role with get, list and watch lets the driver mount it.",
  },
  "SNAP-753": {
    title: "The webhook for shares has no endpoint",
    why: "Its failurePolicy is Ignore, so the API server admits shares and pods without asking. Driver and controller still refuse and count misuse.",
    fix: (what = "the pods, the Service and the certificate") => `look at ${what} of the webhook`,
    more: "See docs/guides/shared-resources-admission.md. To do without the webhook, delete its ValidatingWebhookConfiguration.",
  },
  "SNAP-754": {
    title: "The API server does not trust the webhook for shares",
    why: "The certificate has expired, has another name, or is not of the authority in caBundle. The failurePolicy is Ignore, so the API server admits shares and pods without asking.",
    fix: "run snapkeep certs --apply",
    more: "It renews the certificate and sets caBundle.",
  },
} as const satisfies Record<string, ErrorRow>;
