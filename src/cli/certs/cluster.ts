/** The certificates as a Secret that the webhook's pods mount, and their authority in the webhook configurations. */
import { draftOf } from "../../api/builders.ts";
import {
  claimConfigurationName,
  shareConfigurationName,
  snapshotConfigurationName,
} from "../../api/manifests/webhook-configurations.ts";
import type { ObjectOf } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { isFault } from "../../base/fault.ts";
import type { KubeApi } from "../../kube/api.ts";
import { bundleChanges, type Endpoint } from "./bundle.ts";
import type { CertificateSet } from "./issue.ts";

interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

const previousFile = "ca-previous.crt";

/** Both the usual names and those of the requirement document's Deployment. */
const entries = (set: CertificateSet): Readonly<Record<string, string>> => ({
  "tls.crt": set.serving.certificate,
  "tls.key": set.serving.key,
  "cert.pem": set.serving.certificate,
  "key.pem": set.serving.key,
  "ca.crt": set.authority.certificate,
  "ca.key": set.authority.key,
  ...(set.previousAuthority === undefined ? {} : { [previousFile]: set.previousAuthority }),
});

const decoded = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");

export async function readSecret(api: KubeApi, ref: SecretRef, signal: AbortSignal): Promise<Partial<CertificateSet>> {
  try {
    const { data = {} } = await api.get({ kind: "Secret", ...ref }, { signal });
    const pair = (certificate: string | undefined, key: string | undefined) =>
      certificate === undefined || key === undefined ? undefined : { certificate, key };
    const authority = pair(decoded(data["ca.crt"]), decoded(data["ca.key"]));
    const serving = pair(decoded(data["tls.crt"]), decoded(data["tls.key"]));
    const previousAuthority = decoded(data[previousFile]);
    return { ...(authority && { authority }), ...(serving && { serving }), previousAuthority };
  } catch (reason) {
    if (isFault(reason, "NotFound")) return {};
    throw reason;
  }
}

export async function writeSecret(
  api: KubeApi,
  ref: SecretRef,
  set: CertificateSet,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(entries(set)).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
  const draft = draftOf("Secret", ref, { type: "kubernetes.io/tls", data });
  const body = { data };
  await api.create("Secret", draft, { signal }).catch(async (reason: unknown) => {
    if (!isFault(reason, "AlreadyExists")) throw reason;
    await api.patch({ kind: "Secret", ...ref }, { type: "merge", body }, { signal });
  });
}

const configurations = [
  { kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName },
  { kind: "ValidatingWebhookConfiguration", name: shareConfigurationName },
  { kind: "MutatingWebhookConfiguration", name: claimConfigurationName },
] as const;

export type Configuration = ObjectOf<"ValidatingWebhookConfiguration"> | ObjectOf<"MutatingWebhookConfiguration">;

/** Those of snapkeep that exist. */
export async function readConfigurations(api: KubeApi, signal: AbortSignal): Promise<readonly Configuration[]> {
  const found: Configuration[] = [];
  for (const ref of configurations) {
    const configuration = await api.get(ref, { signal }).catch((reason: unknown) => {
      if (isFault(reason, "NotFound")) return undefined;
      throw reason;
    });
    if (configuration !== undefined) found.push(configuration);
  }
  return found;
}

/** Returns the names of the configurations that trust the authority from now on. */
export async function trustAuthority(
  api: KubeApi,
  found: readonly Configuration[],
  set: CertificateSet,
  endpoint: Endpoint,
  nowMs: Millis,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const configuration of found) {
    const changes = bundleChanges(configuration.webhooks ?? [], set, endpoint, nowMs);
    if (changes.length === 0) continue;
    const { kind, metadata } = configuration;
    const test = { op: "test" as const, path: "/metadata/resourceVersion", value: metadata.resourceVersion };
    const ref = { kind: kind as "ValidatingWebhookConfiguration", name: metadata.name };
    await api.patch(ref, { type: "json", body: [test, ...changes] }, { signal });
    changed.push(metadata.name);
  }
  return changed;
}
