/**
 * The topology segments of the driver: each once, as long as a node has it. Kept beside the caches of nodes, because a cluster has
 * thousands of them and each change of one would have all of them read again.
 */
import type { KeptNode } from "../../../api/kept.ts";
import type { CSINode } from "../../../api/types.ts";
import { type Key, keyIn } from "../../../base/brand.ts";
import { type Segments, segmentsOn } from "../driver/topology.ts";
import { segmentText } from "./key.ts";

export interface SegmentList {
  /** Text and labels of each. */
  all(): Iterable<readonly [string, Segments]>;
  get(text: string): Segments | undefined;
  size(): number;
  ofNode(name: string): Segments | undefined;
}

interface NodeCache<T> {
  get(key: Key): T | undefined;
  onChange(listener: (before: T | undefined, after: T | undefined) => void): unknown;
}

/** The one segment of a process that serves one node only. */
export function fixedSegments(nodeName: string, segments: Segments): SegmentList {
  const text = segmentText(segments);
  return {
    all: () => [[text, segments]],
    get: (asked) => (asked === text ? segments : undefined),
    size: () => 1,
    ofNode: (name) => (name === nodeName ? segments : undefined),
  };
}

/** `changed` is told of each segment that comes or goes. */
export function createSegments(
  driver: string,
  { nodes, csiNodes }: { readonly nodes: NodeCache<KeptNode>; readonly csiNodes: NodeCache<CSINode> },
  changed: (text: string) => void,
): SegmentList {
  const byText = new Map<string, { readonly segments: Segments; readonly nodes: Set<string> }>();
  const byNode = new Map<string, string>();

  const leave = (name: string, text: string): void => {
    const found = byText.get(text);
    found?.nodes.delete(name);
    if (found?.nodes.size !== 0) return;
    byText.delete(text);
    changed(text);
  };
  const enter = (name: string, text: string, segments: Segments): void => {
    const found = byText.get(text);
    if (found !== undefined) return void found.nodes.add(name);
    byText.set(text, { segments, nodes: new Set([name]) });
    changed(text);
  };
  const look = (name: string): void => {
    const key = keyIn(undefined, name);
    const segments = segmentsOn(driver, nodes.get(key), csiNodes.get(key));
    const before = byNode.get(name);
    const text = segments && segmentText(segments);
    if (text === before) return;
    if (text === undefined) byNode.delete(name);
    else byNode.set(name, text);
    // First the new one: a node that is relabelled never leaves its class without any.
    if (text !== undefined && segments !== undefined) enter(name, text, segments);
    if (before !== undefined) leave(name, before);
  };
  const lookAt = (before: KeptNode | CSINode | undefined, after: KeptNode | CSINode | undefined): void => {
    const changedNode = after ?? before;
    if (changedNode !== undefined) look(changedNode.metadata.name);
  };
  nodes.onChange(lookAt);
  csiNodes.onChange(lookAt);

  const get = (text: string): Segments | undefined => byText.get(text)?.segments;
  return {
    *all() {
      for (const [text, { segments }] of byText) yield [text, segments];
    },
    get,
    size: () => byText.size,
    ofNode: (name) => get(byNode.get(name) ?? ""),
  };
}
