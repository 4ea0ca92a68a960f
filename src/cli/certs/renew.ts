/** Certificates that are good for a while stay; the others are made anew. */
import { Fault } from "../../base/fault.ts";
import type { KubeApi } from "../../kube/api.ts";
import { withCode } from "../../rules/error-codes.ts";
import { asksEndpoint, describeEndpoint } from "./bundle.ts";
import { type Configuration, readConfigurations, readSecret, trustAuthority, writeSecret } from "./cluster.ts";
import { type CertificateSet, issueServing, type KeyPair, newAuthority, shortcomingOf } from "./issue.ts";

export interface RenewOptions {
  readonly namespace: string;
  readonly secret: string;
  readonly service: string;
  readonly dns: readonly string[];
  readonly validity: number;
  readonly authorityValidity: number;
  readonly renewBefore: number;
  readonly force: boolean;
}

const dayMs = 86_400_000;

export const certificateDefaults: Omit<RenewOptions, "namespace"> = {
  secret: "snapshot-validation-secret",
  service: "snapshot-validation-service",
  dns: [],
  validity: 365 * dayMs,
  authorityValidity: 3_650 * dayMs,
  renewBefore: 30 * dayMs,
  force: false,
};

export async function renewInCluster(
  api: KubeApi,
  options: RenewOptions,
  nowMs: number,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  const ref = { namespace: options.namespace, name: options.secret };
  const configurations = await readConfigurations(api, signal);
  refuseUnasked(options, configurations);
  const { set, said, isNew } = await upToDate(options, nowMs, await readSecret(api, ref, signal));
  say(said);
  // Trusted before it is served: a pod may mount the new certificate at any time after it is written.
  for (const name of await trustAuthority(api, configurations, set, options, nowMs, signal))
    say(`set caBundle of ${name}`);
  if (!isNew) return;
  await writeSecret(api, ref, set, signal);
  say(`wrote Secret ${ref.namespace}/${ref.name}`);
}

/** A mistyped namespace: the certificate would be for a Service that no webhook configuration asks. */
function refuseUnasked(options: RenewOptions, configurations: readonly Configuration[]): void {
  const webhooks = configurations.flatMap(({ metadata, webhooks: all = [] }) =>
    all.map((webhook) => ({ name: metadata.name, webhook })),
  );
  if (webhooks.length === 0 || webhooks.some(({ webhook }) => asksEndpoint(webhook, options))) return;
  const asked = webhooks.map(({ name, webhook }) => `${name} asks ${describeEndpoint(webhook)}`);
  throw new Fault(
    "FailedPrecondition",
    withCode(
      `no webhook configuration asks Service ${options.namespace}/${options.service}: ${asked.join("; ")}; nothing was changed; give its namespace and name with --namespace and --service`,
      "SNAP-807",
    ),
  );
}

export async function upToDate(options: RenewOptions, nowMs: number, found: Partial<CertificateSet>) {
  const { service, namespace, dns } = options;
  const dnsNames = [
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
    `${service}.${namespace}`,
    service,
    ...dns,
  ];
  const issue = { dnsNames, nowMs, validMs: options.validity, authorityValidMs: options.authorityValidity };
  const existing = options.force ? {} : found;
  const shortcoming = shortcomingOf(existing, { ...issue, renewBeforeMs: options.renewBefore });
  if (shortcoming === undefined)
    return {
      set: existing as CertificateSet,
      said: "the certificates are good for a while; nothing to do",
      isNew: false,
    };
  const isNewAuthority = shortcoming.part === "authority" || existing.authority === undefined;
  const authority = isNewAuthority ? await newAuthority(issue) : (existing.authority as KeyPair);
  const previousAuthority = isNewAuthority ? found.authority?.certificate : existing.previousAuthority;
  const set: CertificateSet = { authority, serving: await issueServing(authority, issue), previousAuthority };
  return { set, said: `a new ${shortcoming.part} certificate is made: ${shortcoming.why}`, isNew: true };
}
