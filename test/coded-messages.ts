/** What a plan lets a user read, in tests: events and status.error, each with the code that ends it. */
import assert from "node:assert/strict";
import type { ClusterAction } from "../src/api/plan.ts";
import { errorRows } from "../src/errors/codes.ts";

type Written = ClusterAction | { readonly kind: "csi" | "count" | "readClaims" };

const messagesIn = (action: Written): readonly string[] => {
  if (action.kind === "event") return [action.event.message];
  if (action.kind !== "patch" || action.patch.type !== "merge") return [];
  const { status } = action.patch.body as { status?: { error?: { message?: string } } };
  return status?.error?.message === undefined ? [] : [status.error.message];
};

/** The codes of all messages. Each message has exactly one, at its end, and each code has a row. */
export function codesIn(actions: readonly Written[]): readonly string[] {
  return actions.flatMap(messagesIn).map((message) => {
    const codes = message.match(/SNAP-\d+/g) ?? [];
    assert.equal(codes.length, 1, `one code: ${message}`);
    assert.ok(message.endsWith(` [${codes[0]}]`), `the code ends the message: ${message}`);
    assert.ok(Object.hasOwn(errorRows, codes[0] ?? ""), `the code has a row: ${message}`);
    return codes[0] ?? "";
  });
}
