/**
 * Where a volume must be accessible from, for drivers that have topology. The keys come from CSINode objects, the values from the
 * labels of Node objects. With a selected node (WaitForFirstConsumer) its topology is preferred; otherwise the order is turned by the
 * claim's name, so that the claims of a StatefulSet spread.
 */
import type { KeptNode } from "../../../api/kept.ts";
import type { CSINode, StorageClass } from "../../../api/types.ts";
import { fnv1a } from "../../../base/fnv.ts";

export type Segments = Readonly<Record<string, string>>;

export interface TopologyInput {
  readonly driver: string;
  readonly claimName: string;
  readonly selectedNode: string | undefined;
  readonly storageClass: Pick<StorageClass, "allowedTopologies">;
  readonly nodes: readonly KeptNode[];
  readonly csiNodes: readonly CSINode[];
  readonly strict: boolean;
  readonly immediate: boolean;
}

export type Requirement =
  | { readonly kind: "none" }
  | { readonly kind: "topology"; readonly requisite: readonly Segments[]; readonly preferred: readonly Segments[] }
  /** The selected node or its CSINode is gone: the scheduler has to choose again. */
  | { readonly kind: "reschedule"; readonly message: string }
  | { readonly kind: "wrong"; readonly message: string };

export function topologyRequirement(input: TopologyInput): Requirement {
  const { selectedNode, storageClass, driver, immediate } = input;
  const allowed = allowedSegments(storageClass);
  if (selectedNode === undefined && !immediate && allowed.length === 0) return { kind: "none" };
  const selected = selectedNode === undefined ? undefined : segmentsOfNode(input, selectedNode);
  if (selectedNode !== undefined && selected === undefined) return withoutSegments(input, selectedNode);
  if (selected !== undefined && input.strict) return { kind: "topology", requisite: [selected], preferred: [selected] };
  const requisite = allowed.length > 0 ? allowed : segmentsOfAll(input, selected);
  if (requisite.length === 0)
    return selected === undefined
      ? { kind: "none" }
      : { kind: "wrong", message: `no node has the topology of driver ${driver}` };
  if (selected === undefined) return { kind: "topology", requisite, preferred: turned(requisite, input.claimName) };
  const first = requisite.findIndex((segments) => contains(selected, segments));
  if (first === -1)
    return {
      kind: "wrong",
      message: `node ${selectedNode} is outside of allowedTopologies of the StorageClass: allow its topology, or let the pod run elsewhere`,
    };
  return { kind: "topology", requisite, preferred: [...requisite.slice(first), ...requisite.slice(0, first)] };
}

/** A node that is gone is never chosen again. One that is there would be, at once: what it lacks has to come first. */
function withoutSegments({ driver, nodes, csiNodes }: TopologyInput, name: string): Requirement {
  const exists = [nodes, csiNodes].every((all) => all.some(({ metadata }) => metadata.name === name));
  return exists
    ? {
        kind: "wrong",
        message: `node ${name} lacks a label that driver ${driver} names in topologyKeys of its CSINode, or the driver is not registered there: start the driver's pod on the node`,
      }
    : { kind: "reschedule", message: `node ${name} or its CSINode is gone: the scheduler chooses another node` };
}

const keysOn = (driver: string, csiNode: CSINode | undefined): readonly string[] =>
  registrationOn(driver, csiNode)?.topologyKeys ?? [];

const registrationOn = (driver: string, csiNode: CSINode | undefined) =>
  csiNode?.spec.drivers.find(({ name }) => name === driver);

/** Where a node with the driver is; empty: the driver has no topology. Undefined: the node has no driver, or lacks a label. */
export function segmentsOn(
  driver: string,
  node: KeptNode | undefined,
  csiNode: CSINode | undefined,
): Segments | undefined {
  const registration = registrationOn(driver, csiNode);
  return registration === undefined || node === undefined
    ? undefined
    : segmentsBy(registration.topologyKeys ?? [], node);
}

function segmentsOfNode({ driver, nodes, csiNodes }: TopologyInput, name: string): Segments | undefined {
  const keys = keysOn(
    driver,
    csiNodes.find(({ metadata }) => metadata.name === name),
  );
  const node = nodes.find(({ metadata }) => metadata.name === name);
  return keys.length === 0 || node === undefined ? undefined : segmentsBy(keys, node);
}

/** Undefined when a label is missing. */
function segmentsBy(keys: readonly string[], { metadata }: KeptNode): Segments | undefined {
  const entries = keys.map((key) => [key, metadata.labels?.[key]] as const);
  return entries.every((entry): entry is readonly [string, string] => entry[1] !== undefined)
    ? Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : undefined;
}

/** Where all nodes with the driver are, each place once; only the keys of the selected node where there is one. */
function segmentsOfAll(
  { driver, nodes, csiNodes }: TopologyInput,
  selected: Segments | undefined,
): readonly Segments[] {
  const byText = new Map<string, Segments>();
  for (const csiNode of csiNodes) {
    const keys = selected === undefined ? keysOn(driver, csiNode) : Object.keys(selected);
    const node = nodes.find(({ metadata }) => metadata.name === csiNode.metadata.name);
    if (keysOn(driver, csiNode).length === 0 || node === undefined) continue;
    const segments = segmentsBy(keys, node);
    if (segments !== undefined) byText.set(JSON.stringify(segments), segments);
  }
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, segments]) => segments);
}

/** allowedTopologies is an OR of terms, each an AND of keys with several values: every combination is one topology. */
function allowedSegments({ allowedTopologies = [] }: Pick<StorageClass, "allowedTopologies">): readonly Segments[] {
  const combine = (
    expressions: readonly { readonly key: string; readonly values: readonly string[] }[],
  ): readonly Segments[] => {
    const [first, ...rest] = expressions;
    if (first === undefined) return [{}];
    return first.values.flatMap((value) => combine(rest).map((others) => ({ [first.key]: value, ...others })));
  };
  const all = allowedTopologies.flatMap(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.length === 0 ? [] : combine(matchLabelExpressions),
  );
  return [...new Map(all.map((segments) => [JSON.stringify(segments), segments])).values()];
}

const contains = (whole: Segments, part: Segments): boolean =>
  Object.entries(part).every(([key, value]) => whole[key] === undefined || whole[key] === value);

/** "data-db-3" starts three places after "data-db": the claims of one StatefulSet get different topologies. */
function turned(requisite: readonly Segments[], claimName: string): readonly Segments[] {
  const [, stem = claimName, ordinal = "0"] = /^(.*)-(\d+)$/.exec(claimName) ?? [];
  const first = (fnv1a(stem) + Number(ordinal)) % requisite.length;
  return [...requisite.slice(first), ...requisite.slice(0, first)];
}
