/** The node of a provisioner that runs on every node, for volumes that only one node reaches. */
import type { KeptNode } from "../../../api/kept.ts";
import type { CSINode, PersistentVolume } from "../../../api/types.ts";
import { type NodeSelector, nodeMatches } from "../../../rules/node-affinity.ts";
import type { Segments } from "./topology.ts";

export interface OwnNode {
  readonly name: string;
  /** Where volumes of this node are accessible from, as its driver says; undefined: it has no topology. */
  readonly segments: Segments | undefined;
  /** Whether claims without a selected node are taken over, if their class binds at once. */
  readonly takesImmediate: boolean;
}

/** As a kubelet registers them: the others need not be watched. */
export const nodesAround = (
  driver: string,
  { name, segments = {} }: OwnNode,
): { nodes: KeptNode[]; csiNodes: CSINode[] } => {
  const metadata = { name, uid: name, resourceVersion: "0" };
  const drivers = [{ name: driver, nodeID: name, topologyKeys: Object.keys(segments) }];
  return {
    nodes: [{ apiVersion: "v1", kind: "Node", metadata: { ...metadata, labels: { ...segments } } }],
    csiNodes: [{ apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata, spec: { drivers } }],
  };
};

/** A volume without an affinity, or on a node without topology, may be any node's: whoever is first deletes it. */
export function isAccessible({ name, segments }: OwnNode, { spec }: PersistentVolume): boolean {
  const required = spec?.nodeAffinity?.required as NodeSelector | undefined;
  if (segments === undefined || required === undefined) return true;
  return nodeMatches({ metadata: { name, labels: { ...segments } } }, required);
}
