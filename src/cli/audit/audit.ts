/** Every stored object against the rules, page by page: no more than one page is held, however many objects there are. */
import type { KindName } from "../../api/kinds.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { type ErrorCode, remedyOf } from "../../errors/codes.ts";
import type { KubeApi, PageReader, PathReader, VersionFinder } from "../../kube/api.ts";
import type { ClaimGates } from "../../rules/claim-sources.ts";
import { describeObject, nameOf, type ObjectFinding, objectFindings } from "../../rules/object-findings.ts";
import type { FieldViolation } from "../../rules/object-rules.ts";
import { defaultClassDriver, secondDefault } from "../../rules/snapshot-rules.ts";
import { textMember } from "../../rules/values.ts";
import { unknownKind } from "../../runtime/connect.ts";
import { schemaFindings, unlessSaid } from "../findings/shipped-schemas.ts";

export type AuditApi = KubeApi & PageReader & PathReader & VersionFinder;

export interface AuditFinding {
  readonly severity: "error" | "warning";
  readonly code: ErrorCode;
  /** "VolumeSnapshot team/monday" */
  readonly object: string;
  readonly field: string;
  readonly message: CodedMessage;
  /** What to change. */
  readonly remedy: string;
}

export interface AuditedPage {
  readonly kind: KindName;
  readonly objects: readonly JsonObject[];
  readonly findings: readonly AuditFinding[];
}

export interface AuditOptions {
  readonly kinds: readonly KindName[];
  readonly namespace?: string | undefined;
  readonly gates: ClaimGates;
  readonly signal?: AbortSignal | undefined;
}

export async function* auditPages(api: AuditApi, options: AuditOptions): AsyncGenerator<AuditedPage, void, void> {
  const { signal, namespace, gates } = options;
  for (const kind of options.kinds) {
    const version = await versionOf(api, kind, signal);
    const defaults = new Map<string, string>();
    for await (const page of api.pages(kind, { version, namespace: namespace || undefined, signal })) {
      const objects = page.objects as unknown as readonly JsonObject[];
      const findings = objects.flatMap((object) => [
        ...verdictOn(object, gates).map(({ severity, violation }) => findingOf(object, severity, violation)),
        ...(kind === "VolumeSnapshotClass" ? secondDefaults(object, defaults) : []),
      ]);
      yield { kind, objects, findings };
    }
  }
}

/** The rules, and what they leave unsaid of the strictest schema. */
function verdictOn(object: JsonObject, gates: ClaimGates): readonly ObjectFinding[] {
  const said = objectFindings(object, undefined, gates);
  return [...said, ...unlessSaid(said, schemaFindings(object, undefined, "stored"))];
}

/** Each kind has its own version: in the middle of a migration they differ. */
async function versionOf(api: AuditApi, kind: KindName, signal: AbortSignal | undefined): Promise<string | undefined> {
  const version = await api.findVersion(kind, { signal });
  if (version === undefined) throw unknownKind(kind);
  return version;
}

const findingOf = (
  object: JsonObject,
  severity: AuditFinding["severity"],
  { code, field, message }: FieldViolation,
): AuditFinding => ({ severity, code, object: describeObject(object), field, message, remedy: remedyOf(code) });

/** The first class of a driver that is a default is right, and each further one is not. */
function secondDefaults(object: JsonObject, firsts: Map<string, string>): readonly AuditFinding[] {
  const driver = defaultClassDriver(object);
  if (driver === undefined) return [];
  const first = firsts.get(driver);
  if (first !== undefined) return [findingOf(object, "error", secondDefault(driver, [first]))];
  firsts.set(driver, nameOf(object));
  return [];
}

/** Who wrote an object in v1beta1, and when: the API server records it in metadata.managedFields. */
export interface OldWrite {
  readonly object: string;
  readonly manager: string;
  readonly time: string;
}

export function oldWritesIn(object: JsonObject, version: string, sinceMs: number): readonly OldWrite[] {
  const { managedFields } = object.metadata as { managedFields?: readonly JsonObject[] };
  return (managedFields ?? []).flatMap((entry) => {
    const time = textMember(entry, "time") ?? "";
    return String(entry.apiVersion).endsWith(`/${version}`) && Date.parse(time) >= sinceMs
      ? [{ object: describeObject(object), manager: textMember(entry, "manager") ?? "", time }]
      : [];
  });
}
