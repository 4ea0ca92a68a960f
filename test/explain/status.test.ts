/** `status` on the stuck objects of `explain`: each is on the screen, by the same cause. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../src/api/types.ts";
import { keyIn } from "../../src/base/brand.ts";
import { type ClusterReader, readerOf } from "../../src/cli/explain/cluster-copy.ts";
import { createListedCopy } from "../../src/cli/status/listed-copy.ts";
import { screenText } from "../../src/cli/status/output.ts";
import { settledView } from "../../src/cli/status/status.ts";
import { claimCases } from "./cases/claims.ts";
import { deletionCases } from "./cases/deletions.ts";
import { shareCases } from "./cases/shares.ts";
import { snapshotCases } from "./cases/snapshots.ts";
import { clusterWith, now } from "./cluster.ts";
import type { StuckCase } from "./stuck-case.ts";

const everything = { namespace: undefined, isSelected: () => true };
const place = { server: "cluster.example.com", namespace: undefined };

/** Claims that no driver of the cluster has to do with: a static volume may be on its way, and others provision as well. */
const ofNoDriver = new Set([
  "a claim of a class that does not exist",
  "a claim without a class where no class is the default",
  "a claim whose driver is not installed",
]);
/** Explained as stuck to whoever asks about it; nobody has to do anything about the cluster. */
const asItShouldBe = new Set(["a claim that waits for its first pod"]);

async function viewOf({ objects, gone, unreadable = [], unserved = [] }: StuckCase) {
  const all = readerOf(clusterWith(objects, gone) as unknown as readonly KubeObject[]);
  const listed: string[] = [];
  const reader: ClusterReader = {
    read: async (want, signal) => {
      if (want.name === undefined) listed.push(want.kind);
      if (unserved.includes(want.kind)) return { kind: "unserved" };
      return unreadable.includes(want.kind) ? { kind: "unreadable", why: "forbidden" } : all.read(want, signal);
    },
  };
  const copy = createListedCopy(reader, { namespace: undefined, kinds: new Set() }, new AbortController().signal);
  const view = await settledView({ copy, place, selection: everything, now: () => Date.parse(now) });
  return { view, listed };
}

for (const each of [...snapshotCases, ...deletionCases, ...claimCases, ...shareCases])
  test(`given ${each.given}, status shows ${each.cause}`, async () => {
    const { view, listed } = await viewOf(each);
    const [kind = ""] = each.explain.split(" ");
    const has = ({ objects }: (typeof view.waiting)[number]): boolean =>
      objects.some(({ object }) => `${object.kind} ${keyIn(object.namespace, object.name)}` === each.explain);
    const isWaiting = asItShouldBe.has(each.given) || each.cause === "NothingWrong";
    const groups = view.waiting.filter((group) => (group.verdict !== "waits") === !isWaiting && has(group));
    const codes = groups.map(({ code }) => code);
    const expected = ofNoDriver.has(each.given) ? [] : [each.cause];
    if (each.unreadable?.includes(kind) || each.unserved?.includes(kind))
      assert.match(view.notRead.join("\n"), new RegExp(kind));
    else if (each.cause !== "NothingWrong") assert.deepEqual(codes, expected);
    else assert.ok(view.waiting.every((group) => group.verdict === "waits" || !has(group)));
    assert.equal(view.verdict === "stuck", view.needsPerson > 0);
    assert.deepEqual(listed, [...new Set(listed)], "no kind is listed twice");
    const lines = screenText(view, { width: 80, isWide: false }).split("\n");
    // A word is never broken: who copies a command or a name gets all of it.
    const wide = lines.filter((line) => line.length > 80 && !/^ {4}> /.test(line) && / \S+ /.test(line.trim()));
    assert.deepEqual(wide, []);
  });
