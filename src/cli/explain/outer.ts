/** Causes that lie outside the controllers: finalizers of others, webhooks, rights of components, versions. */
import { kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Event, KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { deletedMs, type Finding, outer, type Step, word } from "./finding.ts";
import { denialIn, grantSteps } from "./rights.ts";

/** Finalizers of Kubernetes itself, by which it keeps what is in use. */
const ofKubernetes = /^kubernetes\.io\//;

/** Being deleted, and held by somebody whom this program does not know, and by nobody else. */
export function foreignFinalizer(ref: Ref, object: KubeObject, known: readonly string[]): Finding | undefined {
  const held = object.metadata.finalizers ?? [];
  const foreign = held.filter((name) => !known.includes(name) && !ofKubernetes.test(name));
  if (deletedMs(object) === undefined || foreign.length === 0 || foreign.length < held.length) return undefined;
  return outer({
    object: ref,
    cause: "ForeignFinalizer",
    says: `it is being deleted, and whoever owns the finalizer ${foreign.join(", ")} has not let it go`,
    sinceMs: deletedMs(object),
    next: [
      {
        says: `find the program that owns ${foreign.join(", ")}, and see why it does not finish: it keeps the object on purpose`,
      },
    ],
  });
}

export function unknownFields(
  ref: Ref,
  field: string,
  value: object | undefined,
  known: readonly string[],
): Finding | undefined {
  const unknown = Object.keys(value ?? {}).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  return outer({
    object: ref,
    cause: "NewerThanProgram",
    says: `${field}.${unknown[0]} is newer than this program, or a mistake: it does not know the field`,
  });
}

const webhookWords = /failed calling webhook "([^"]+)"/;
/** Events are kept for an hour; an older one says nothing of now. */
const recentMs = 600_000;

/** A webhook that fails closed and does not answer, as the API server has told whoever tried to write. */
function webhookFailure(copy: ClusterCopy, ref: Ref, object: KubeObject, nowMs: Millis): Finding | undefined {
  const found = eventsAbout(copy, object).find(
    (event) => webhookWords.test(event.message ?? "") && lastSeen(event) + recentMs > nowMs,
  );
  const [, webhook = ""] = webhookWords.exec(found?.message ?? "") ?? [];
  if (found === undefined) return undefined;
  const configuration = copy
    .list("ValidatingWebhookConfiguration")
    .find(({ webhooks }) => webhooks?.some(({ name }) => name === webhook));
  const service = configuration?.webhooks?.find(({ name }) => name === webhook)?.clientConfig.service;
  const place: Ref =
    configuration === undefined ? ref : { kind: "ValidatingWebhookConfiguration", name: configuration.metadata.name };
  return outer({
    object: ref,
    cause: "WebhookDown",
    says: `webhook ${webhook} does not answer at ${placeOf(service)}, and its failurePolicy Fail refuses every write`,
    waitsFor: [place],
    sinceMs: lastSeen(found),
    evidence: [`event ${found.reason}: ${found.message}`],
    next: [
      { says: `see whether pods serve ${placeOf(service)}`, command: endpointsCommand(service) },
      { says: "until it is repaired, let writes pass", command: "snapkeep webhook promote --demote" },
    ],
  });
}

type Service = { readonly namespace: string; readonly name: string } | null | undefined;
const placeOf = (service: Service): string =>
  service == null ? "its server" : `Service ${service.namespace}/${service.name}`;
const endpointsCommand = (service: Service): string =>
  service == null
    ? "snapkeep install --check"
    : `kubectl get endpointslices -n ${word(service.namespace)} -l kubernetes.io/service-name=${word(service.name)}`;

const snapshotGroup = kindRows.VolumeSnapshot.group;

/** Who may silently keep a component from writing: not every component tells of it in an event. */
export const webhookSteps = (copy: ClusterCopy): readonly Step[] =>
  copy
    .list("ValidatingWebhookConfiguration")
    .flatMap(({ webhooks = [] }) => webhooks)
    .filter(
      ({ failurePolicy = "Fail", rules = [] }) =>
        failurePolicy === "Fail" &&
        rules.some(({ apiGroups = [] }) => apiGroups.some((group) => group === snapshotGroup || group === "*")),
    )
    .map(({ name, clientConfig: { service } }) => ({
      says: `see whether webhook ${name} answers at ${placeOf(service)}: with failurePolicy Fail it refuses writes while it does not`,
      command: endpointsCommand(service),
    }));

/** What the API server refuses to a component, as it has told in an event. */
function componentDenied(copy: ClusterCopy, ref: Ref, object: KubeObject, nowMs: Millis): Finding | undefined {
  const found = eventsAbout(copy, object).find(
    (event) => denialIn(event.message ?? "") !== undefined && lastSeen(event) + recentMs > nowMs,
  );
  return found === undefined
    ? undefined
    : {
        ...deniedFinding(ref, found.message ?? "", lastSeen(found)),
        evidence: [`event ${found.reason}: ${found.message}`],
      };
}

/** What keeps whoever writes about the object from writing. */
export const toldByEvents = (copy: ClusterCopy, ref: Ref, object: KubeObject, nowMs: Millis): Finding | undefined =>
  webhookFailure(copy, ref, object, nowMs) ?? componentDenied(copy, ref, object, nowMs);

export function deniedFinding(ref: Ref, message: string, sinceMs: Millis | undefined): Finding {
  const denial = denialIn(message);
  return outer({
    object: ref,
    cause: "NotPermitted",
    says: `${denial?.user ?? "the component"} may not ${denial?.verb ?? "do"} ${denial?.resource ?? "what it has to"}${denial?.namespace === undefined ? "" : ` in namespace ${denial.namespace}`}`,
    sinceMs,
    next: denial === undefined ? undefined : grantSteps(denial),
  });
}

export const lastSeen = ({ lastTimestamp, eventTime, metadata }: Event): Millis =>
  Date.parse(String(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "")) || 0;

/** Newest first. Events about cluster-scoped objects are in namespace default. */
export function eventsAbout(copy: ClusterCopy, object: KubeObject): readonly Event[] {
  const { namespace = "default", name, uid } = object.metadata;
  const fieldSelector = `involvedObject.kind=${object.kind},involvedObject.name=${name}`;
  return copy
    .list("Event", { namespace, fieldSelector })
    .filter(({ involvedObject }) => involvedObject?.uid === undefined || involvedObject.uid === uid)
    .toSorted((a, b) => lastSeen(b) - lastSeen(a));
}
