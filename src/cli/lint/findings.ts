/** What the webhook would say of manifests, and what an API server would not even mention. Pure: files are read elsewhere. */
import type { CodedMessage } from "../../api/plan.ts";
import { allowListSources, type ShareKind } from "../../api/share-lists.ts";
import type { JsonObject } from "../../base/json.ts";
import { after, type ErrorCode, withCode } from "../../errors/codes.ts";
import { type ClaimGates, sizeViolations } from "../../rules/claim-sources.ts";
import { apiGroupOf, describeObject, nameOf, type ObjectFinding, objectFindings } from "../../rules/object-findings.ts";
import type { FieldViolation } from "../../rules/object-rules.ts";
import { type AllowLists, allowListIn, dataOf, platformAllowLists } from "../../rules/share-allow-lists.ts";
import { judgedBySharing, judgeSharing } from "../../rules/shared-resources.ts";
import { defaultClassDriver, secondDefault } from "../../rules/snapshot-rules.ts";
import { textMember, valueAt } from "../../rules/values.ts";
import { schemaFindings, unlessSaid } from "../findings/shipped-schemas.ts";
import type { Manifest, ReadManifests } from "./manifests.ts";

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly code: ErrorCode;
  /** "VolumeSnapshot team/monday"; empty for what could not be read. */
  readonly object: string;
  readonly field: string;
  readonly message: CodedMessage;
}

const snapshotGroup = "snapshot.storage.k8s.io";

export function findingsIn(
  { manifests, unreadable }: ReadManifests,
  old: readonly Manifest[],
  gates: ClaimGates,
): readonly Finding[] {
  const before = new Map(old.map((manifest) => [identityOf(manifest), manifest.object]));
  const snapshots = new Map(
    manifests
      .filter((manifest) => is(manifest, "VolumeSnapshot", snapshotGroup))
      .map(({ object }) => [identity(object), object]),
  );
  const lists = allowListsIn(manifests);
  const found = manifests.flatMap((manifest) => [
    ...verdictOn(manifest, before.get(identityOf(manifest)), gates, lists),
    ...tooSmall(manifest, snapshots),
  ]);
  const broken = unreadable.map(
    ({ file, line, message }): Finding => ({
      file,
      line,
      severity: "error",
      code: "SNAP-192",
      object: "",
      field: "",
      message: withCode(message, "SNAP-192"),
    }),
  );
  return [...broken, ...found, ...secondDefaults(manifests)].sort(byPlace);
}

const byPlace = (one: Finding, other: Finding): number =>
  one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1;

const is = ({ object }: Manifest, kind: string, group: string): boolean =>
  object.kind === kind && apiGroupOf(object) === group;

/** The same object in another version of its file: whichever version of its API it is written in, and wherever it stands in a List. */
const identityOf = ({ object, owner, prefix }: Manifest): string =>
  owner === undefined
    ? identity(object)
    : `${identity(owner)} ${identity(object)} ${prefix.replace(/^items\[\d+\]\./, "")}`;
const identity = (object: JsonObject): string =>
  [apiGroupOf(object), object.kind, textMember(object, "metadata.namespace") ?? "", nameOf(object)].join(" ");

const findingOf = (manifest: Manifest, severity: Finding["severity"], violation: FieldViolation): Finding => ({
  file: manifest.file,
  line: manifest.lineOf(violation.field),
  severity,
  code: violation.code,
  object: describeObject(manifest.object),
  field: `${manifest.prefix}${violation.field}`,
  message: after(manifest.prefix, violation.message),
});

/** The rules, and what they leave unsaid of the schema. */
function verdictOn(
  manifest: Manifest,
  before: JsonObject | undefined,
  gates: ClaimGates,
  lists: AllowLists,
): readonly Finding[] {
  const { object, owner } = manifest;
  const said = [...objectFindings(object, before, gates), ...sharingFindings(object, before, lists)];
  const bySchema = schemaFindings(object, before, owner === undefined ? "manifest" : "template");
  return [...said, ...unlessSaid(said, bySchema)].map(({ severity, violation }) =>
    findingOf(manifest, severity, violation),
  );
}

function sharingFindings(
  object: JsonObject,
  before: JsonObject | undefined,
  lists: AllowLists,
): readonly ObjectFinding[] {
  const judged = judgedBySharing(apiGroupOf(object), { kind: object.kind });
  if (judged === undefined) return [];
  const { refused, ratcheted } = judgeSharing(judged, object, before, lists);
  return [
    ...refused.map((violation) => ({ severity: "error", violation }) as const),
    ...ratcheted.map((violation) => ({ severity: "warning", violation }) as const),
  ];
}

/** The lists that stand among the manifests; else those that the platform has. */
function allowListsIn(manifests: readonly Manifest[]): AllowLists {
  const listOf = (kind: ShareKind): AllowLists[ShareKind] => {
    const configMap = manifests.find(
      (manifest) => is(manifest, "ConfigMap", "") && nameOf(manifest.object) === allowListSources[kind].configMap,
    );
    return configMap === undefined ? platformAllowLists[kind] : allowListIn(dataOf(configMap.object)).list;
  };
  return { SharedSecret: listOf("SharedSecret"), SharedConfigMap: listOf("SharedConfigMap") };
}

/** Only where the snapshot stands among the manifests, with its status: exports have it. */
function tooSmall(manifest: Manifest, snapshots: ReadonlyMap<string, JsonObject>): readonly Finding[] {
  const { object } = manifest;
  if (!is(manifest, "PersistentVolumeClaim", "")) return [];
  const { kind, name } = (valueAt(object, "spec.dataSourceRef") ??
    valueAt(object, "spec.dataSource") ??
    {}) as JsonObject;
  const namespace = textMember(object, "metadata.namespace") ?? "";
  const snapshot = snapshots.get([snapshotGroup, kind, namespace, name].join(" "));
  if (snapshot === undefined) return [];
  return sizeViolations(object, snapshot).map((violation) => findingOf(manifest, "error", violation));
}

/** Among the manifests themselves: the webhook compares with what is stored. */
function secondDefaults(manifests: readonly Manifest[]): readonly Finding[] {
  const firsts = new Map<string, string>();
  return manifests
    .filter((manifest) => is(manifest, "VolumeSnapshotClass", snapshotGroup))
    .flatMap((manifest) => {
      const driver = defaultClassDriver(manifest.object);
      if (driver === undefined) return [];
      const first = firsts.get(driver);
      if (first === undefined) firsts.set(driver, nameOf(manifest.object));
      return first === undefined || first === nameOf(manifest.object)
        ? []
        : [findingOf(manifest, "error", secondDefault(driver, [first]))];
    });
}
