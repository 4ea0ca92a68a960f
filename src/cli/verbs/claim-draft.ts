/** The claim that `restore` creates, the grant that it needs in another namespace, and why it cannot be. Pure. */
import { draftOf } from "../../api/builders.ts";
import { kindRows } from "../../api/kinds.ts";
import { provisioning } from "../../api/names.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type {
  Draft,
  KubeObject,
  ObjectOf,
  PersistentVolumeClaim,
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../../api/types.ts";
import { binaryQuantity, compareQuantities, parseQuantity, printQuantity, type Quantity } from "../../base/quantity.ts";
import { type ErrorCode, fix, withCode } from "../../errors/codes.ts";
import { type GrantFrom, type GrantTo, grantAllows } from "../../rules/reference-grant.ts";
import { nameWith } from "./names.ts";

type StorageClass = ObjectOf<"StorageClass">;

/** What was read. Undefined: it is not there, or the caller may not read it. */
export interface RestoreObjects {
  readonly snapshot: VolumeSnapshot | undefined;
  readonly content: VolumeSnapshotContent | undefined;
  /** The claim that the snapshot was taken of. */
  readonly source: PersistentVolumeClaim | undefined;
  readonly storageClasses: readonly StorageClass[] | undefined;
  /** Those of the snapshot's namespace. */
  readonly grants: readonly ReferenceGrant[] | undefined;
}

/** Empty texts: as the snapshot's source has it. */
export interface RestoreWishes {
  readonly from: { readonly namespace: string; readonly name: string };
  readonly to: { readonly namespace: string; readonly name: string };
  readonly storageClass: string;
  readonly size: string;
  readonly accessModes: readonly string[];
}

export interface RestorePlan {
  readonly claim: Draft<PersistentVolumeClaim>;
  /** The grant that is missing: nothing else lets the claim use the snapshot. */
  readonly missingGrant: Draft<ReferenceGrant> | undefined;
  /** Whether that could not be seen. */
  readonly grantIsUnknown: boolean;
}

export type RestoreDecision = RestorePlan | { readonly refused: CodedMessage };

const refused = (text: string, code: ErrorCode): { readonly refused: CodedMessage } => ({
  refused: withCode(text, code),
});
const { group: snapshotGroup } = kindRows.VolumeSnapshot;

export function planRestore(read: RestoreObjects, wishes: RestoreWishes): RestoreDecision {
  const { snapshot, content, source } = read;
  const { from, to } = wishes;
  const of = `VolumeSnapshot ${from.namespace}/${from.name}`;
  if (snapshot === undefined) return refused(`${of} does not exist; ${fix("SNAP-873")}`, "SNAP-873");
  if (snapshot.metadata.deletionTimestamp !== undefined)
    return refused(`${of} is being deleted; ${fix("SNAP-873")}`, "SNAP-873");
  const storageClass = storageClassFor(read, wishes);
  if (storageClass === undefined)
    return refused(`${of} names no claim whose class could be used; ${fix("SNAP-874")}`, "SNAP-874");
  const least = restoreSizeOf(snapshot, content);
  const size = wishes.size === "" ? (least ?? sizeOf(source)) : parseQuantity(wishes.size);
  if (size === undefined) return refused(`${of} has no restore size; ${fix("SNAP-877")}`, "SNAP-877");
  if (least !== undefined && compareQuantities(size, least) < 0)
    return refused(`--size=${wishes.size} is less; ${fix("SNAP-876", printQuantity(least))}`, "SNAP-876");
  const isAway = to.namespace !== from.namespace;
  const volumeMode = content?.spec.sourceVolumeMode ?? source?.spec?.volumeMode;
  const reference = { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name: from.name };
  const claim = draftOf("PersistentVolumeClaim", to, {
    spec: {
      accessModes: [...accessModesFor(wishes, source)],
      storageClassName: storageClass,
      ...(volumeMode === undefined ? {} : { volumeMode }),
      resources: { requests: { storage: printQuantity(size) } },
      ...(isAway ? { dataSourceRef: { ...reference, namespace: from.namespace } } : { dataSource: reference }),
    },
  });
  return { claim, ...grantFor(read.grants, wishes) };
}

const accessModesFor = (
  { accessModes }: RestoreWishes,
  source: PersistentVolumeClaim | undefined,
): readonly string[] => (accessModes.length > 0 ? accessModes : (source?.spec?.accessModes ?? ["ReadWriteOnce"]));

function sizeOf(source: PersistentVolumeClaim | undefined): Quantity | undefined {
  const asked = source?.status?.capacity?.storage ?? source?.spec?.resources?.requests?.storage;
  return asked === undefined ? undefined : parseQuantity(asked);
}

/** A driver that does not know the size reports 0. */
function restoreSizeOf(snapshot: VolumeSnapshot, content: VolumeSnapshotContent | undefined): Quantity | undefined {
  const said = snapshot.status?.restoreSize;
  const bytes = content?.status?.restoreSize;
  const size = said !== undefined ? parseQuantity(said) : bytes === undefined ? undefined : binaryQuantity(bytes);
  return size === undefined || size.nanos <= 0n ? undefined : size;
}

function storageClassFor({ content, source, storageClasses = [] }: RestoreObjects, wishes: RestoreWishes) {
  if (wishes.storageClass !== "") return wishes.storageClass;
  const ofSource = source?.spec?.storageClassName;
  if (ofSource) return ofSource;
  const ofDriver = storageClasses.filter(({ provisioner }) => provisioner === content?.spec.driver);
  const found = ofDriver.find(isDefault) ?? (ofDriver.length === 1 ? ofDriver[0] : undefined);
  return found?.metadata.name;
}

const isDefault = ({ metadata }: KubeObject): boolean => metadata.annotations?.[provisioning.defaultClass] === "true";

/** The one grant that is needed, and no more: this snapshot, to claims of that namespace. */
function grantFor(
  grants: readonly ReferenceGrant[] | undefined,
  { from, to }: RestoreWishes,
): Pick<RestorePlan, "missingGrant" | "grantIsUnknown"> {
  if (from.namespace === to.namespace) return { missingGrant: undefined, grantIsUnknown: false };
  const referrer: GrantFrom = { group: "", kind: "PersistentVolumeClaim", namespace: to.namespace };
  const target: GrantTo = { group: snapshotGroup, kind: "VolumeSnapshot", ...from };
  if (grants?.some((grant) => grantAllows(grant, referrer, target)))
    return { missingGrant: undefined, grantIsUnknown: false };
  const { namespace: _, ...item } = target;
  const missingGrant = draftOf(
    "ReferenceGrant",
    { namespace: from.namespace, name: nameWith(from.name, `to-${to.namespace}`) },
    { spec: { from: [referrer], to: [item] } },
  );
  return { missingGrant, grantIsUnknown: grants === undefined };
}
