/** A content that goes: delete at the driver where the policy says so, then let go. */
import { finalizers } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import { settled } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { ContentView } from "./observe.ts";
import { deleteCall } from "./plan-calls.ts";
import { ask, confirmed, doing, kind, planTrouble, quoted, type SidecarPlan, tell, withoutMark } from "./plan-steps.ts";

export function planRemoval(view: ContentView): SidecarPlan {
  const { content, reply } = view;
  const prepared = deleteCall(content);
  const fail = (text: string): SidecarPlan => planTrouble(view, "SnapshotDeleteError", text, []);
  if (prepared.kind === "none" || reply.kind === "deleted") return release(content);
  if (prepared.kind === "unverified") return release(content, unverified(view, prepared.handle));
  if (prepared.kind === "wrong") return fail(`Failed to get snapshot credentials: ${prepared.message}; ${orRetain}`);
  if (reply.kind === "failed") return fail(`Failed to delete snapshot: ${quoted(reply.fault)}`);
  if (reply.kind === "unsent") return fail(`Failed to get snapshot credentials: ${reply.fault.message}`);
  return doing(settled, ask(content, prepared, confirmed(content)));
}

const orRetain = "to let the content go without deleting the snapshot, set spec.deletionPolicy to Retain";

/** Lets the content go, and says what may be left at the driver. */
function release(content: VolumeSnapshotContent, left?: string): SidecarPlan {
  const write = edit(kind, content, { removeFinalizers: [finalizers.contentBound], annotations: withoutMark });
  const told = left === undefined || write.length === 0 ? [] : [tell(content, "SnapshotLeftAtDriver", left)];
  return doing(settled, write, told);
}

const unverified = ({ content, facts }: ContentView, handle: string): string =>
  `Content ${content.metadata.name} is let go without DeleteSnapshot: driver ${facts.driver} never confirmed that it has spec.source.snapshotHandle "${handle}", so nothing is deleted by it; if that snapshot exists and is not wanted, delete it by the means of the storage`;
