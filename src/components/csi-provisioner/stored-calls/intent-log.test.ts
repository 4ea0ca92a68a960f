import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeKube, type Hook } from "../../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { aCreateCall } from "../../../../test/volume-plans.ts";
import type { Lease } from "../../../api/types.ts";
import { Fault } from "../../../base/fault.ts";
import { type Log, silent } from "../../../base/log.ts";
import type { LeaseTerm } from "../../../kube/lease-record.ts";
import { type VolumeName, volumeName } from "../identity.ts";
import type { Intent } from "./intent.ts";
import { createIntentLog } from "./intent-log.ts";

const anIntent = (name: string, change: Partial<Intent> = {}): Intent => ({
  claim: { namespace: "team", name, uid: `u-${name}` },
  call: aCreateCall({ name }),
  secrets: {},
  ...change,
});
const nameFor = (uid: string): VolumeName => volumeName(uid.slice(2));
const annotation = "snapkeep.dev/create-volume-calls";

interface Setting {
  term?(): LeaseTerm | undefined;
  readonly hook?: Hook;
  readonly bytesMax?: number;
  leading?(): boolean;
  readonly log?: Log;
}

function setUp({ hook, bytesMax, leading = () => true, term = () => undefined, log = silent }: Setting = {}) {
  let isLoaded = false;
  const kube = createFakeKube((call, when) => (isLoaded ? hook?.(call, when) : undefined));
  const world = createVirtualWorld();
  const { signal } = new AbortController();
  const adopted: string[] = [];
  const place = { namespace: "kube-system", name: "calls" };
  const another = (led: Setting["term"] = term) =>
    createIntentLog({
      api: kube,
      world,
      log,
      leading,
      term: led,
      bytesMax,
      adopted: (name) => void adopted.push(name),
      nameFor,
      ...place,
    });
  const intents = another();
  /** The write of a new leader is not counted. */
  const load = async (): Promise<void> => {
    await intents.load(signal);
    isLoaded = true;
    kube.calls.length = 0;
  };
  const storedNames = (): readonly string[] =>
    Object.keys(JSON.parse(kube.stored("Lease")[0]?.metadata.annotations?.[annotation] ?? "{}").calls ?? {});
  const writes = (): number => kube.calls.filter(({ verb }) => verb === "create" || verb === "replace").length;
  const add = (name: string, change?: Partial<Intent>) => intents.add(volumeName(name), anIntent(name, change), signal);
  const edit = async (text: string) => {
    const [lease] = kube.stored("Lease");
    if (lease === undefined) throw new Error("nothing is stored");
    await kube.replace("Lease", { ...lease, metadata: { ...lease.metadata, annotations: { [annotation]: text } } });
  };
  return { kube, world, signal, intents, load, another, adopted, storedNames, writes, add, edit };
}

test("an intent is stored when add resolves, and a successor finds it and takes it for uncertain", async () => {
  const { intents, another, signal, storedNames, add, load } = setUp();
  await load();
  await add("pvc-1");
  assert.deepEqual(storedNames(), ["pvc-1"]);
  assert.equal(intents.isUncertain(volumeName("pvc-1")), false);
  const successor = another();
  await successor.load(signal);
  assert.deepEqual(successor.get(volumeName("pvc-1")), anIntent("pvc-1"));
  assert.equal(successor.isUncertain(volumeName("pvc-1")), true);
});

test("a hundred intents of one moment cost one write, those that come during a write one more", async () => {
  const { world, storedNames, writes, add, load } = setUp({
    hook: async ({ verb }, when) => {
      if (verb !== "get" && when === "before") await world.sleep(10);
    },
  });
  await load();
  const first = Array.from({ length: 100 }, (_, index) => add(`pvc-${index}`));
  await world.advance(5);
  const second = Array.from({ length: 100 }, (_, index) => add(`pvc-${index + 100}`));
  await world.run(Promise.all(first));
  assert.equal(storedNames().length, 100);
  await world.run(Promise.all(second));
  assert.equal(writes(), 2);
  assert.equal(storedNames().length, 200);
});

test("claims that come one by one, each after the write of the one before, share writes all the same; a few are stored at once", async () => {
  const { world, storedNames, writes, add, load } = setUp({
    hook: async ({ verb }, when) => {
      if (verb !== "get" && when === "before") await world.sleep(2);
    },
  });
  await load();
  const added: Promise<void>[] = [];
  for (let index = 0; index < 200; index++) {
    added.push(add(`pvc-${index}`));
    await world.advance(5);
    if (index === 4) assert.deepEqual([writes(), storedNames().length], [5, 5]);
  }
  await world.run(Promise.all(added));
  assert.equal(storedNames().length, 200);
  assert.ok(writes() <= 16, `${writes()} writes in a second`);
});

test("who is stored does not wait for those who come later", async () => {
  const { world, add, load } = setUp({
    hook: async ({ verb }, when) => {
      if (verb !== "get" && when === "before") await world.sleep(10);
    },
  });
  await load();
  let isStored = false;
  void add("pvc-0").then(() => {
    isStored = true;
  });
  for (let index = 1; index < 20; index++) {
    await world.advance(3);
    void add(`pvc-${index}`);
    if (index === 5) assert.ok(isStored);
  }
  await world.advance(1_000);
});

test("the intents of another writer are kept, and told once; those that were removed here do not come back", async () => {
  const { intents, another, adopted, signal, storedNames, add, load } = setUp();
  await load();
  await add("pvc-1");
  await add("pvc-gone");
  const other = another();
  await other.load(signal);
  await other.add(volumeName("pvc-2"), anIntent("pvc-2"), signal);
  intents.remove(volumeName("pvc-gone"));
  await add("pvc-3");
  assert.deepEqual(adopted, ["pvc-2"]);
  assert.deepEqual(storedNames().toSorted(), ["pvc-1", "pvc-2", "pvc-3"]);
  assert.equal(intents.isUncertain(volumeName("pvc-2")), true);
  assert.equal(intents.get(volumeName("pvc-gone")), undefined);
});

test("a write that failed leaves no intent behind: nothing was sent", async () => {
  let isAway = true;
  const { intents, storedNames, add, load } = setUp({
    hook: ({ verb }, when) => {
      if (isAway && verb !== "get" && when === "after") throw new Fault("Unavailable", "no reply");
    },
  });
  await load();
  await assert.rejects(add("pvc-1"), { code: "Unavailable" });
  assert.equal(intents.get(volumeName("pvc-1")), undefined);
  assert.deepEqual(storedNames(), ["pvc-1"]);
  isAway = false;
  await add("pvc-2");
  assert.equal(intents.get(volumeName("pvc-1")), undefined, "it was stored by the lost reply, but never sent");
});

test("nothing is written by a process that does not lead", async () => {
  let isLeading = true;
  const { writes, add, load } = setUp({ leading: () => isLeading });
  await load();
  isLeading = false;
  await assert.rejects(add("pvc-1"), { code: "Aborted" });
  assert.equal(writes(), 0);
});

test("an object that somebody deleted is created again", async () => {
  const { kube, storedNames, add, load } = setUp();
  await load();
  await add("pvc-1");
  await kube.delete({ kind: "Lease", namespace: "kube-system", name: "calls" });
  await add("pvc-2");
  assert.deepEqual(storedNames(), ["pvc-1", "pvc-2"]);
});

/** Everything parses it; printing or comparing it overflows the stack. */
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

test("what cannot be read is reported, and the rest is used", async () => {
  const errors: unknown[] = [];
  const log: Log = { ...silent, error: (_message, fields) => void errors.push(fields) };
  const { another, signal, add, edit, load } = setUp({ log });
  await load();
  await add("pvc-1");
  const { claim: _claim, ...good } = anIntent("pvc-1");
  const odd = { ...good, call: { ...good.call, bytes: "much" } };
  const deep = { ...good, more: "nested" };
  const claimOf = (volume: string) => ["team", "pvc", `u-${volume}`];
  await edit(
    JSON.stringify({
      shapes: [good, odd, deep],
      calls: {
        "pvc-1": [0, ...claimOf("pvc-1")],
        "pvc-2": [7, ...claimOf("pvc-2")],
        "pvc-3": null,
        "pvc-4": [1, ...claimOf("pvc-4")],
        "pvc-5": [0],
        // The name of another claim's volume.
        "pvc-6": [0, ...claimOf("pvc-1")],
        "pvc-7": [2, ...claimOf("pvc-7")],
      },
    }).replace('"nested"', nested(50_000)),
  );
  const successor = another();
  await successor.load(signal);
  assert.deepEqual(
    [...successor.all()].map(([name]) => name),
    ["pvc-1"],
  );
  assert.deepEqual((errors[0] as { volumes: string[] }).volumes, [
    "pvc-2",
    "pvc-3",
    "pvc-4",
    "pvc-5",
    "pvc-6",
    "pvc-7",
  ]);
  for (const text of ["{", "[]", "7"]) {
    await edit(text);
    await successor.load(signal);
    assert.deepEqual([...successor.all()], []);
  }
  assert.equal(errors.length, 4);
});

test("an intent that would not fit waits until others have ended", async () => {
  const { intents, world, add, storedNames, load } = setUp({ bytesMax: 280 });
  await load();
  await add("pvc-1");
  await add("pvc-2");
  let isStored = false;
  const third = add("pvc-3").then(() => {
    isStored = true;
  });
  await world.advance(1_000);
  assert.equal(isStored, false);
  intents.remove(volumeName("pvc-1"));
  await world.run(third);
  assert.deepEqual(storedNames(), ["pvc-2", "pvc-3"]);
});

test("an intent that waits too long for room says what fills the object", async () => {
  const { world, add, load } = setUp({ bytesMax: 280 });
  await load();
  await add("pvc-1");
  await add("pvc-2");
  const third = assert.rejects(add("pvc-3"), /2 CreateVolume calls without an outcome fill Lease kube-system\/calls/);
  await world.advance(120_000);
  await third;
});

test("an intent larger than the bound is stored when it is alone", async () => {
  const { add, storedNames, load } = setUp({ bytesMax: 10 });
  await load();
  await add("pvc-1");
  assert.deepEqual(storedNames(), ["pvc-1"]);
});

test("settle resolves when the server has forgotten the intent, and costs nothing if it never knew it", async () => {
  const { intents, signal, add, storedNames, writes, load } = setUp();
  await load();
  await add("pvc-1");
  await add("pvc-2");
  intents.remove(volumeName("pvc-1"));
  assert.deepEqual(storedNames(), ["pvc-1", "pvc-2"]);
  await intents.settle(volumeName("pvc-1"), signal);
  assert.deepEqual(storedNames(), ["pvc-2"]);
  const before = writes();
  await intents.settle(volumeName("pvc-9"), signal);
  assert.equal(writes(), before);
});

test("intents that are over leave the server within a second, with one write", async () => {
  const { intents, world, add, storedNames, writes, load } = setUp();
  await load();
  await Promise.all(["pvc-1", "pvc-2", "pvc-3"].map((name) => add(name)));
  for (const name of ["pvc-1", "pvc-2", "pvc-3"]) intents.remove(volumeName(name));
  const before = writes();
  await world.advance(900);
  assert.equal(writes(), before);
  await world.advance(200);
  assert.deepEqual([storedNames(), writes()], [[], before + 1]);
  await world.advance(120_000);
  assert.equal(writes(), before + 1);
});

test("a call that was sent is uncertain, until the driver refuses the first of its attempts", async () => {
  const { intents, add, load } = setUp();
  await load();
  await add("pvc-1");
  const refused = intents.sending(volumeName("pvc-1"));
  assert.equal(intents.isUncertain(volumeName("pvc-1")), true);
  refused();
  assert.equal(intents.isUncertain(volumeName("pvc-1")), false);
  intents.sending(volumeName("pvc-1"));
  intents.sending(volumeName("pvc-1"))();
  assert.equal(intents.isUncertain(volumeName("pvc-1")), true, "the attempt before may have created the volume");
});

test("an intent with other arguments is stored in place of the one before, and stays uncertain", async () => {
  const { intents, add, writes, load } = setUp();
  await load();
  await add("pvc-1");
  intents.sending(volumeName("pvc-1"));
  const before = writes();
  await add("pvc-1");
  assert.equal(writes(), before, "the same intent is stored already");
  await add("pvc-1", { reclaimPolicy: "Retain" });
  assert.equal(writes(), before + 1);
  assert.equal(intents.get(volumeName("pvc-1"))?.reclaimPolicy, "Retain");
  assert.equal(intents.isUncertain(volumeName("pvc-1")), true);
});

test("an intent that was to be replaced is stored again before it counts as stored, if the reply to that write was lost", async () => {
  let isLost = false;
  const { intents, signal, storedNames, another, add, load } = setUp({
    hook: ({ verb }, when) => {
      if (isLost && verb === "replace" && when === "after") throw new Fault("UnknownOutcome", "the reply is lost");
    },
  });
  await load();
  await add("pvc-1");
  intents.sending(volumeName("pvc-1"));
  isLost = true;
  await assert.rejects(add("pvc-1", { undoes: "vol-9" }), { code: "UnknownOutcome" });
  assert.deepEqual(intents.get(volumeName("pvc-1")), anIntent("pvc-1"));
  isLost = false;
  await add("pvc-1");
  const successor = another();
  await successor.load(signal);
  assert.deepEqual([storedNames(), successor.get(volumeName("pvc-1"))], [["pvc-1"], anIntent("pvc-1")]);
});

test("a process that stops removes what is over, and does not wait long for a server that is away", async () => {
  let isAway = false;
  const { intents, world, add, storedNames, load } = setUp({
    hook: ({ verb }, when) =>
      isAway && verb !== "get" && when === "before" ? new Promise(() => undefined) : undefined,
  });
  await load();
  await Promise.all(["pvc-1", "pvc-2", "pvc-3"].map((name) => add(name)));
  intents.remove(volumeName("pvc-1"));
  await world.run(intents.close());
  assert.deepEqual(storedNames(), ["pvc-2", "pvc-3"]);
  intents.remove(volumeName("pvc-2"));
  isAway = true;
  await world.run(intents.close(), 3_000);
  assert.deepEqual(storedNames(), ["pvc-2", "pvc-3"]);
});

test("a write whose reply was lost is undone a second later", async () => {
  let isLost = true;
  const { intents, world, storedNames, add, load } = setUp({
    hook: ({ verb }, when) => {
      if (verb !== "replace" || when !== "after" || !isLost) return;
      isLost = false;
      throw new Fault("UnknownOutcome", "the reply is lost");
    },
  });
  await load();
  await assert.rejects(add("pvc-1"));
  assert.deepEqual([storedNames(), intents.get(volumeName("pvc-1"))], [["pvc-1"], undefined]);
  await world.advance(1_100);
  assert.deepEqual(storedNames(), []);
});

test("five refusals in a row end the uncertainty of a call, and one without an outcome starts the count again", async () => {
  const { another, signal, add, load } = setUp();
  await load();
  await add("pvc-1");
  const successor = another();
  await successor.load(signal);
  const refused = (times: number): void => {
    for (let time = 0; time < times; time++) successor.sending(volumeName("pvc-1"))();
  };
  refused(4);
  assert.equal(successor.isUncertain(volumeName("pvc-1")), true);
  successor.sending(volumeName("pvc-1"));
  refused(4);
  assert.equal(successor.isUncertain(volumeName("pvc-1")), true);
  refused(1);
  assert.equal(successor.isUncertain(volumeName("pvc-1")), false);
});

test("a late write of the predecessor cannot remove what its successor has found", async () => {
  const { kube, another, signal, storedNames, add, load } = setUp();
  await load();
  await add("pvc-1");
  const [before] = kube.stored("Lease");
  assert.ok(before !== undefined);
  await another().load(signal);
  const late = { ...before, metadata: { ...before.metadata, annotations: { [annotation]: "{}" } } };
  await assert.rejects(() => kube.replace("Lease", late), { code: "Conflict" });
  assert.deepEqual(storedNames(), ["pvc-1"]);
});

for (const [isStoredFirst, what] of [
  [true, "remove"],
  [false, "bring back"],
] as const)
  test(`a write that was believed lost cannot ${what} a call after a write that stores the same calls as before`, async () => {
    let lost: unknown;
    let isAway = false;
    const { kube, intents, world, signal, storedNames, add, load } = setUp({
      hook: ({ verb, body }, when) => {
        if (!isAway || verb !== "replace" || when !== "before") return;
        lost = body;
        throw new Fault("DeadlineExceeded", "no reply");
      },
    });
    const change = (isAdded: boolean) => (isAdded ? add("pvc-1") : intents.settle(volumeName("pvc-1"), signal));
    await load();
    await add("pvc-0");
    if (isStoredFirst) await add("pvc-1");
    isAway = true;
    await assert.rejects(world.run(change(!isStoredFirst)), { code: "DeadlineExceeded" });
    isAway = false;
    await world.run(change(isStoredFirst));
    const names = isStoredFirst ? ["pvc-0", "pvc-1"] : ["pvc-0"];
    assert.deepEqual(storedNames(), names);
    await assert.rejects(() => kube.replace("Lease", lost as Lease), { code: "Conflict" });
    assert.deepEqual(storedNames(), names);
  });

test("a Lease whose count of transitions is full can be written", async () => {
  const { kube, add, load } = setUp();
  await load();
  await add("pvc-1");
  const [lease] = kube.stored("Lease");
  assert.ok(lease !== undefined);
  await kube.replace("Lease", { ...lease, spec: { leaseTransitions: 2 ** 31 - 1 } });
  await add("pvc-2");
  assert.equal(kube.stored("Lease")[0]?.spec?.leaseTransitions, 0);
});

test("each new leader writes, so that no late write of a predecessor stores a call, whether or not there is a Lease", async () => {
  const { kube, intents, another, signal, add, storedNames } = setUp();
  await intents.load(signal);
  const [first] = kube.stored("Lease");
  await another().load(signal);
  await assert.rejects(
    add("pvc-1").then(() => kube.replace("Lease", first as Lease)),
    { code: "Conflict" },
  );
  await kube.delete({ kind: "Lease", namespace: "kube-system", name: "calls" });
  await another().load(signal);
  assert.deepEqual(storedNames(), []);
  const late = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: first?.metadata } as Lease;
  await assert.rejects(() => kube.create("Lease", late), { code: "AlreadyExists" });
});

const published = "vol-1";
test("a note that a PersistentVolume may be stored is found by a successor, stays when its claim is asked for again, and goes with the call", async () => {
  const { intents, another, load, signal, add } = setUp();
  await load();
  await add("pvc-1");
  await add("pvc-2");
  await intents.publishing(volumeName("pvc-1"), published, signal);
  assert.equal(intents.mayBePublished(volumeName("pvc-1")), false, "this process knows what came of its own request");
  const successor = another();
  await successor.load(signal);
  assert.deepEqual(
    [successor.get(volumeName("pvc-1"))?.published, successor.mayBePublished(volumeName("pvc-1"))],
    [published, true],
  );
  assert.deepEqual(
    [successor.get(volumeName("pvc-2"))?.published, successor.mayBePublished(volumeName("pvc-2"))],
    [undefined, false],
  );
  await successor.add(volumeName("pvc-1"), anIntent("pvc-1", { published, reclaimPolicy: "Retain" }), signal, "claim");
  assert.equal(successor.mayBePublished(volumeName("pvc-1")), true);
  await successor.settle(volumeName("pvc-1"), signal);
  await assert.rejects(successor.publishing(volumeName("pvc-1"), published, signal), { code: "Conflict" });
});

test("a note is taken back before a volume is deleted that no PersistentVolume has", async () => {
  const { intents, another, load, signal, add } = setUp();
  await load();
  await add("pvc-1");
  await intents.publishing(volumeName("pvc-1"), published, signal);
  await intents.publishing(volumeName("pvc-1"), undefined, signal);
  const successor = another();
  await successor.load(signal);
  assert.equal(successor.mayBePublished(volumeName("pvc-1")), false);
});

test("notes cost a burst few writes, need no room, and leave out an id for which there is none", async () => {
  const { intents, load, world, writes, another, signal, add } = setUp({ bytesMax: 30_000 });
  await load();
  const names = Array.from({ length: 200 }, (_, index) => `pvc-${index}`);
  await world.run(Promise.all(names.map((name) => add(name))));
  const before = writes();
  await world.run(Promise.all(names.map((name) => intents.publishing(volumeName(name), `id-${name}`, signal))));
  assert.equal(writes(), before + 1);
  await world.run(intents.publishing(volumeName("pvc-0"), "x".repeat(300), signal));
  const successor = another();
  await world.run(successor.load(signal));
  assert.deepEqual(
    [successor.get(volumeName("pvc-0"))?.published, successor.get(volumeName("pvc-1"))?.published],
    ["", "id-pvc-1"],
  );
});

test("calls of a version that made no notes count as noted", async () => {
  const { intents, load, signal, add, edit } = setUp();
  await load();
  await add("pvc-1");
  const { claim: _claim, ...shape } = anIntent("pvc-1");
  await edit(JSON.stringify({ shapes: [shape], calls: { "pvc-1": [0, "team", "pvc", "u-pvc-1"] } }));
  await intents.load(signal);
  assert.deepEqual(
    [intents.mayBePublished(volumeName("pvc-1")), intents.get(volumeName("pvc-1"))?.published],
    [true, ""],
  );
});

const aTerm = (transitions: number, uid = "lease") => ({ uid, transitions });
const successors: readonly { given: string; before?: LeaseTerm; after?: LeaseTerm; mayBePublished: boolean }[] = [
  { given: "the next leader", before: aTerm(7), after: aTerm(8), mayBePublished: false },
  { given: "a leader after another one that wrote nothing", before: aTerm(7), after: aTerm(9), mayBePublished: true },
  { given: "a leader of a new Lease", before: aTerm(0), after: aTerm(1, "another"), mayBePublished: true },
  { given: "a Lease that was counted back", before: aTerm(7), after: aTerm(2), mayBePublished: true },
  { given: "the first with an election", after: aTerm(0), mayBePublished: true },
  { given: "the first without an election", before: aTerm(7), mayBePublished: true },
  { given: "none with an election", mayBePublished: false },
];
for (const { given, before, after, mayBePublished } of successors)
  test(`a call without a note, found by ${given}, ${mayBePublished ? "may have" : "has not"} got its PersistentVolume`, async () => {
    const { load, another, signal, add } = setUp({ term: () => before });
    await load();
    await add("pvc-1");
    const successor = another(() => after);
    await successor.load(signal);
    assert.equal(successor.mayBePublished(volumeName("pvc-1")), mayBePublished);
    // Whoever comes after the successor finds what the successor has found.
    const third = another(() => after && aTerm(after.transitions + 1, after.uid));
    await third.load(signal);
    assert.equal(third.mayBePublished(volumeName("pvc-1")), mayBePublished);
  });

test("a leader that reads its own calls again, because another has written, knows that it has led since", async () => {
  let transitions = 3;
  const { kube, intents, load, signal, add, edit } = setUp({ term: () => aTerm(transitions) });
  await load();
  await add("pvc-1");
  await edit(kube.stored("Lease")[0]?.metadata.annotations?.[annotation] ?? "");
  await add("pvc-2");
  assert.equal(intents.mayBePublished(volumeName("pvc-1")), false);
  await intents.load(signal);
  assert.equal(intents.mayBePublished(volumeName("pvc-1")), false);
  transitions += 2;
  await intents.load(signal);
  assert.equal(intents.mayBePublished(volumeName("pvc-1")), true);
});

test("a call that was found is adopted until this process has made it from its claim, also where it is the same", async () => {
  const { intents, another, load, signal, add } = setUp();
  await load();
  await add("pvc-1");
  assert.equal(intents.isAdopted(volumeName("pvc-1")), false);
  const successor = another();
  await successor.load(signal);
  await successor.add(volumeName("pvc-1"), anIntent("pvc-1"), signal);
  assert.equal(successor.isAdopted(volumeName("pvc-1")), true, "it was only made sure that it is stored");
  await successor.add(volumeName("pvc-1"), anIntent("pvc-1"), signal, "claim");
  assert.equal(successor.isAdopted(volumeName("pvc-1")), false);
});

test("a driver that refuses because it has the volume never ends the uncertainty of a call", async () => {
  const { intents, load, add } = setUp();
  await load();
  await add("pvc-1");
  intents.sending(volumeName("pvc-1"));
  for (let time = 0; time < 10; time++) intents.sending(volumeName("pvc-1"))("exists");
  assert.equal(intents.isUncertain(volumeName("pvc-1")), true);
});

test("a process that may not write Leases serves what needs no call", async () => {
  const { kube, intents, signal } = setUp();
  const refusing = createIntentLog({
    api: { ...kube, create: () => Promise.reject(new Fault("PermissionDenied", "no")) },
    world: createVirtualWorld(),
    namespace: "kube-system",
    name: "calls",
    log: silent,
    nameFor,
    leading: () => true,
  });
  await refusing.load(signal);
  await intents.load(signal);
});
