/** Causes that lie outside the controllers: rights, finalizers of others, webhooks, versions. */
import { kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Event, KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { deletedMs, type Finding, textOf } from "./finding.ts";

const outer = (finding: Pick<Finding, "object" | "cause" | "says"> & Partial<Finding>): Finding => ({
  phase: undefined,
  waitsFor: [],
  sinceMs: undefined,
  evidence: [],
  ...finding,
});

/** The object may be there, and the caller cannot know. Undefined: it is not there. */
export function unreadable(copy: ClusterCopy, ref: Ref): Finding | undefined {
  copy.get(ref.kind, ref.namespace, ref.name);
  const gap = copy.gapOf(ref);
  if (gap === undefined) return undefined;
  const { plural, group } = kindRows[ref.kind];
  if (gap.answer.kind === "unserved")
    return outer({
      object: ref,
      cause: "KindNotServed",
      says: `the API server does not serve ${plural}.${group}: its CustomResourceDefinition is not installed`,
      next: [
        { says: "install the CustomResourceDefinitions and the components", command: "snapkeep install --apply" },
        { says: "or the definitions alone", command: "snapkeep crds | kubectl apply --server-side -f -" },
      ],
    });
  const where = ref.namespace === undefined ? "" : ` -n ${ref.namespace}`;
  return outer({
    object: ref,
    cause: "NotReadable",
    says: `you may not get ${plural}, so ${textOf(ref)} cannot be judged`,
    next: [
      {
        says: `ask an administrator for the right to get ${plural}`,
        command: `kubectl auth can-i get ${plural}${where}`,
      },
    ],
  });
}

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
export function webhookFailure(copy: ClusterCopy, ref: Ref, object: KubeObject, nowMs: Millis): Finding | undefined {
  const found = eventsAbout(copy, object).find(
    (event) => webhookWords.test(event.message ?? "") && lastSeen(event) + recentMs > nowMs,
  );
  const [, webhook = ""] = webhookWords.exec(found?.message ?? "") ?? [];
  if (found === undefined) return undefined;
  const configuration = copy
    .list("ValidatingWebhookConfiguration")
    .find(({ webhooks }) => webhooks?.some(({ name }) => name === webhook));
  const service = configuration?.webhooks?.find(({ name }) => name === webhook)?.clientConfig.service;
  const at = service == null ? "its server" : `Service ${service.namespace}/${service.name}`;
  const place: Ref =
    configuration === undefined ? ref : { kind: "ValidatingWebhookConfiguration", name: configuration.metadata.name };
  return outer({
    object: ref,
    cause: "WebhookDown",
    says: `webhook ${webhook} does not answer at ${at}, and its failurePolicy Fail refuses every write`,
    waitsFor: [place],
    sinceMs: lastSeen(found),
    evidence: [`event ${found.reason}: ${found.message}`],
    next: [
      {
        says: `see whether pods serve ${at}`,
        command:
          service == null
            ? "snapkeep install --check"
            : `kubectl get endpointslices -n ${service.namespace} -l kubernetes.io/service-name=${service.name}`,
      },
      { says: "until it is repaired, let writes pass", command: "snapkeep webhook promote --demote" },
    ],
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
