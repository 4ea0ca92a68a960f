/** What a set of files costs, and what the node can afford. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { containerMiB, mebibyte, shareMemory } from "../../../api/share-memory.ts";
import { createMemoryUse } from "./memory-use.ts";
import { emptyVolumeBytes, fittingLimits, type MemoryDemand, memoryRefusal, setBytes } from "./plan-memory.ts";

const page = 4_096;
const limits = { volumeBytes: 100 * page, namespaceBytes: 200 * page, nodeBytes: 300 * page };

const files = (count: number, bytes: number, name = "key"): readonly (readonly [string, number])[] =>
  Array.from({ length: count }, (_, at) => [`${name}${at}`, bytes] as const);

const costs: readonly { given: string; files: readonly (readonly [string, number])[]; page?: number; bytes: number }[] =
  [
    { given: "no key", files: [], bytes: 0 },
    { given: "an empty key: two inodes", files: files(1, 0), bytes: page },
    { given: "a key of one byte: a page more", files: files(1, 1), bytes: 2 * page },
    { given: "a key of one byte more than a page", files: files(1, page + 1), bytes: 3 * page },
    { given: "a key whose link does not fit into an inode", files: files(1, 1, "k".repeat(240)), bytes: 3 * page },
    { given: "a key of 1 MB", files: files(1, 1_000_000), bytes: 247 * page },
    { given: "15,000 keys of one byte", files: files(15_000, 1), bytes: 15_000 * (page + 2 * 1_536) },
    { given: "the most keys of one byte that the default allows", files: files(9_353, 1), bytes: 16_368 * page },
    { given: "a key of one byte on a machine with large pages", files: files(1, 1), page: 65_536, bytes: 2 * 65_536 },
  ];
for (const { given, files, page: size = page, bytes } of costs)
  test(`${given} takes ${bytes} bytes`, () => assert.equal(setBytes(files, size), bytes));

const demand: MemoryDemand = { namespace: "team", before: 0, after: page, usedByNamespace: 0, usedByNode: 0 };
const decisions: readonly { given: string; demand: Partial<MemoryDemand>; code?: string }[] = [
  { given: "room everywhere", demand: {} },
  { given: "a set that just fits the volume", demand: { after: 100 * page } },
  { given: "a set too large for the volume", demand: { after: 100 * page + 1 }, code: "SNAP-711" },
  {
    given: "a namespace that is full",
    demand: { usedByNamespace: 200 * page, usedByNode: 200 * page },
    code: "SNAP-712",
  },
  { given: "a node that is full, by other namespaces", demand: { usedByNode: 300 * page }, code: "SNAP-713" },
  {
    given: "an update that grows beyond the volume",
    demand: { before: 50 * page, after: 101 * page, usedByNamespace: 50 * page, usedByNode: 50 * page },
    code: "SNAP-711",
  },
  {
    given: "an update of which only the growth counts for namespace and node",
    demand: { before: 90 * page, after: 100 * page, usedByNamespace: 190 * page, usedByNode: 290 * page },
  },
  {
    given: "an update that shrinks, while all limits are exceeded",
    demand: { before: 400 * page, after: 399 * page, usedByNamespace: 500 * page, usedByNode: 600 * page },
  },
];
for (const { given, demand: more, code } of decisions)
  test(`${given}: ${code ?? "it is written"}`, () => {
    const refusal = memoryRefusal({ ...demand, ...more }, limits);
    assert.equal(/\[(SNAP-\d+)\]/.exec(refusal ?? "")?.[1], code);
  });

test("the limits are lowered to what the container has, and not raised", () => {
  const fitted = (containerBytes: number | undefined) => fittingLimits(limits, { containerBytes, besideBytes: page });
  assert.deepEqual(fitted(undefined), limits);
  assert.deepEqual(fitted(10_000 * page), limits);
  assert.deepEqual(fitted(151 * page), { volumeBytes: 100 * page, namespaceBytes: 150 * page, nodeBytes: 150 * page });
  assert.equal(fitted(0).nodeBytes, 0);
});

test("the default limits grow from volume to namespace to node, and the container's limit is above them", () => {
  const { volumeMiB, namespaceMiB, nodeMiB } = shareMemory;
  assert.ok(volumeMiB < namespaceMiB && 2 * namespaceMiB <= nodeMiB, "no namespace takes more than half of the node");
  assert.ok(containerMiB > nodeMiB);
  const wanted = {
    volumeBytes: volumeMiB * mebibyte,
    namespaceBytes: namespaceMiB * mebibyte,
    nodeBytes: nodeMiB * mebibyte,
  };
  const besideBytes = (containerMiB - nodeMiB) * mebibyte;
  assert.deepEqual(fittingLimits(wanted, { containerBytes: containerMiB * mebibyte, besideBytes }), wanted);
});

test("memory is taken before a write and given back when a volume shrinks or goes; those who were refused are told, in their order", () => {
  const told: string[][] = [];
  const use = createMemoryUse({
    limits: {
      volumeBytes: 10 * emptyVolumeBytes,
      namespaceBytes: 10 * emptyVolumeBytes,
      nodeBytes: 15 * emptyVolumeBytes,
    },
    onRoom: (ids) => told.push([...ids]),
  });
  const sets = (count: number): number => count * emptyVolumeBytes;
  assert.equal(use.take("a", "one", sets(7)), undefined);
  use.settle("a", "one", sets(7));
  for (const id of ["b", "c"]) {
    assert.equal(use.take(id, "two", 0), undefined);
    use.settle(id, "two", 0);
    assert.match(use.take(id, "two", sets(7)) ?? "", /SNAP-713/);
  }
  assert.match(use.take("d", "one", sets(2)) ?? "", /SNAP-712/);
  assert.equal(use.total(), 10 * emptyVolumeBytes);
  assert.deepEqual(told, []);
  // Until a smaller set has replaced a larger one, the larger one counts.
  assert.equal(use.take("a", "one", sets(1)), undefined);
  assert.equal(use.total(), 10 * emptyVolumeBytes);
  use.settle("a", "one", sets(1));
  assert.deepEqual(told, [["b", "c"]]);
  assert.equal(use.take("b", "two", sets(7)), undefined);
  use.release("a");
  assert.deepEqual(told.at(-1), ["c"], "a volume that was never mounted does not wait");
  for (const id of ["b", "c"]) use.release(id);
  assert.deepEqual([use.total(), use.used().size], [0, 0]);
});
