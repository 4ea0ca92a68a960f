/**
 * The command table. A command is one file in commands/ and one row here; its module is loaded only when it runs, so
 * that a tool starts fast and a component holds no other component's code in memory.
 */
import type { CommandRow } from "../runtime/command.ts";

export const commands: readonly CommandRow[] = [
  {
    name: "apiserver",
    summary: "Run the embedded Kubernetes API server.",
    kind: "component",
    load: () => import("./commands/apiserver.ts"),
  },
  {
    name: "crds",
    summary: "Print the snapshot CustomResourceDefinitions.",
    kind: "tool",
    load: () => import("./commands/crds.ts"),
  },
];
