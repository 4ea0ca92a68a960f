import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, driver } from "../../../test/builders.ts";
import { annotations, labels } from "../../api/names.ts";
import { createActiveSidecars } from "./active-sidecars.ts";

const plain = aContent();
const named = aContent({ metadata: { annotations: { [annotations.snapshotterId]: "third" } } });
const taken = aContent({
  metadata: { annotations: { [annotations.snapshotterId]: "third" } },
  status: { snapshotHandle: "s-1", readyToUse: true },
});

function aMemory() {
  let nowMs = 1_000;
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { ...createActiveSidecars({ elapsed: () => nowMs }), pass };
}

const sights: readonly [
  given: string,
  before: typeof plain | undefined,
  after: typeof plain | undefined,
  isSeen: boolean,
][] = [
  ["writes its name on a content", plain, named, true],
  ["removes its name from a content", taken, aContent({ status: { snapshotHandle: "s-1", readyToUse: true } }), true],
  ["has its name on a content whose handle somebody else has written, such as upstream's sidecar", named, taken, false],
  ["has its name on a content that has just come, by whomever it was made", undefined, named, false],
  ["has its name on a content that somebody else changed", named, named, false],
  ["had its name on a content that is gone", taken, undefined, false],
];
for (const [given, before, after, isSeen] of sights)
  test(`a sidecar that ${given} is ${isSeen ? "" : "not "}known to be active`, () => {
    const { see, of } = aMemory();
    see(before, after);
    assert.equal(of(driver, undefined), isSeen ? "third" : undefined);
  });

test("a sidecar without activity for a minute is not active", () => {
  const { see, of, pass } = aMemory();
  see(plain, named);
  pass(59_999);
  assert.equal(of(driver, undefined), "third");
  pass(1);
  assert.equal(of(driver, undefined), undefined);
});

test("a sidecar is active for its own driver and, with node-local sidecars, for its own node", () => {
  const { see, of } = aMemory();
  const metadata = { labels: { [labels.managedBy]: "node-1" } };
  see(aContent({ metadata }), aContent({ metadata: { ...metadata, ...named.metadata, labels: metadata.labels } }));
  assert.deepEqual(
    [of(driver, "node-1"), of(driver, "node-2"), of(driver, undefined), of("tape", "node-1")],
    ["third", undefined, undefined, undefined],
  );
});

test("the node memory of a cluster with changing nodes is bounded", () => {
  const { see, of, pass, size } = aMemory();
  for (let day = 0; day < 1_000; day++) {
    const nodeLabels = { [labels.managedBy]: `node-${day}` };
    see(
      aContent({ metadata: { labels: nodeLabels } }),
      aContent({ metadata: { ...named.metadata, labels: nodeLabels } }),
    );
    pass(20_000);
  }
  assert.deepEqual([size(), of(driver, "node-999"), of(driver, "node-998")], [3, "third", "third"]);
});
