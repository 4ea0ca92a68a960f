import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { errorCodeOf, fsErrorText } from "./fs-errors.ts";

test("a file system error becomes a sentence with the path, without the errno code", () => {
  const problem = (path: string): string => {
    try {
      mkdirSync(path);
    } catch (reason) {
      return fsErrorText(reason);
    }
    return assert.fail(`${path} was made`);
  };
  assert.equal(problem("/nowhere/at/all"), "there is no such file or folder");
  assert.equal(problem(`${import.meta.filename}/x`), "a part of the path is a file, not a folder");
  assert.equal(problem(import.meta.filename), "there is a file of that name");
});

test("an unknown error is passed on unchanged", () => {
  assert.equal(fsErrorText(new Error("quite unheard of")), "quite unheard of");
  assert.equal(fsErrorText("text"), "text");
  assert.equal(errorCodeOf(new Error("no code")), "");
});
