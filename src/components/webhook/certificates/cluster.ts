/**
 * The certificates in a Secret that the webhook's pods mount, and their authorities in the webhook configurations. Each write says which
 * version was read: somebody else who writes at the same time is not overwritten.
 */
import { draftOf } from "../../../api/builders.ts";
import { injectAnnotation } from "../../../api/manifests/cert-manager.ts";
import {
  claimConfigurationName,
  shareConfigurationName,
  snapshotConfigurationName,
} from "../../../api/manifests/webhook-configurations.ts";
import { isFault } from "../../../base/fault.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { type BundleChange, textOf } from "./bundle.ts";
import {
  authorityFacts,
  type Configuration,
  certificatesIn,
  type Endpoint,
  namesOf,
  servingFacts,
  trustFacts,
} from "./facts.ts";
import type { KeyPair } from "./issue.ts";
import type { CertificateFacts, StoredFacts } from "./plan-renewal.ts";

export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** What the Secret holds; a certificate without its key is one that somebody else renews. */
export interface Stored {
  /** Undefined: there is no Secret. */
  readonly resourceVersion: string | undefined;
  readonly authority: Partial<KeyPair>;
  readonly serving: KeyPair | undefined;
  readonly next: KeyPair | undefined;
  readonly earlier: string;
  /** Who else renews it. */
  readonly renewedBy?: string | undefined;
}

/** cert-manager writes it to each Secret that it keeps. */
const certManagerAnnotation = "cert-manager.io/certificate-name";
/** The Secret may be yet to come. */
const isInjected = (configuration: Configuration, endpoint: Endpoint): boolean =>
  configuration.metadata.annotations?.[injectAnnotation] !== undefined &&
  trustFacts(configuration, endpoint).length > 0;

/** Both the usual names and those of the requirement document's Deployment. */
const files = {
  serving: { certificate: ["tls.crt", "cert.pem"], key: ["tls.key", "key.pem"] },
  authority: { certificate: ["ca.crt"], key: ["ca.key"] },
  next: { certificate: ["ca-next.crt"], key: ["ca-next.key"] },
} as const;
const earlierFile = "ca-previous.crt";

const encoded = (text: string): string => Buffer.from(text).toString("base64");
const decoded = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");

/** The entries of a pair; null removes them. */
const entriesOf = (part: keyof typeof files, pair: KeyPair | undefined): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    (["certificate", "key"] as const).flatMap((half) =>
      files[part][half].map((name) => [name, pair === undefined ? null : encoded(pair[half])]),
    ),
  );

const nothing: Stored = {
  resourceVersion: undefined,
  authority: {},
  serving: undefined,
  next: undefined,
  earlier: "",
};

export async function readSecret(api: KubeApi, ref: SecretPlace, signal: AbortSignal): Promise<Stored> {
  try {
    const { data = {}, metadata } = await api.get({ kind: "Secret", ...ref }, { signal });
    const entry = (part: keyof typeof files, half: "certificate" | "key") => decoded(data[files[part][half][0]]);
    const pair = (part: keyof typeof files): KeyPair | undefined => {
      const [certificate, key] = [entry(part, "certificate"), entry(part, "key")];
      return certificate === undefined || key === undefined ? undefined : { certificate, key };
    };
    const [certificate, key] = [entry("authority", "certificate"), entry("authority", "key")];
    return {
      resourceVersion: metadata.resourceVersion,
      authority: { ...(certificate !== undefined && { certificate }), ...(key !== undefined && { key }) },
      serving: pair("serving"),
      next: pair("next"),
      earlier: decoded(data[earlierFile]) ?? "",
      renewedBy: metadata.annotations?.[certManagerAnnotation] === undefined ? undefined : "cert-manager",
    };
  } catch (reason) {
    if (isFault(reason, "NotFound")) return nothing;
    throw reason;
  }
}

/** The new authority beside the current one. */
export const storeNext = (api: KubeApi, secret: SecretPlace, stored: Stored, next: KeyPair, signal: AbortSignal) =>
  changeSecret(api, secret, stored, entriesOf("next", next), signal);

export interface Serving {
  readonly authority: KeyPair;
  readonly serving: KeyPair;
  /** Authorities of before that stay trusted. */
  readonly earlier: readonly CertificateFacts[];
}

export async function storeServing(
  api: KubeApi,
  secret: SecretPlace,
  stored: Stored,
  { authority, serving, earlier }: Serving,
  signal: AbortSignal,
): Promise<void> {
  const data = {
    ...entriesOf("serving", serving),
    ...entriesOf("authority", authority),
    ...entriesOf("next", undefined),
    [earlierFile]: earlier.length === 0 ? null : encoded(textOf(earlier)),
  };
  await changeSecret(api, secret, stored, data, signal);
}

/** Before there is a serving certificate, its entries are empty: Secrets of this type must have them. */
const empty = { "tls.crt": "", "tls.key": "" } as const;

async function changeSecret(
  api: KubeApi,
  ref: SecretPlace,
  { resourceVersion }: Stored,
  data: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
): Promise<void> {
  if (resourceVersion !== undefined) {
    const body = { metadata: { resourceVersion }, data };
    await api.patch({ kind: "Secret", ...ref }, { type: "merge", body }, { signal });
    return;
  }
  const present = Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null);
  const body = { type: "kubernetes.io/tls", data: { ...empty, ...Object.fromEntries(present) } };
  await api.create("Secret", draftOf("Secret", ref, body), { signal });
}

const configurations = [
  { kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName },
  { kind: "ValidatingWebhookConfiguration", name: shareConfigurationName },
  { kind: "MutatingWebhookConfiguration", name: claimConfigurationName },
] as const;

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

export function factsOf(stored: Stored, found: readonly Configuration[], endpoint: Endpoint): StoredFacts {
  const authority = authorityFacts(stored.authority.certificate, stored.authority.key);
  return {
    authority,
    serving: stored.serving && servingFacts(stored.serving, authority, namesOf(endpoint)),
    next: stored.next && authorityFacts(stored.next.certificate, stored.next.key),
    earlier: certificatesIn(stored.earlier),
    webhooks: found.flatMap((configuration) => trustFacts(configuration, endpoint)),
    renewedBy: stored.renewedBy ?? (found.some((one) => isInjected(one, endpoint)) ? "cert-manager" : undefined),
  };
}

/** Returns the names of the configurations that were changed. */
export async function writeBundles(
  api: KubeApi,
  changes: readonly BundleChange[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const byConfiguration = Map.groupBy(changes, ({ configuration: { kind, name } }) => `${kind}/${name}`);
  const changed: string[] = [];
  for (const [first, ...others] of byConfiguration.values()) {
    if (first === undefined) continue;
    const { kind, name, resourceVersion } = first.configuration;
    const test = { op: "test" as const, path: "/metadata/resourceVersion", value: resourceVersion };
    const values = [first, ...others].map(({ index, bundle }) => ({
      op: "add" as const,
      path: `/webhooks/${index}/clientConfig/caBundle`,
      value: encoded(bundle),
    }));
    await api.patch(
      { kind: kind as "ValidatingWebhookConfiguration", name },
      { type: "json", body: [test, ...values] },
      { signal },
    );
    changed.push(name);
  }
  return changed;
}
