/**
 * What the API server refuses of an object by itself, with the strictest CRDs of this release: kinds, versions and fields that do not
 * exist, values that do not fit, names that are illegal. It is judged by `src/schema`, the code of the embedded API server, which is held
 * against the real one. Together with the rules of `src/rules`, which admission applies in every phase, this is what valid means for tools.
 */
import { crossNamespaceCrds } from "../../api/crds/cross-namespace.ts";
import { groupSnapshotCrds } from "../../api/crds/group-snapshots.ts";
import { type CrdDraft, snapshotCrds } from "../../api/crds/index.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";
import { sharedResourceCrds } from "../../api/crds/shared-resource.ts";
import { apiVersionOf, type Kind, type KindName, kindRows } from "../../api/kinds.ts";
import { clone, isObject, type JsonObject } from "../../base/json.ts";
import { nearest } from "../../base/nearest.ts";
import { type ErrorCode, fix } from "../../errors/codes.ts";
import { apiGroupOf, type ObjectFinding } from "../../rules/object-findings.ts";
import { type FieldViolation, violationAt } from "../../rules/object-rules.ts";
import { valueText } from "../../rules/values.ts";
import { builtInShape } from "../../schema/built-in.ts";
import type { ApiObject, Shape } from "../../schema/contracts.ts";
import { createCustomShape } from "../../schema/custom.ts";
import { DecodeError } from "../../schema/decode-error.ts";
import { bodyOf, type FieldError, wholeObject } from "../../schema/field-error.ts";
import { metadataErrors } from "../../schema/metadata.ts";

/**
 * manifest: as kubectl sends it. template: the same, and a controller will name it. stored: the API server has decoded it, in whichever
 * version it serves.
 */
export type Origin = "manifest" | "template" | "stored";

/** With an old object, what was wrong before is a warning. */
export function schemaFindings(
  object: JsonObject,
  before: JsonObject | undefined,
  origin: Origin,
): readonly ObjectFinding[] {
  const found = violationsOf(object, origin);
  const old = before === undefined || found.length === 0 ? [] : violationsOf(before, origin);
  const wasThere = ({ violation }: ObjectFinding): boolean =>
    old.some((one) => one.violation.code === violation.code && one.violation.field === violation.field);
  return found.map((finding) => (wasThere(finding) ? { ...finding, severity: "warning" } : finding));
}

/** The schema says again what a rule has said better, in words of its own. */
export const unlessSaid = (
  said: readonly ObjectFinding[],
  found: readonly ObjectFinding[],
): readonly ObjectFinding[] => {
  const fields = said.map(({ violation }) => violation.field);
  return found.filter(
    ({ violation: { field } }) => !fields.some((one) => isWithin(one, field) || isWithin(field, one)),
  );
};

const isWithin = (outer: string, inner: string): boolean =>
  inner === outer || (inner.startsWith(outer) && /^[.[]/.test(inner.slice(outer.length)));

const customKinds = (Object.keys(kindRows) as readonly KindName[]).filter((kind) => kindRows[kind].custom === true);
/** All of whose kinds are known. The group of ReferenceGrant has others. */
const ownGroups = new Set(
  customKinds.map((kind) => kindRows[kind].group).filter((group) => !group.startsWith("gateway")),
);

function violationsOf(object: JsonObject, origin: Origin): readonly ObjectFinding[] {
  const unknown = unknownKind(object);
  if (unknown !== undefined) return [error(unknown)];
  const kind = kindOf(object);
  if (kind === undefined) return [];
  const version = origin === "stored" ? undefined : versionFinding(kind, object);
  return version?.severity === "error"
    ? [version]
    : [...(version === undefined ? [] : [version]), ...contentViolations(kind, object, origin).map(error)];
}

const error = (found: FieldViolation): ObjectFinding => ({ severity: "error", violation: found });

const kindOf = (object: JsonObject): KindName | undefined =>
  judgedKinds.find((kind) => kind === object.kind && kindRows[kind].group === apiGroupOf(object));

function unknownKind(object: JsonObject): FieldViolation | undefined {
  const { kind, apiVersion } = object;
  if (kindOf(object) !== undefined || typeof kind !== "string" || kind.endsWith("List")) return undefined;
  const group = apiGroupOf(object);
  const same = customKinds.find((name) => name === kind);
  if (ownGroups.has(group)) {
    const names = customKinds.filter((name) => kindRows[name].group === group);
    const meant = same === undefined ? nearest(kind, names) : undefined;
    const remedy =
      same !== undefined ? `write apiVersion: ${apiVersionOf(same)}` : `write ${meant ?? names.join(" or ")}`;
    return violationAt("SNAP-193", "kind", `${valueText(kind)} is no kind of ${group}; ${remedy}`);
  }
  if (same === undefined) return undefined;
  const isSlip = group === "" || nearest(group, [kindRows[same].group]) !== undefined;
  return isSlip
    ? violationAt("SNAP-193", "apiVersion", `${valueText(apiVersion)} has no kind ${kind}; write ${apiVersionOf(same)}`)
    : undefined;
}

/** v1beta1 of snapshots is read by every version of this program, and served by loose CRDs. */
function versionFinding(kind: KindName, { apiVersion }: JsonObject): ObjectFinding | undefined {
  const { versions, group }: Kind = kindRows[kind];
  const [newest] = versions;
  const version =
    String(apiVersion ?? "")
      .split("/")
      .at(-1) ?? "";
  if (!versions.includes(version))
    return error(
      violationAt(
        "SNAP-193",
        "apiVersion",
        `${valueText(apiVersion)} is no version of ${kind}; write ${apiVersionOf(kind)}`,
      ),
    );
  if (group !== kindRows.VolumeSnapshot.group || version === newest) return undefined;
  const message = `${valueText(apiVersion)} is not served by today's CRDs; write ${apiVersionOf(kind)}`;
  return { severity: "warning", violation: violationAt("SNAP-193", "apiVersion", message) };
}

/** Each kind's definition, which says what fields there are. */
const definitions: ReadonlyMap<string, () => CrdDraft | undefined> = new Map(
  [
    () => snapshotCrds(3),
    () => groupSnapshotCrds(),
    sharedResourceCrds,
    crossNamespaceCrds,
    () => [referenceGrantCrd()],
  ].flatMap((all) => all().map(({ spec }, index) => [spec.names.kind, () => all()[index]] as const)),
);
const judgedKinds = [...customKinds, "PersistentVolumeClaim"] as const satisfies readonly KindName[];

const shapes = new Map<KindName, Shape | undefined>();
function shapeOf(kind: KindName): Shape | undefined {
  if (!shapes.has(kind)) {
    const definition = definitions.get(kind)?.();
    const version = definition?.spec.versions[0]?.name ?? "";
    shapes.set(
      kind,
      definition === undefined
        ? builtInShape(kindRows[kind].group, "v1", kind)
        : createCustomShape(definition as unknown as ApiObject, version),
    );
  }
  return shapes.get(kind);
}

/** In the order of the API server: decode, default, validate. */
function contentViolations(kind: KindName, object: JsonObject, origin: Origin): readonly FieldViolation[] {
  const { scope, status }: Kind = kindRows[kind];
  const shape = shapeOf(kind);
  const draft = clone(object) as unknown as ApiObject & JsonObject;
  let unknown: readonly string[];
  try {
    unknown = shape?.prune(draft) ?? [];
  } catch (reason) {
    if (!(reason instanceof DecodeError)) throw reason;
    return [violationAt("SNAP-195", "", reason.message)];
  }
  const metadata = placed(draft.metadata, scope, origin);
  // A created object has no status yet, whatever its manifest says.
  if (origin !== "stored" && status === true) delete draft.status;
  shape?.defaults(draft);
  return [
    ...unknown.map((field) => violationAt("SNAP-194", field, `is not a field of this kind; ${fix("SNAP-194")}`)),
    ...metadataErrors(metadata, { scope, nameRule: "subdomain" }).map((found) => fromServer("SNAP-196", found)),
    ...(shape?.validate({ ...draft, metadata }, undefined) ?? [])
      .filter(({ detail }) => !detail.startsWith("some validation rules were not checked"))
      .map((found) => fromServer("SNAP-195", found)),
  ];
}

/** The server cuts what is longer, and appends five characters. */
const prefixMax = 58;

/** Where kubectl sends it: to a namespace of its own choice if it names none, and to none if its kind has none. */
function placed(given: unknown, scope: Kind["scope"], origin: Origin): ApiObject["metadata"] {
  // The server writes managed fields itself.
  const { namespace, managedFields: _, ...metadata } = (isObject(given) ? given : {}) as JsonObject;
  const place = scope === "cluster" ? {} : { namespace: namespace || "default" };
  const prefix = metadata.generateName;
  const generated =
    !metadata.name && typeof prefix === "string" && prefix !== "" ? `${prefix.slice(0, prefixMax)}xxxxx` : undefined;
  const made = origin === "template" ? "template" : generated;
  return { ...metadata, ...(made === undefined ? {} : { name: made }), ...place } as unknown as ApiObject["metadata"];
}

const textMax = 1_000;

function fromServer(code: ErrorCode, found: FieldError): FieldViolation {
  const text = bodyOf(found);
  const field = found.field === wholeObject ? "" : found.field;
  return violationAt(code, field, text.length > textMax ? `${text.slice(0, textMax)}…` : text);
}
