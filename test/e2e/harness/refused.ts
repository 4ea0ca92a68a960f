/** That a call fails in one line, with this code and in these words. */
import assert from "node:assert/strict";
import { type FaultCode, isFault } from "../../../src/base/fault.ts";

export const refused = (work: Promise<unknown>, code: FaultCode, says: RegExp): Promise<void> =>
  assert.rejects(work, (reason) => {
    assert.ok(isFault(reason, code), String(reason));
    assert.match(reason.message, says);
    assert.equal(reason.message.includes("\n"), false);
    return true;
  });
