/**
 * The two rules of shared resources, for webhook, controller, driver and lint: names with the reserved prefix belong to listed
 * shares, and volumes of the driver are read-only. Pure: the allow-lists are an argument, and no cluster is asked.
 */
import type { CodedMessage } from "../api/plan.ts";
import { allowListSources, type ShareKind, shareKinds } from "../api/share-lists.ts";
import type { ShareReference } from "../api/types.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { fix, withCode } from "../errors/codes.ts";
import type { FieldViolation, RuleVerdict } from "./object-rules.ts";
import { type PodVolume, podMakers, podVolumes } from "./pod-specs.ts";
import type { AllowLists, Severity } from "./share-allow-lists.ts";
import { textMember, valueAt, valueText } from "./values.ts";

export const shareDriver = "csi.sharedresource.openshift.io";
export const shareGroup = "sharedresource.openshift.io";
export const reservedPrefix = "openshift-";

export const shareReferenceFields = { SharedSecret: "secretRef", SharedConfigMap: "configMapRef" } as const;

/** The reference as it stands in the share; the schema allows empty texts. */
export const referenceOf = (kind: ShareKind, share: JsonObject): ShareReference => ({
  namespace: textMember(share, `spec.${shareReferenceFields[kind]}.namespace`)?.trim() ?? "",
  name: textMember(share, `spec.${shareReferenceFields[kind]}.name`)?.trim() ?? "",
});

export const isReservedName = (name: string): boolean => name.startsWith(reservedPrefix);

/** Why a share must not have its name; undefined: it may. */
export function reservedNameProblem(
  kind: ShareKind,
  name: string,
  reference: ShareReference,
  lists: AllowLists,
): CodedMessage | undefined {
  if (!isReservedName(name)) return undefined;
  const allowed = lists[kind].get(name);
  const { configMap } = allowListSources[kind];
  const found = `${reference.namespace}/${reference.name}`;
  if (allowed === undefined)
    return withCode(
      `metadata.name: ${kind} ${name} begins with ${reservedPrefix}, which is reserved for shares that ConfigMap ${configMap} lists; ${fix("SNAP-152")}`,
      "SNAP-152",
    );
  return allowed.namespace === reference.namespace && allowed.name === reference.name
    ? undefined
    : withCode(
        `spec.${shareReferenceFields[kind]}: ${kind} ${name} refers to ${found}, but ConfigMap ${configMap} reserves this name for ${allowed.namespace}/${allowed.name}; refer to that, or ${fix("SNAP-152")}`,
        "SNAP-152",
      );
}

/** A share that the platform has made is missed by more people than one of a user. */
export const severityOf = (kind: ShareKind, name: string, lists: AllowLists): Severity =>
  isReservedName(name) ? (lists[kind].get(name)?.severity ?? "warning") : "info";

const allowed: RuleVerdict = { refused: [], ratcheted: [] };

/** A share as it is created or updated. An update may keep a broken name, but not with another reference. */
export function judgeShare(
  kind: ShareKind,
  after: JsonObject,
  before: JsonObject | undefined,
  lists: AllowLists,
): RuleVerdict {
  const violation = shareViolation(kind, after, lists);
  if (violation === undefined || isBeingDeleted(after)) return allowed;
  const isOld = before !== undefined && sameReference(referenceOf(kind, before), referenceOf(kind, after));
  return isOld ? { ...allowed, ratcheted: [violation] } : { ...allowed, refused: [violation] };
}

function shareViolation(kind: ShareKind, share: JsonObject, lists: AllowLists): FieldViolation | undefined {
  // A generated name has no end yet in a manifest; the API server fills it in before it asks a webhook.
  const name = textMember(share, "metadata.name") ?? textMember(share, "metadata.generateName") ?? "";
  const message = reservedNameProblem(kind, name, referenceOf(kind, share), lists);
  const field = lists[kind].has(name) ? `spec.${shareReferenceFields[kind]}` : "metadata.name";
  return message === undefined ? undefined : { code: "SNAP-152", field, message };
}

const sameReference = (one: ShareReference, other: ShareReference): boolean =>
  one.namespace === other.namespace && one.name === other.name;

const isBeingDeleted = (object: JsonObject): boolean => valueAt(object, "metadata.deletionTimestamp") !== undefined;

interface ShareVolume extends PodVolume {
  readonly volume: JsonObject;
}

/** The volumes of the driver in what makes pods: are there volumes, and are any of them ours? */
export const shareVolumes = (kind: string, object: JsonObject): readonly ShareVolume[] =>
  podVolumes(object, kind).flatMap(({ volume, ...place }) =>
    isObject(volume) && textMember(volume, "csi.driver") === shareDriver ? [{ ...place, volume }] : [],
  );

/** Those of them without `readOnly: true`. The readOnly of a volumeMount does not count. */
const writableVolumes = (kind: string, object: JsonObject): readonly ShareVolume[] =>
  shareVolumes(kind, object).filter(({ volume }) => valueAt(volume, "csi.readOnly") !== true);

function volumeViolation(kind: string, object: JsonObject, { path, name, volume }: ShareVolume): FieldViolation {
  const field = `${fieldOf(path)}.csi.readOnly`;
  const found = `volume ${valueText(name)} of ${describe(kind, object)} has ${valueText(valueAt(volume, "csi.readOnly"))}`;
  const message = `${field}: must be true, because volumes of ${shareDriver} are read-only, but ${found}; ${fix("SNAP-151", "readOnly: true")}`;
  return { code: "SNAP-151", field, message: withCode(message, "SNAP-151") };
}

/** A volume is the same one by its name within its list, wherever it stands there. */
const identityOf = ({ path, name }: ShareVolume): string =>
  `${path.filter((step) => typeof step === "string").join(".")} ${String(name)}`;

const fieldOf = (path: PodVolume["path"]): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .slice(1);

function describe(kind: string, object: JsonObject): string {
  const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
  const namespace = text(valueAt(object, "metadata.namespace"));
  const name = text(valueAt(object, "metadata.name")) || text(valueAt(object, "metadata.generateName"));
  return `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`.trim();
}

/** What makes pods, as it is created or updated. An update may keep volumes that were writable before. */
export function judgeVolumes(kind: string, after: JsonObject, before: JsonObject | undefined): RuleVerdict {
  const found = writableVolumes(kind, after);
  if (found.length === 0 || isBeingDeleted(after)) return allowed;
  const old = new Set(before === undefined ? [] : writableVolumes(kind, before).map(identityOf));
  const violations = (isOld: boolean): readonly FieldViolation[] =>
    found
      .filter((volume) => old.has(identityOf(volume)) === isOld)
      .map((volume) => volumeViolation(kind, after, volume));
  return { refused: violations(false), ratcheted: violations(true) };
}

/** What a request or a manifest names, if there is a rule for it. */
export type JudgedBySharing =
  | { readonly kind: ShareKind; readonly isShare: true }
  | { readonly kind: string; readonly isShare: false };

export function judgedBySharing(
  group: string,
  named: { readonly plural: string } | { readonly kind: unknown },
): JudgedBySharing | undefined {
  const matches = (kind: string, plural: string): boolean =>
    "plural" in named ? named.plural === plural : named.kind === kind;
  const share = group === shareGroup ? shareKinds.find((kind) => matches(kind, `${kind.toLowerCase()}s`)) : undefined;
  if (share !== undefined) return { kind: share, isShare: true };
  const maker = podMakers.find((row) => row.group === group && matches(row.kind, row.plural));
  return maker && { kind: maker.kind, isShare: false };
}

export const judgeSharing = (
  judged: JudgedBySharing,
  after: JsonObject,
  before: JsonObject | undefined,
  lists: AllowLists,
): RuleVerdict =>
  judged.isShare ? judgeShare(judged.kind, after, before, lists) : judgeVolumes(judged.kind, after, before);
