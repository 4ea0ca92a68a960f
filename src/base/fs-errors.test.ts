import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { errorCodeOf, fsErrorText } from "./fs-errors.ts";

test("what the system says about a path comes in words, without its code", () => {
  const trouble = (path: string): string => {
    try {
      mkdirSync(path);
    } catch (reason) {
      return fsErrorText(reason);
    }
    return assert.fail(`${path} was made`);
  };
  assert.equal(trouble("/nowhere/at/all"), "there is no such file or folder");
  assert.equal(trouble(`${import.meta.filename}/x`), "a part of the path is a file, not a folder");
  assert.equal(trouble(import.meta.filename), "there is a file of that name");
});

test("what is not known is passed on as it is", () => {
  assert.equal(fsErrorText(new Error("quite unheard of")), "quite unheard of");
  assert.equal(fsErrorText("text"), "text");
  assert.equal(errorCodeOf(new Error("no code")), "");
});
