import assert from "node:assert/strict";
import { test } from "node:test";
import packageFile from "../../package.json" with { type: "json" };
import { complaintOfNode } from "./old-node.ts";

const { node } = packageFile.devDependencies;

test("a Node that is too old is refused with both versions and a way out", () => {
  assert.match(
    complaintOfNode("v20.20.2", node) ?? "",
    /^needs Node 24 or newer, and this is v20\.20\.2; install .*npx/,
  );
  assert.match(complaintOfNode("v9.0.0", node) ?? "", /this is v9\.0\.0/);
});

test("the Node we are tested with and newer ones are fine", () => {
  for (const version of [process.version, "v24.0.0", "v100.1.2"])
    assert.equal(complaintOfNode(version, node), undefined);
});
