import assert from "node:assert/strict";
import { test } from "node:test";
import { listPath } from "./list-path.ts";
import { withQuery } from "./query.ts";

test("parameters are encoded, and those without a value are left out", () =>
  assert.equal(withQuery("/api/v1/pods", { a: "x=y", b: "", c: undefined, limit: 5 }), "/api/v1/pods?a=x%3Dy&limit=5"));

test("parameters are added to those that a path has", () =>
  assert.equal(
    withQuery("/api/v1/pods?fieldSelector=a%3Db", { limit: 5 }),
    "/api/v1/pods?fieldSelector=a%3Db&limit=5",
  ));

test("each page of a list by a path is selected as the path says", async () => {
  const asked: string[] = [];
  const api = {
    getPath: async (path: string) => {
      asked.push(path);
      return { metadata: asked.length === 1 ? { continue: "next" } : {}, items: [] };
    },
  };
  await listPath(api, withQuery("/api/v1/events", { fieldSelector: "involvedObject.name=pod" }));
  const selected = "/api/v1/events?fieldSelector=involvedObject.name%3Dpod&limit=";
  assert.equal(asked.length, 2);
  for (const path of asked) assert.ok(path.startsWith(selected), path);
  assert.match(asked[1] ?? "", /&continue=next$/);
});
