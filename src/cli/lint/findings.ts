/** What the webhook would say of manifests, and what an API server would not even mention. Pure: files are read elsewhere. */
import type { CodedMessage } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { type ClaimGates, sizeViolations } from "../../rules/claim-sources.ts";
import { after, type ErrorCode, withCode } from "../../rules/error-codes.ts";
import { judgedKind, type KindRules, kindRules } from "../../rules/kind-rules.ts";
import { manifestHints } from "../../rules/manifest-hints.ts";
import { type FieldViolation, textAt, valueAt } from "../../rules/object-rules.ts";
import { defaultClassDriver, secondDefault } from "../../rules/snapshot-rules.ts";
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
  const found = manifests.flatMap((manifest) => [
    ...verdictOn(manifest, before.get(identityOf(manifest)), gates),
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
      message: withCode(`is neither YAML nor JSON: ${message}`, "SNAP-192"),
    }),
  );
  return [...broken, ...found, ...secondDefaults(manifests)].sort(byPlace);
}

const byPlace = (one: Finding, other: Finding): number =>
  one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1;

const groupOf = ({ apiVersion }: JsonObject): string => {
  const [group, version] = String(apiVersion ?? "").split("/", 2);
  return version === undefined ? "" : (group ?? "");
};
const is = ({ object }: Manifest, kind: string, group: string): boolean =>
  object.kind === kind && groupOf(object) === group;

/** The same object in another version of its file: whichever version of its API it is written in, and wherever it stands in a List. */
const identityOf = ({ object, owner, prefix }: Manifest): string =>
  owner === undefined
    ? identity(object)
    : `${identity(owner)} ${identity(object)} ${prefix.replace(/^items\[\d+\]\./, "")}`;
const identity = (object: JsonObject): string =>
  [groupOf(object), object.kind, textAt(object, "metadata.namespace") ?? "", nameOf(object)].join(" ");
const nameOf = (object: JsonObject): string =>
  textAt(object, "metadata.name") ?? textAt(object, "metadata.generateName") ?? "";

function describe({ object }: Manifest): string {
  const namespace = textAt(object, "metadata.namespace");
  return `${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${nameOf(object)}`.trim();
}

const findingOf = (manifest: Manifest, severity: Finding["severity"], violation: FieldViolation): Finding => ({
  file: manifest.file,
  line: manifest.lineOf(violation.field),
  severity,
  code: violation.code,
  object: describe(manifest),
  field: `${manifest.prefix}${violation.field}`,
  message: after(manifest.prefix, violation.message),
});

function verdictOn(manifest: Manifest, before: JsonObject | undefined, gates: ClaimGates): readonly Finding[] {
  const { object } = manifest;
  const kind = judgedKind(groupOf(object), object.kind);
  const hinted = manifestHints(groupOf(object), object).map(({ severity, violation }) =>
    findingOf(manifest, severity, violation),
  );
  if (kind === undefined) return hinted;
  const rules: KindRules = kindRules[kind];
  const { refused, ratcheted } = rules.judge(object, before, gates);
  return [
    ...refused.map((violation) => findingOf(manifest, "error", violation)),
    ...ratcheted.map((violation) => findingOf(manifest, "warning", violation)),
    ...hinted,
    ...(rules.hints?.(object) ?? []).map(({ severity, violation }) => findingOf(manifest, severity, violation)),
  ];
}

/** Only where the snapshot stands among the manifests, with its status: exports have it. */
function tooSmall(manifest: Manifest, snapshots: ReadonlyMap<string, JsonObject>): readonly Finding[] {
  const { object } = manifest;
  if (!is(manifest, "PersistentVolumeClaim", "")) return [];
  const { kind, name } = (valueAt(object, "spec.dataSourceRef") ??
    valueAt(object, "spec.dataSource") ??
    {}) as JsonObject;
  const namespace = textAt(object, "metadata.namespace") ?? "";
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
