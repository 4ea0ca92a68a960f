import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFlags } from "../../runtime/flags.ts";
import { command } from "./csi-snapshotter.ts";

const cases: readonly { given: string; argv: readonly string[]; node?: string; says: RegExp | undefined }[] = [
  { given: "nothing", argv: [], says: undefined },
  { given: "a node that is known", argv: ["--node-deployment"], node: "worker-1", says: undefined },
  {
    given: "node deployment without NODE_NAME",
    argv: ["--node-deployment"],
    says: /needs the node's name in the environment variable NODE_NAME; set it from spec\.nodeName/,
  },
  {
    given: "node deployment with leader election",
    argv: ["--node-deployment", "--leader-election"],
    node: "worker-1",
    says: /exclude each other: every node serves its own contents/,
  },
  { given: "a part of the uid", argv: ["--snapshot-name-uuid-length=8"], says: undefined },
  {
    given: "nothing of the uid, so that all snapshots would have one name",
    argv: ["--snapshot-name-uuid-length=0"],
    says: /would give all snapshots one name, .*; leave it out, or give 32/,
  },
];
for (const { given, argv, node, says } of cases)
  test(`given ${given}, the sidecar's flags are ${says === undefined ? "accepted" : "refused with the remedy"}`, () => {
    const environment = node === undefined ? {} : { NODE_NAME: node };
    const found = command.check?.(parseFlags(command.flags, argv, environment).options, []);
    if (says === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", says);
  });

test("an empty name prefix is rejected, because names would begin with a dash", () => {
  assert.throws(() => parseFlags(command.flags, ["--snapshot-name-prefix="], {}), /--snapshot-name-prefix/);
});
