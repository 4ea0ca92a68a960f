/** What a set of files costs, and what the node can afford. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { containerMiB, mebibyte, shareMemory } from "../../../api/share-memory.ts";
import { createMemoryUse } from "./memory-use.ts";
import {
  emptyVolumeBytes,
  fittingLimits,
  footprintOf,
  heldBytes,
  type MemoryDemand,
  type MemorySum,
  memoryRefusal,
  noFiles,
  setBytes,
} from "./plan-memory.ts";

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

test("what is held is what the kernel says is in use beside the shown set, counted as files of two pages where that takes more", () => {
  const shown = footprintOf([...files(3, 1), ...files(1, 1_000_000, "large")], page);
  assert.deepEqual(shown, { pages: 248, inodes: 8, indexes: 4 });
  const use = { pages: 248, inodes: 8 + 3 };
  assert.equal(heldBytes(use, shown, page), 0);
  const inUse = (pages: number, inodes: number) => ({ pages: use.pages + pages, inodes: use.inodes + inodes });
  assert.equal(heldBytes(inUse(0, 2), shown, page), 2 * 1_536, "removed files that are empty");
  assert.equal(heldBytes(inUse(1, 1), shown, page), page + 1_536);
  assert.equal(heldBytes(inUse(245, 1), shown, page), 245 * page + 1_536 + (4 + 1) * 640, "1 MB");
  assert.equal(heldBytes({ pages: 0, inodes: 1 }, shown, page), 0, "never less than nothing");
});

const sum = (used: number, held = 0, pending = 0): MemorySum => ({ used, held, pending });
const demand: MemoryDemand = {
  namespace: "team",
  before: 0,
  after: page,
  replaced: 0,
  held: 0,
  byNamespace: sum(0),
  byNode: sum(0),
};
const shows = (pages: number) => ({ before: pages * page, replaced: pages * page });
const holds = (pages: number) => ({
  held: pages * page,
  byNamespace: sum((pages + 10) * page, pages * page),
  byNode: sum((pages + 10) * page, pages * page),
});
const decisions: readonly { given: string; demand: Partial<MemoryDemand>; code?: string }[] = [
  { given: "room everywhere", demand: {} },
  { given: "a set that just fits the volume", demand: { after: 100 * page } },
  { given: "a set too large for the volume", demand: { after: 100 * page + 1 }, code: "SNAP-711" },
  {
    given: "a namespace that is full",
    demand: { byNamespace: sum(200 * page), byNode: sum(200 * page) },
    code: "SNAP-712",
  },
  { given: "a node that is full, by other namespaces", demand: { byNode: sum(300 * page) }, code: "SNAP-713" },
  {
    given: "an update that grows beyond the volume",
    demand: { ...shows(50), after: 101 * page, byNamespace: sum(50 * page), byNode: sum(50 * page) },
    code: "SNAP-711",
  },
  {
    given: "an update of which only the growth counts for namespace and node",
    demand: { ...shows(90), after: 100 * page, byNamespace: sum(190 * page), byNode: sum(290 * page) },
  },
  {
    given: "an update that shrinks, while all limits are exceeded",
    demand: { ...shows(400), after: 399 * page, byNamespace: sum(500 * page), byNode: sum(600 * page) },
  },
  {
    given: "an update of a volume of which the replaced sets leave room for one more",
    demand: { ...shows(10), ...holds(90), after: 10 * page },
  },
  {
    given: "an update of the same size, of a volume of which the replaced sets leave no room",
    demand: { ...shows(10), ...holds(91), after: 10 * page },
    code: "SNAP-711",
  },
  {
    given:
      "an update of a volume that holds nothing, in a namespace where another one holds sets, with room for one more",
    demand: { ...shows(50), after: 50 * page, byNamespace: sum(250 * page, 100 * page), byNode: sum(250 * page) },
  },
  {
    given: "an update for which the sets that others hold leave no room in the namespace",
    demand: { ...shows(50), after: 50 * page, byNamespace: sum(251 * page, 100 * page), byNode: sum(250 * page) },
    code: "SNAP-712",
  },
  {
    given: "an update for which the node has room beside what namespaces hold",
    demand: { ...shows(50), after: 50 * page, byNamespace: sum(50 * page), byNode: sum(450 * page, 200 * page) },
  },
  {
    given: "an update for which the sets that all namespaces hold leave no room on the node",
    demand: { ...shows(50), after: 50 * page, byNamespace: sum(50 * page), byNode: sum(451 * page, 200 * page) },
    code: "SNAP-713",
  },
  {
    given: "an update beside others that have begun, whose replaced sets may be held",
    demand: { ...shows(50), after: 50 * page, byNode: sum(300 * page, 0, 151 * page) },
    code: "SNAP-713",
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

const smallLimits = {
  volumeBytes: 10 * emptyVolumeBytes,
  namespaceBytes: 10 * emptyVolumeBytes,
  nodeBytes: 15 * emptyVolumeBytes,
};
/** As many times what an empty volume takes. */
const sets = (count: number): number => count * emptyVolumeBytes;
const shown = (count: number) => ({ pages: sets(count) / page, inodes: 0, indexes: 0 });

test("memory is taken before a write and given back when a volume shrinks or goes; those who were refused are told, in their order", () => {
  const told: string[][] = [];
  const use = createMemoryUse({ limits: smallLimits, pageBytes: page, onRoom: (ids) => told.push([...ids]) });
  assert.equal(use.take("a", "one", sets(7)), undefined);
  use.settle("a", "one", shown(7), undefined);
  for (const id of ["b", "c"]) {
    assert.equal(use.take(id, "two", 0), undefined);
    use.settle(id, "two", noFiles, undefined);
    assert.match(use.take(id, "two", sets(7)) ?? "", /SNAP-713/);
  }
  assert.match(use.take("d", "one", sets(2)) ?? "", /SNAP-712/);
  assert.equal(use.total(), 10 * emptyVolumeBytes);
  assert.deepEqual(told, []);
  // Until a smaller set has replaced a larger one, the larger one counts.
  assert.equal(use.take("a", "one", sets(1)), undefined);
  assert.equal(use.total(), 10 * emptyVolumeBytes);
  use.settle("a", "one", shown(1), undefined);
  assert.deepEqual(told, [["b", "c"]]);
  assert.equal(use.take("b", "two", sets(7)), undefined);
  use.release("a");
  assert.deepEqual(told.at(-1), ["c"], "a volume that was never mounted does not wait");
  for (const id of ["b", "c"]) use.release(id);
  assert.deepEqual([use.total(), use.used().size], [0, 0]);
});

test("a replaced set counts until the kernel says that it is gone, and what waits for it is told", () => {
  const told: string[][] = [];
  const use = createMemoryUse({ limits: smallLimits, pageBytes: page, onRoom: (ids) => told.push([...ids]) });
  const inUse = (pages: number) => ({ pages, inodes: 3 });
  const setPages = shown(5).pages;
  use.settle("a", "one", shown(5), inUse(setPages));
  assert.equal(use.take("a", "one", sets(5)), undefined);
  assert.equal(use.total(), 6 * emptyVolumeBytes);
  use.settle("a", "one", shown(5), inUse(2 * setPages));
  assert.ok(use.total() > 11 * emptyVolumeBytes);
  assert.deepEqual(use.unsettled(), ["a"]);
  assert.match(
    use.take("a", "one", sets(5)) ?? "",
    /would take 0\.7 MiB of memory, 0\.3 MiB of it in replaced sets.*SNAP-711/,
  );
  use.measured("a", inUse(2 * setPages));
  assert.deepEqual(told, []);
  use.measured("a", inUse(setPages));
  assert.deepEqual(told, [["a"]]);
  assert.equal(use.take("a", "one", sets(5)), undefined);
  use.settle("a", "one", noFiles, inUse(setPages));
  assert.ok(use.total() > 6 * emptyVolumeBytes, "an emptied volume may hold an earlier set");
  use.measured("unknown", inUse(1));
  use.release("a");
  assert.deepEqual([use.total(), use.used().size, use.unsettled()], [0, 0, []]);
});

test("pods that hold every set exceed the limit of a namespace by one volume at most, and that of the node by as many as are updated at once", () => {
  const use = createMemoryUse({ limits: smallLimits, pageBytes: page, onRoom: () => undefined });
  const { volumeBytes, namespaceBytes, nodeBytes } = smallLimits;
  const setsOf = new Map<string, number>();
  const namespaceOf = (id: string): string => id.split("-")[0] ?? "";
  const inUse = (id: string) => ({ pages: (setsOf.get(id) ?? 0) * shown(2).pages, inodes: 3 });
  const bytesOf = (namespace: string): number =>
    [...setsOf].reduce((total, [id, count]) => total + (namespaceOf(id) === namespace ? sets(1 + 2 * count) : 0), 0);
  const ids = ["one", "two", "three"].flatMap((namespace) => [1, 2, 3, 4].map((at) => `${namespace}-${at}`));
  for (let round = 0; round < 10; round++)
    for (const id of ids) {
      const isKnown = setsOf.has(id);
      if (round > 0 && !isKnown) continue;
      if (use.take(id, namespaceOf(id), sets(2)) !== undefined) continue;
      setsOf.set(id, (setsOf.get(id) ?? 0) + 1);
      use.settle(id, namespaceOf(id), shown(2), inUse(id));
      assert.ok(bytesOf(namespaceOf(id)) <= namespaceBytes + volumeBytes, id);
      assert.ok(bytesOf("one") + bytesOf("two") + bytesOf("three") <= nodeBytes + beside * volumeBytes, id);
    }
  assert.equal(setsOf.size, 5, "three volumes of the first namespace, two of the second");
  assert.ok(bytesOf("one") > namespaceBytes, "sets are held beyond the limit");
});
const beside = shareMemory.updatesAtOnceMax;
