/**
 * The admission that is built in: what kube-apiserver's own plug-ins do to the kinds we serve. Each is a small function; a
 * mutating one returns the changed object, or undefined to leave it, a validating one throws.
 */
import { isObject, type JsonObject } from "../../base/json.ts";
import { compareQuantities } from "../../base/quantity.ts";
import { part, quantityOf } from "../builtin/check.ts";
import type { ApiObject, Reader, Review } from "../contracts.ts";
import { forbidden, notFound, Refusal } from "../status.ts";

type Mutation = (object: ApiObject, review: Review, reader: Reader) => ApiObject | undefined;
type Objection = (review: Review, reader: Reader) => void;

const isKind = ({ resource }: Review, group: string, kind: string): boolean =>
  resource.group === group && resource.kind === kind;
const isCreation = ({ operation, subresource }: Review): boolean => operation === "CREATE" && subresource === "";

const immortal = ["default", "kube-public", "kube-system"];
const namespaces = { group: "", plural: "namespaces" };

/** Nothing is created where there is no namespace, or in one that is going away; three namespaces stay for ever. */
const namespaceLifecycle: Objection = (review, reader) => {
  const { operation, namespace, name, resource } = review;
  if (operation === "DELETE") {
    if (isKind(review, "", "Namespace") && immortal.includes(name))
      throw forbidden(namespaces, name, "this namespace may not be deleted");
    return;
  }
  if (namespace === "" || isKind(review, "", "Namespace") || resource.group === "authorization.k8s.io") return;
  const found = reader.get("namespaces", "", namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (operation === "CREATE" && part(found, "status").phase === "Terminating") throw terminating(review);
};

function terminating({ resource, name, namespace }: Review): Refusal {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status } = forbidden(resource, name, why);
  return new Refusal(403, "Forbidden", status.message ?? "", {
    ...status.details,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}

/** Claims and volumes are not removed while in use; the background work takes the finalizers off again. */
const protectStorage: Mutation = (object, review) => {
  if (!isCreation(review)) return undefined;
  if (isKind(review, "", "PersistentVolumeClaim")) return withFinalizer(object, "kubernetes.io/pvc-protection");
  if (isKind(review, "", "PersistentVolume")) return withFinalizer(object, "kubernetes.io/pv-protection");
  return undefined;
};

function withFinalizer(object: ApiObject, name: string): ApiObject | undefined {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(name)) return undefined;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, name] } };
}

const classCollection = "storage.k8s.io/storageclasses";
const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const defaultMarks = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

/** The newest of those marked as default; of two equally new, the first by name. */
export function defaultClass(reader: Reader): string | undefined {
  const marked = reader
    .list(classCollection)
    .filter(({ metadata }) => defaultMarks.some((mark) => metadata.annotations?.[mark] === "true"));
  const madeAt = ({ metadata }: ApiObject): string => metadata.creationTimestamp ?? "";
  const [newest] = [...marked].sort((a, b) => (madeAt(a) === madeAt(b) ? 0 : madeAt(a) < madeAt(b) ? 1 : -1));
  return newest?.metadata.name;
}

const defaultStorageClass: Mutation = (object, review, reader) => {
  if (!isCreation(review) || !isKind(review, "", "PersistentVolumeClaim")) return undefined;
  const spec = part(object, "spec");
  if (spec.storageClassName !== undefined || object.metadata.annotations?.[classAnnotation] !== undefined)
    return undefined;
  const name = defaultClass(reader);
  return name === undefined ? undefined : { ...object, spec: { ...spec, storageClassName: name } };
};

/** A claim grows only when it is bound and its class says that volumes can. */
const claimResize: Objection = (review, reader) => {
  const { object, oldObject, resource, name, subresource } = review;
  if (!isKind(review, "", "PersistentVolumeClaim") || subresource !== "") return;
  if (object === undefined || oldObject === undefined) return;
  const size = (claim: ApiObject) => quantityOf(part(part(part(claim, "spec"), "resources"), "requests").storage);
  if (compareQuantities(size(object), size(oldObject)) <= 0) return;
  if (part(oldObject, "status").phase !== "Bound")
    throw forbidden(resource, name, "Only bound persistent volume claims can be expanded");
  const [now, before] = [classOf(object), classOf(oldObject)];
  const storageClass = now === "" || now !== before ? undefined : reader.get(classCollection, "", now);
  if (storageClass?.allowVolumeExpansion !== true)
    throw forbidden(
      resource,
      name,
      "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
    );
};

export const classOf = (claim: ApiObject): string =>
  claim.metadata.annotations?.[classAnnotation] ?? String(part(claim, "spec").storageClassName ?? "");

const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** A new node takes no pods until somebody has found it ready. */
const taintNewNode: Mutation = (object, review) => {
  if (!isCreation(review) || !isKind(review, "", "Node")) return undefined;
  const spec = part(object, "spec");
  const taints = Array.isArray(spec.taints) ? spec.taints : [];
  if (taints.some((taint) => isObject(taint) && taint.key === notReady.key && taint.effect === notReady.effect))
    return undefined;
  return { ...object, spec: { ...spec, taints: [...taints, notReady] } };
};

const patienceSeconds = 300;
const evicting = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Every pod bears an unready or unreachable node for five minutes, and has a priority. */
const completePod: Mutation = (object, review) => {
  if (!isCreation(review) || !isKind(review, "", "Pod")) return undefined;
  const spec = part(object, "spec");
  const tolerations = (Array.isArray(spec.tolerations) ? spec.tolerations : []).filter(isObject);
  const added = evicting.filter((key) => !tolerations.some((one) => toleratesEviction(one, key)));
  return {
    ...object,
    spec: {
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
      ...spec,
      tolerations: [
        ...tolerations,
        ...added.map((key) => ({
          key,
          operator: "Exists",
          effect: "NoExecute",
          tolerationSeconds: patienceSeconds,
        })),
      ],
    },
  };
};

const toleratesEviction = ({ key, effect }: JsonObject, wanted: string): boolean =>
  ((key ?? "") === "" || key === wanted) && ((effect ?? "") === "" || effect === "NoExecute");

const mutations: readonly Mutation[] = [taintNewNode, completePod, defaultStorageClass, protectStorage];

/** In Kubernetes' order: the namespace is looked at before anything is changed. */
export function mutateBuiltIn(review: Review, reader: Reader): ApiObject | undefined {
  namespaceLifecycle(review, reader);
  return mutations.reduce<ApiObject | undefined>(
    (object, mutation) => (object === undefined ? undefined : (mutation(object, review, reader) ?? object)),
    review.object,
  );
}

export function validateBuiltIn(review: Review, reader: Reader): void {
  claimResize(review, reader);
}
