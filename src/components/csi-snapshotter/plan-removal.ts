/** A content that goes: delete at the driver where the policy says so, then let go. */
import { finalizers } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import { settled } from "../../api/plan.ts";
import type { ContentView } from "./observe.ts";
import { deleteCall } from "./plan-calls.ts";
import { ask, confirmed, doing, kind, planTrouble, quoted, type SidecarPlan, withoutMark } from "./plan-steps.ts";

export function planRemoval(view: ContentView): SidecarPlan {
  const { content, reply } = view;
  const release = edit(kind, content, {
    removeFinalizers: [finalizers.contentBound],
    annotations: withoutMark,
  });
  const prepared = deleteCall(content);
  if (prepared === undefined || reply.kind === "deleted") return doing(settled, release);
  const trouble = (text: string): SidecarPlan => planTrouble(view, "SnapshotDeleteError", text, []);
  if (reply.kind === "failed") return trouble(`Failed to delete snapshot: ${quoted(reply.fault)}`);
  if (reply.kind === "unsent") return trouble(`Failed to get snapshot credentials: ${reply.fault.message}`);
  return doing(settled, ask(content, prepared, confirmed(content)));
}
