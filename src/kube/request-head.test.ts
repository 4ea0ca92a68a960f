import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "../base/fault.ts";
import { requestHead } from "./request-head.ts";

const server = new URL("https://kube:6443/");

test("a head names host, length and every header, a list of values line by line", () => {
  const request = { method: "PATCH", path: "/api?x=1", headers: { accept: "application/json" }, body: "{ü}" };
  assert.equal(
    requestHead(server, request, { authorization: "Bearer a", "impersonate-group": ["b", "c"] }),
    "PATCH /api?x=1 HTTP/1.1\r\nhost: kube:6443\r\naccept: application/json\r\nauthorization: Bearer a\r\n" +
      "impersonate-group: b\r\nimpersonate-group: c\r\ncontent-length: 4\r\n\r\n",
  );
});

test("what may have a body and has none says so, what has none by nature says nothing", () => {
  assert.match(requestHead(server, { method: "POST", path: "/", headers: {} }, {}), /content-length: 0\r\n\r\n$/);
  assert.doesNotMatch(requestHead(server, { method: "GET", path: "/", headers: {} }, {}), /content-length/);
});

test("the server's own path comes first, with one slash between", () => {
  for (const prefixed of ["https://kube/clusters/a", "https://kube/clusters/a/"])
    assert.match(
      requestHead(new URL(prefixed), { method: "GET", path: "/api", headers: {} }, {}),
      /^GET \/clusters\/a\/api /,
    );
});

const smuggled = [
  ["a line break in the path", { path: "/api HTTP/1.1\r\nx: y" }, {}],
  ["a blank in the path", { path: "/a b" }, {}],
  ["a letter in the path that is not percent-encoded", { path: "/ü" }, {}],
  ["a line break in the method", { method: "GET\r\n" }, {}],
  ["a line break in a header", { headers: { "user-agent": "a\r\nb: c" } }, {}],
  ["a line break in a token", {}, { authorization: "Bearer secret\nx" }],
] as const;
for (const [given, wrong, identity] of smuggled)
  test(`${given} is refused, and a token not quoted`, () => {
    assert.throws(
      () => requestHead(server, { method: "GET", path: "/", headers: {}, ...wrong }, identity),
      (reason) => isFault(reason, "InvalidArgument") && !reason.message.includes("secret"),
    );
  });
