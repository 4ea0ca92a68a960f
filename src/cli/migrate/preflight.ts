/** What speaks against touching the CRDs, seen from the CRDs alone. Pure. */
import { crdNameOf, snapshotCrd } from "../../api/crds/index.ts";
import type { CodedMessage } from "../../api/plan.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { withCode } from "../../errors/codes.ts";
import { type Crd, type Definition, type Goal, recordAnnotation } from "./definition.ts";

export interface Installed {
  readonly definition: Definition;
  readonly crd: Crd | undefined;
}

export function objectionsTo(
  installed: readonly Installed[],
  goal: Goal,
  { forceConflicts }: { readonly forceConflicts: boolean },
): readonly CodedMessage[] {
  return installed.flatMap(({ definition, crd }) => {
    if (crd === undefined) return [];
    const name = `CustomResourceDefinition ${crdNameOf(definition.kind)}`;
    return [
      ...wrongDirection(definition, goal).map((message) => withCode(`${name}: ${message.text}`, message.code)),
      ...unknownStored(definition).map((version) =>
        withCode(`${name}: status.storedVersions has ${version}; remove it once no object is stored in it`, "SNAP-609"),
      ),
      ...newerParts(definition, crd).map((part) =>
        withCode(`${name}: ${part} is not known to this release; use a newer one`, "SNAP-603"),
      ),
      ...(forceConflicts
        ? []
        : ownersOf(crd).map((owner) =>
            withCode(`${name}: belongs to ${owner}; take it out there first, or use --force-conflicts`, "SNAP-602"),
          )),
    ];
  });
}

function wrongDirection(
  { phase = 1, versions }: Definition,
  goal: Goal,
): readonly { readonly text: string; readonly code: "SNAP-605" | "SNAP-607" }[] {
  if (goal.back && phase < goal.phase)
    return [{ text: `is in phase ${phase}; leave out --rollback to go on to phase ${goal.phase}`, code: "SNAP-607" }];
  if (phase <= goal.phase) return [];
  if (!goal.back)
    return [{ text: `is in phase ${phase}; add --rollback to go back to phase ${goal.phase}`, code: "SNAP-607" }];
  return versions.includes("v1beta1")
    ? []
    : [{ text: "v1beta1 is not in spec.versions any more; there is no way back", code: "SNAP-605" }];
}

const known: readonly string[] = ["v1", "v1beta1"];

const unknownStored = ({ storedVersions }: Definition): readonly string[] =>
  storedVersions.filter((version) => !known.includes(version));

/** Versions, and fields of versions, that would be lost. */
function newerParts({ kind, versions }: Definition, crd: Crd): readonly string[] {
  const [v1] = snapshotCrd(kind, 3).spec.versions;
  const ours = v1?.schema?.openAPIV3Schema as unknown as JsonValue;
  return [
    ...versions.filter((version) => !known.includes(version)).map((version) => `version ${version}`),
    ...(crd.spec?.versions ?? [])
      .filter(({ name }) => known.includes(name))
      .flatMap(({ name, schema }) =>
        unknownFields(schema?.openAPIV3Schema as unknown as JsonValue, ours).map(
          (field) => `field ${field} of ${name}`,
        ),
      ),
  ];
}

/** Alpha fields of upstream's 6.3.x, which no newer release has: nothing reads them any more. */
const deadFields: ReadonlySet<string> = new Set(["status.volumeGroupSnapshotContentName"]);

function unknownFields(schema: JsonValue | undefined, ours: JsonValue | undefined, path = ""): readonly string[] {
  const [theirs, known] = [schema, ours].map(propertiesOf);
  return Object.entries(theirs ?? {}).flatMap(([name, inner]) => {
    const field = path === "" ? name : `${path}.${name}`;
    const same = known?.[name];
    if (same !== undefined) return unknownFields(inner, same, field);
    return deadFields.has(field) ? [] : [field];
  });
}

const propertiesOf = (schema: JsonValue | undefined): JsonObject =>
  isObject(schema) && isObject(schema.properties) ? schema.properties : {};

/** Keys of labels and annotations by which tools find what is theirs. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/^meta\.helm\.sh\/release-name$/, "Helm"],
  [/^argocd\.argoproj\.io\/(tracking-id|instance)$/, "Argo CD"],
  [/^(kustomize|helm)\.toolkit\.fluxcd\.io\/name$/, "Flux"],
  [/^(olm\.managed|operators\.coreos\.com\/.*)$/, "the Operator Lifecycle Manager"],
  [/^include\.release\.openshift\.io\/.*$/, "the cluster version operator of OpenShift"],
  [/^addonmanager\.kubernetes\.io\/mode$/, "the addon manager of the cluster"],
];

/** People's tools, and our own. */
const ownManagers = /^(kubectl|snapkeep)([-_].*)?$/;

function ownersOf(crd: Crd): readonly string[] {
  const { annotations = {}, labels = {}, ownerReferences = [] } = crd.metadata;
  const marked = Object.entries({ ...annotations, ...labels }).flatMap(([key, value]) =>
    key === recordAnnotation
      ? []
      : marks.filter(([mark]) => mark.test(key)).map(([, tool]) => `${tool} (${key}: ${value})`),
  );
  const { managedFields = [] } = crd.metadata as { managedFields?: readonly JsonObject[] };
  const managers = managedFields
    .filter(({ fieldsV1, subresource }) => subresource === undefined && isObject(fieldsV1) && "f:spec" in fieldsV1)
    .map(({ manager }) => String(manager))
    .filter((manager) => !ownManagers.test(manager));
  const conversion = crd.spec?.conversion?.strategy ?? "None";
  return [
    ...new Set([
      ...ownerReferences.map(({ kind, name }) => `${kind} ${name} (metadata.ownerReferences)`),
      ...marked,
      ...managers.map((manager) => `field manager ${manager} (metadata.managedFields)`),
      ...(conversion === "None" ? [] : [`a conversion by ${conversion} (spec.conversion)`]),
    ]),
  ];
}
