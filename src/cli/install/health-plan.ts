/** Whether what is installed works: pods ready, leases held by our pods, certificates good and trusted. Pure. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import { type StoredFacts, shortcomingOf } from "../../components/webhook/certificates/plan-renewal.ts";
import { isHeld } from "./existing.ts";
import { at, nameOf, namespaceIn } from "./fields.ts";
import { reasonOfPod } from "./pods.ts";
import { rolloutProblem } from "./rollout-problem.ts";
import { describe } from "./selection.ts";

export interface Problem {
  readonly object: string;
  readonly says: string;
}

export interface FoundPod {
  readonly pod: JsonObject;
  /** About this pod. */
  readonly events: readonly JsonObject[];
}

export interface FoundWorkload {
  readonly object: ManifestObject;
  readonly stored: JsonObject;
  /** Undefined: the account may not read them. */
  readonly pods: readonly FoundPod[] | undefined;
}

export interface FoundLease {
  readonly object: ManifestObject;
  readonly stored: JsonObject | undefined;
  /** Whose pods are to hold it. */
  readonly workload: ManifestObject;
}

export interface FoundCertificate {
  readonly secret: ManifestObject;
  /** Undefined: the account may not read it. */
  readonly facts: StoredFacts | undefined;
}

export interface HealthRead {
  readonly workloads: readonly FoundWorkload[];
  readonly leases: readonly FoundLease[];
  readonly certificates: readonly FoundCertificate[];
  readonly nowMs: number;
  readonly renewBeforeMs: number;
}

export interface Health {
  readonly problems: readonly Problem[];
  /** What could not be examined. */
  readonly notes: readonly string[];
}

export const healthPlan = (read: HealthRead): Health => ({
  problems: [
    ...read.workloads.flatMap(workloadProblems),
    ...read.leases.flatMap((lease) => leaseProblems(lease, read)),
    ...read.certificates.flatMap((certificate) => certificateProblems(certificate, read)),
  ],
  notes: [
    ...read.workloads.flatMap(({ object, pods }) =>
      pods === undefined ? [`pods of ${describe(object)} are not examined: this account may not list pods`] : [],
    ),
    ...read.certificates.flatMap(({ secret, facts }) =>
      facts === undefined
        ? [`the certificate in ${describe(secret)} is not examined: this account may not read it`]
        : [],
    ),
  ],
});

function workloadProblems({ object, stored, pods = [] }: FoundWorkload): readonly Problem[] {
  const says = rolloutProblem(stored);
  return says === undefined ? [] : [{ object: describe(object), says }, ...podProblems(pods)];
}

/** Each pod's own words. */
export const podProblems = (pods: readonly FoundPod[]): readonly Problem[] =>
  pods.flatMap(({ pod, events }) => {
    const says = reasonOfPod(pod, events);
    return says === undefined ? [] : [{ object: `Pod ${namespaceIn(pod)}/${nameOf(pod)}`, says }];
  });

/** Pods have 63 characters of their name as host name, and the host name begins the identity of a holder. */
const hostNameMax = 63;

function leaseProblems({ object, stored, workload }: FoundLease, { workloads, nowMs }: HealthRead): readonly Problem[] {
  const problem = (says: string): readonly Problem[] => [{ object: describe(object), says }];
  if (stored === undefined || !isHeld(stored, nowMs))
    return problem("nobody holds it, so none of the replicas does its work");
  const pods = workloads.find((one) => one.object === workload)?.pods;
  const holder = String(at(stored, "spec", "holderIdentity"));
  const [host] = holder.split("_");
  return pods === undefined || pods.some(({ pod }) => nameOf(pod).slice(0, hostNameMax) === host)
    ? []
    : problem(`${holder} holds it, which is no pod of ${describe(workload)}: our pods wait`);
}

function certificateProblems(
  { secret, facts }: FoundCertificate,
  { nowMs, renewBeforeMs }: HealthRead,
): readonly Problem[] {
  if (facts === undefined) return [];
  const shortcoming = shortcomingOf({ facts, nowMs, renewBeforeMs, isForced: false });
  const untrusted = facts.webhooks.filter(({ trusted }) => trusted.every(({ pem }) => pem !== facts.authority?.pem));
  const names = new Set(untrusted.map(({ configuration: { kind, name } }) => `${kind} ${name}`));
  const { namespace } = secret.metadata;
  const remedy =
    facts.renewedBy === undefined
      ? `snapkeep certs --apply --namespace=${namespace} renews it`
      : `${facts.renewedBy} renews it: kubectl -n ${namespace} describe certificates.cert-manager.io says why it does not`;
  return [
    ...(shortcoming === undefined
      ? []
      : [{ object: describe(secret), says: `${shortcoming.part} certificate: ${shortcoming.why}; ${remedy}` }]),
    ...(facts.authority === undefined
      ? []
      : [...names].map((object) => ({
          object,
          says: `its caBundle does not have the authority of ${describe(secret)}, so the API server cannot ask the webhook; ${remedy}`,
        }))),
  ];
}
