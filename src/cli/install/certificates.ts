/** Who renews the webhook's certificate: the webhook itself, or cert-manager. Pure. */
import { injectAnnotation, isOfCertManager } from "../../api/manifests/cert-manager.ts";
import type { Installation } from "../../api/manifests/component.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { withCode } from "../../errors/codes.ts";
import { annotationOf } from "./fields.ts";
import { type InstallPlan, isKept } from "./selection.ts";

export const certificateModes = ["auto", "self", "cert-manager"] as const;
export type CertificateMode = (typeof certificateModes)[number];

/** `auto`: as the stored configuration for snapshots has it, if it is of this installation. */
export function certificatesOf(
  mode: CertificateMode,
  stored: JsonObject | undefined,
  installation: Installation,
): Installation["certificates"] {
  if (mode !== "auto") return mode;
  const isInjected = stored !== undefined && annotationOf(stored, injectAnnotation) !== undefined;
  return isInjected && isKept(stored, installation) ? "cert-manager" : "self";
}

/** Kinds of cert-manager are not left out in silence: the pods would wait for their Secret for ever. */
export const certificateObjects = ({ objects }: Pick<InstallPlan, "objects">) => objects.filter(isOfCertManager);

export const unservedCertificates = (kind: string): CodedMessage =>
  withCode(
    `--certificates=cert-manager: this cluster does not serve ${kind} (cert-manager.io/v1); nothing was changed; install cert-manager first`,
    "SNAP-809",
  );
