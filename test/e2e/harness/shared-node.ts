/** One node for all pod suites of a run, on the shared control plane. */
import { type Node, startNode } from "./node.ts";
import { useControlPlane } from "./shared.ts";

let shared: Promise<Node> | undefined;

export const useNode = (): Promise<Node> => {
  shared ??= useControlPlane().then((plane) => startNode(plane));
  return shared;
};
