import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { pageBytes } from "./page-size.ts";

test("the size of a page is the one that the system gives; without a list of the kernel it is the usual one", () => {
  assert.equal(pageBytes("/no/such/file"), 4_096);
  if (process.platform === "linux")
    assert.equal(pageBytes(), Number(execFileSync("getconf", ["PAGESIZE"], { encoding: "utf8" })));
});
