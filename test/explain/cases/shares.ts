/** SharedSecrets and SharedConfigMaps that pods cannot use. */
import * as c from "../cluster.ts";
import type { StuckCase } from "../stuck-case.ts";

const secretRef = { secretRef: { namespace: "vault", name: "licence" } };
const available = (status: string, reason: string) => [
  { type: "Available", status, reason, message: "as written", lastTransitionTime: c.ago(300), observedGeneration: 1 },
];
const licence = "SharedSecret licence";
const secret = c.kubernetesObject("v1", "Secret", "vault/licence", { type: "Opaque" });

export const shareCases: readonly StuckCase[] = [
  {
    given: "a SharedSecret whose Secret does not exist",
    explain: licence,
    objects: [c.share("SharedSecret", "licence", secretRef, available("False", "ReferenceNotFound"))],
    cause: "SecretNotFound",
    at: "Secret vault/licence",
    actor: "user",
    next: /kubectl (get|create) secret.*(licence|vault)/,
  },
  {
    given: "a SharedConfigMap whose ConfigMap does not exist",
    explain: "SharedConfigMap settings",
    objects: [
      c.share(
        "SharedConfigMap",
        "settings",
        { configMapRef: { namespace: "vault", name: "settings" } },
        available("False", "ReferenceNotFound"),
      ),
    ],
    cause: "SecretNotFound",
    at: "ConfigMap vault/settings",
    actor: "user",
    next: /settings/,
  },
  {
    given: "a SharedSecret whose Secret the controller may not read",
    explain: licence,
    objects: [secret, c.share("SharedSecret", "licence", secretRef, available("Unknown", "ReferenceForbidden"))],
    cause: "NotPermitted",
    at: "Secret vault/licence",
    actor: "administrator",
    next: /resourceNames|role/i,
  },
  {
    given: "a SharedSecret that is available",
    explain: licence,
    objects: [secret, c.share("SharedSecret", "licence", secretRef, available("True", "ReferenceFound"))],
    cause: "NothingWrong",
    at: licence,
    actor: "nobody",
    next: /nothing/,
  },
  {
    given: "a new SharedSecret for which no controller has run",
    explain: licence,
    objects: [secret, c.share("SharedSecret", "licence", secretRef)],
    cause: "ComponentDown",
    at: licence,
    actor: "administrator",
    next: /shared-resource/,
  },
];
