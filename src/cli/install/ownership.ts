/**
 * Which installation an object belongs to. Each object that `install` applies carries a label with the namespace of its installation.
 * Objects of a release that did not write the label, or that kubectl has applied, are recognised by the bindings of their component:
 * the namespace of the bound service account is the namespace of the installation. Whatever has the label of snapkeep in the namespaces of
 * the installation is its own; objects of the whole cluster whose component has no binding any more are nobody's. Pure.
 */
import { type Installation, installationLabel, type ManifestObject } from "../../api/manifests/component.ts";
import { ownedLabel, versionAnnotation } from "../../api/manifests/objects.ts";
import type { JsonObject } from "../../base/json.ts";
import { annotationOf, at, labelOf, listAt, nameOf, namespaceIn } from "./fields.ts";
import { isOfUp, upOwner } from "./up-cluster.ts";

export type Ownership =
  | { readonly kind: "absent" }
  | { readonly kind: "own" }
  /** It is of this installation, but without its label: the next --apply writes it. */
  | { readonly kind: "unlabelled" }
  /** It is of snapkeep, and nothing says of which installation: --apply takes it, and nobody deletes it. */
  | { readonly kind: "unclaimed" }
  | { readonly kind: "foreign"; readonly owner: string };

/** The object as this installation applies it: its owner and its release can be read from the cluster. */
export function labelled<T extends ManifestObject>(object: T, { namespace, version }: Installation): T {
  const { labels, annotations } = object.metadata as { labels?: JsonObject; annotations?: JsonObject };
  const metadata = {
    ...object.metadata,
    labels: { ...labels, ...ownedLabel, [installationLabel]: namespace },
    annotations: { ...annotations, [versionAnnotation]: version },
  };
  return { ...object, metadata };
}

/** The namespaces of the installations that the stored bindings and webhook configurations of one component name. */
export const namespacesNamedBy = (component: readonly (JsonObject | undefined)[]): ReadonlySet<string> =>
  new Set(component.flatMap((found) => (found === undefined ? [] : installationsNamedBy(found))));

function installationsNamedBy(found: JsonObject): readonly string[] {
  if (helmReleaseOf(found) !== undefined) return [];
  const label = labelOf(found, installationLabel);
  return label === undefined ? pointedAt(found) : [label];
}

/** The namespaces of the service accounts of a binding, and of the services that a webhook configuration asks. */
const pointedAt = (found: JsonObject): readonly string[] => {
  const subjects = listAt(found, "subjects").filter((subject) => at(subject, "kind") === "ServiceAccount");
  const services = listAt(found, "webhooks").map((webhook) => at(webhook, "clientConfig", "service"));
  return [...subjects, ...services].flatMap((place) => {
    const namespace = at(place, "namespace");
    return typeof namespace === "string" ? [namespace] : [];
  });
};

/** The owner of one stored object, given the namespaces that its component's bindings name. */
export function ownershipOf(
  found: JsonObject | undefined,
  { namespace, driverNamespace }: Pick<Installation, "namespace" | "driverNamespace">,
  namedByComponent: ReadonlySet<string>,
): Ownership {
  if (found === undefined) return { kind: "absent" };
  if (isOfUp(found)) return { kind: "foreign", owner: upOwner };
  const label = labelOf(found, installationLabel);
  if (label === namespace) return { kind: "own" };
  if (label !== undefined) return { kind: "foreign", owner: installationIn(label, releaseOf(found)) };
  const release = helmReleaseOf(found);
  if (release !== undefined) return { kind: "foreign", owner: `Helm release ${release}` };
  // A binding says itself whose it is, whatever the others of its component say.
  const ownWord = pointedAt(found);
  const isHere = isOfSnapkeep(found) && [namespace, driverNamespace].includes(placeOf(found) ?? "");
  if (ownWord.length === 0 && isHere) return { kind: "unlabelled" };
  const named = ownWord.length > 0 ? new Set(ownWord) : namedByComponent;
  if (named.has(namespace) || named.has(driverNamespace)) return { kind: "unlabelled" };
  const [other] = named;
  if (other !== undefined) return { kind: "foreign", owner: installationIn(other, releaseOf(found)) };
  return isOfSnapkeep(found)
    ? { kind: "unclaimed" }
    : { kind: "foreign", owner: "somebody else: it has no label of snapkeep" };
}

/** The label that every release has written tells. */
export const isOfSnapkeep = (found: JsonObject): boolean =>
  Object.entries(ownedLabel).every(([label, value]) => labelOf(found, label) === value);

/** The namespace that an object lies in, or is. */
const placeOf = (found: JsonObject): string | undefined =>
  found.kind === "Namespace" ? nameOf(found) : namespaceIn(found);

const releaseOf = (found: JsonObject) => annotationOf(found, versionAnnotation);
const installationIn = (namespace: string, release: string | undefined): string =>
  `the installation in namespace ${namespace}${release === undefined ? "" : ` (release ${release})`}`;

/** Namespace and name. */
function helmReleaseOf(found: JsonObject): string | undefined {
  const name = annotationOf(found, "meta.helm.sh/release-name");
  const namespace = annotationOf(found, "meta.helm.sh/release-namespace");
  if (name === undefined) return undefined;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
