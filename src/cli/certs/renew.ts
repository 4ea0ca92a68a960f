/** Certificates that are good for a while stay; the others are made anew: in the cluster step by step, in files at once. */
import { Fault, isFault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import { readConfigurations } from "../../components/webhook/certificates/cluster.ts";
import {
  asksEndpoint,
  authorityFacts,
  type Configuration,
  describeEndpoint,
  namesOf,
  servingFacts,
} from "../../components/webhook/certificates/facts.ts";
import {
  type CertificateSet,
  issueServing,
  type KeyPair,
  newAuthority,
} from "../../components/webhook/certificates/issue.ts";
import { shortcomingOf } from "../../components/webhook/certificates/plan-renewal.ts";
import { type CertificateOptions, createRenewal } from "../../components/webhook/certificates/renewal.ts";
import { withCode } from "../../errors/codes.ts";
import type { KubeApi } from "../../kube/api.ts";

export interface RenewOptions extends CertificateOptions {
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
  settleTime: 15_000,
  force: false,
};

/** More steps than a renewal has, and as many as others who write at the same time can cause. */
const stepsMax = 50;

/** Returns when there is nothing left to do. */
export async function renewInCluster(
  api: KubeApi,
  options: RenewOptions,
  world: World,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  refuseUnasked(options, await readConfigurations(api, signal));
  let hasSaid = false;
  const tell = (line: string): void => {
    hasSaid = true;
    say(line);
  };
  const renewal = createRenewal({ api, world, options, isForced: options.force, say: tell });
  for (let steps = 0; steps < stepsMax; steps++) {
    const step = await renewal.advance(signal).catch((reason: unknown) => {
      if (isFault(reason, "Conflict") || isFault(reason, "AlreadyExists")) return undefined;
      throw reason;
    });
    if (step?.kind === "left") {
      say(`Secret ${options.namespace}/${options.secret} is renewed by ${step.to}; nothing to do`);
      return;
    }
    if (step?.kind === "good") {
      if (!hasSaid) say("the certificates are good for a while; nothing to do");
      return;
    }
    if (step?.kind !== "wait") continue;
    tell(`waiting ${Math.ceil(step.ms / 1_000)} s, until every API server has read the caBundle`);
    await world.sleep(step.ms, signal);
  }
  throw new Fault(
    "Aborted",
    `Secret ${options.namespace}/${options.secret} or a webhook configuration changes again and again; stop whoever else writes them, and run the command again`,
  );
}

/** A mistyped namespace: the certificate would be for a Service that no webhook configuration asks. */
function refuseUnasked(options: RenewOptions, configurations: readonly Configuration[]): void {
  const asked = configurations.flatMap(({ metadata, webhooks = [] }) =>
    webhooks.map(({ clientConfig }) => ({ name: metadata.name, clientConfig })),
  );
  if (asked.length === 0 || asked.some(({ clientConfig }) => asksEndpoint(clientConfig, options))) return;
  const all = asked.map(({ name, clientConfig }) => `${name} asks ${describeEndpoint(clientConfig)}`);
  throw new Fault(
    "FailedPrecondition",
    withCode(
      `no webhook configuration asks Service ${options.namespace}/${options.service}: ${all.join("; ")}; nothing was changed; give its namespace and name with --namespace and --service`,
      "SNAP-807",
    ),
  );
}

/** For files: nobody knows who serves and trusts them, so both are made at once. */
export async function upToDate(options: RenewOptions, nowMs: number, found: Partial<CertificateSet>) {
  const dnsNames = namesOf(options);
  const issue = { dnsNames, nowMs, validMs: options.validity, authorityValidMs: options.authorityValidity };
  const authorityFound = authorityFacts(found.authority?.certificate, found.authority?.key);
  const shortcoming = shortcomingOf({
    facts: {
      authority: authorityFound,
      serving: found.serving && servingFacts(found.serving, authorityFound, dnsNames),
    },
    nowMs,
    renewBeforeMs: options.renewBefore,
    isForced: options.force,
  });
  if (shortcoming === undefined)
    return {
      set: found as CertificateSet,
      said: "the certificates are good for a while; nothing to do",
      isNew: false,
    };
  const authority = shortcoming.part === "authority" ? await newAuthority(issue) : (found.authority as KeyPair);
  const set: CertificateSet = { authority, serving: await issueServing(authority, issue) };
  return { set, said: `a new ${shortcoming.part} certificate is made: ${shortcoming.why}`, isNew: true };
}
