/** The memory of shared volumes: what the driver counts is what the kernel counts, and no tenant can have the driver killed. */
import assert from "node:assert/strict";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { containerMiB, mebibyte, shareMemory } from "../../../src/api/share-memory.ts";
import {
  emptyVolumeBytes,
  footprintOf,
  heldBytes,
  setBytes,
} from "../../../src/components/shared-resource/node/plan-memory.ts";
import { writeFiles } from "../../../src/components/shared-resource/node/volume-files.ts";
import { tmpfsUse } from "../../../src/components/shared-resource/node/volume-sizes.ts";
import { pageBytes } from "../../../src/node/page-size.ts";
import { createTurns } from "../../../src/runtime/turns.ts";
import { connectTo } from "../../csi-sockets.ts";
import { createInstance } from "../harness/instance.ts";
import { memoryGroup } from "../harness/memory-group.ts";
import { run } from "../harness/run.ts";
import {
  createShare,
  driverKubeconfig,
  installShares,
  letUse,
  publishRequest,
  revokeUse,
  type ShareDriver,
  type ShareRequest,
  startShareDriver,
  updateSource,
  type VolumeRequest,
} from "../harness/share-driver.ts";
import { newNamespace, useControlPlane } from "../harness/shared.ts";
import { until } from "../harness/until.ts";

const volumeFiles = join(import.meta.dirname, "../../../src/components/shared-resource/node/volume-files.ts");
/** Writes sets as the driver does, `count` keys each; without an argument it does all but that. */
const writer = `
import { writeFiles } from ${JSON.stringify(volumeFiles)};
const [root, count, bytes, name] = process.argv.slice(1);
const files = Array.from({ length: Number(count) }, (_, at) => [name + at, Buffer.alloc(Number(bytes), 1)]);
if (files.length > 0) await writeFiles(root, new Map(files), "measured");
console.log("done");
`;

const sets = [
  { given: "4,000 keys of one byte", count: 4_000, bytes: 1, name: "key-" },
  { given: "4,000 empty keys", count: 4_000, bytes: 0, name: "key-" },
  { given: "2,000 keys with names of 250 characters", count: 2_000, bytes: 1, name: "k".repeat(246) },
  { given: "2,000 keys of one byte more than a page", count: 2_000, bytes: 4_097, name: "key-" },
  { given: "32 keys of 1 MiB", count: 32, bytes: 2 ** 20, name: "key-" },
];

suite("the memory of shared volumes", () => {
  for (const { given, count, bytes, name } of sets)
    test(`${given} take no more memory than the driver counts, and more than half of it`, async (t) => {
      const instance = createInstance();
      t.after(instance.stop);
      const group = memoryGroup(instance.folder, "writer", "512Mi");
      assert.ok(group, "this machine has no control groups for memory");
      const root = join(instance.folder, "volume");
      mkdirSync(root);
      assert.equal((await run("mount", ["-t", "tmpfs", "-o", "mode=0755", "measured", root])).code, 0);
      t.after(() => run("umount", [root]));
      const write = async (keys: number): Promise<number> => {
        const args = ["--input-type=module", "-e", writer, root, String(keys), String(bytes), name];
        const daemon = instance.start("writer", process.execPath, args, {}, group);
        await daemon.ended;
        assert.match(daemon.lastWords(), /^done$/m);
        return group.usedBytes();
      };
      // The program's own files stay in the page cache, and count for the group that has read them first.
      for (let round = 0; round < 2; round++) await write(0);
      const before = await write(0);
      const measured = (await write(count)) - before;
      const counted = setBytes(
        Array.from({ length: count }, (_, at) => [`${name}${at}`, bytes] as const),
        pageBytes(),
      );
      const figures = `measured ${measured}, counted ${counted}`;
      assert.ok(measured <= counted + emptyVolumeBytes + measuredWithin, figures);
      assert.ok(counted <= 2 * measured, figures);
    });

  test("a replaced set counts for as long as a process has its files open, as the kernel says", async (t) => {
    const instance = createInstance();
    t.after(instance.stop);
    const root = join(instance.folder, "volume");
    mkdirSync(root);
    assert.equal((await run("mount", ["-t", "tmpfs", "-o", "mode=0755", "held", root])).code, 0);
    t.after(() => run("umount", [root]));
    const page = pageBytes();
    const files = new Map([
      ["small", Buffer.alloc(1, 1)],
      ["empty", Buffer.alloc(0)],
      ["large", Buffer.alloc(mebibyte, 1)],
      ["k".repeat(250), Buffer.alloc(page + 1, 1)],
    ]);
    const shown = footprintOf(
      [...files].map(([name, { length }]) => [name, length] as const),
      page,
    );
    const held = async (): Promise<number> => {
      const use = await tmpfsUse(root);
      assert.ok(use, "a tmpfs says what is in use");
      return heldBytes(use, shown, page);
    };
    await writeFiles(root, files, "first");
    assert.equal(await held(), 0);
    const open = [...files.keys()].map((name) => openSync(join(root, name), "r"));
    await writeFiles(root, files, "second");
    const counted = await held();
    const setOnly = setBytes(
      [...files].map(([name, { length }]) => [name, length] as const),
      page,
    );
    // Its links are the new set's now, and the sizes of its files are not known.
    assert.ok(counted >= 0.95 * setOnly && counted <= 1.1 * setOnly, `held ${counted}, the set ${setOnly}`);
    for (const file of open) closeSync(file);
    assert.equal(await held(), 0);
    assert.equal(await tmpfsUse("/proc"), undefined, "no other file system is asked");
  });

  test("a namespace whose pods keep every replaced set open takes what it may, also after a restart; others mount and are updated, and what is closed is given back", async (t) => {
    const { plane, driver, publish, targetOf, namespaces, other, share } = await setUpDriver(t);
    const [tenant = ""] = namespaces;
    const [held, small] = [share("held", { blob: "a".repeat(mebibyte) }), share("small", { token: "v1" })];
    for (const one of [held, small]) await createShare(plane, one);
    await letUse(plane, { kind: "SharedConfigMap", share: held.name, namespace: tenant });
    await letUse(plane, { kind: "SharedConfigMap", share: small.name, namespace: other });
    const ids = Array.from({ length: 8 }, (_, at) => `held-${at}`);
    for (const id of ids) await publish({ id, namespace: tenant, share: held.name });
    await publish({ id: "small", namespace: other, share: small.name });
    const before = driver.memory?.usedBytes() ?? assert.fail("this machine has no control groups for memory");
    const open = new Set<number>();
    t.after(() => {
      for (const file of open) closeSync(file);
    });
    const lettersIn = (id: string): number | undefined => readFileSync(join(targetOf(id), "blob"))[0];
    let letter = "a";
    const refused = async (): Promise<boolean> => (await gauge(driver, "memory")) > 0;
    for (let round = 1; round < roundsMax && !(await refused()); round++) {
      for (const id of ids) open.add(openSync(join(targetOf(id), "blob"), "r"));
      letter = String.fromCharCode("a".charCodeAt(0) + (round % 26));
      await updateSource(plane, { ...held, data: { blob: letter.repeat(mebibyte) } });
      const isShown = (id: string): boolean => lettersIn(id) === letter.charCodeAt(0);
      await until({ what: `round ${round}: the volumes are updated or reported` }, async () =>
        ids.every(isShown) || (await refused()) ? true : undefined,
      );
    }
    assert.ok(await refused(), "a volume keeps its old set");
    const taken = (driver.memory?.usedBytes() ?? 0) - before;
    const mayTake = (shareMemory.namespaceMiB + shareMemory.volumeMiB) * mebibyte;
    t.diagnostic(`${open.size} held files; ${Math.round(taken / mebibyte)} of ${mayTake / mebibyte} MiB are taken`);
    assert.ok(taken <= mayTake + measuredWithin + heapWithin, `${taken} bytes are taken`);
    for (const file of open) {
      const bytes = readFileSync(file);
      assert.equal(bytes.length, mebibyte, "who has opened a set reads it to its end");
      assert.ok(bytes.every((byte) => byte === bytes[0]));
    }
    const othersGoOn = async (when: string): Promise<void> => {
      await updateSource(plane, { ...small, data: { token: when } });
      await until({ what: `${when}: the volume of another namespace is updated` }, () =>
        readFileSync(join(targetOf("small"), "token"), "utf8") === when ? true : undefined,
      );
      await publish({ id: `small-${when}`, namespace: other, share: small.name });
      const refusal = await refusalOf(publish({ id: `held-${when}`, namespace: tenant, share: held.name }));
      assert.match(refusal, /in replaced sets.*SNAP-712/);
      assert.equal(driver.memory?.oomKills(), 0, driver.daemon().lastWords());
    };
    await othersGoOn("before");
    await driver.kill();
    await driver.start();
    await until({ what: "the volumes are reported again" }, async () => ((await refused()) ? true : undefined));
    await othersGoOn("restarted");
    for (const file of open) closeSync(file);
    open.clear();
    await until({ what: "the volumes show the newest set once the old ones are closed", msMax: 60_000 }, () =>
      ids.every((id) => lettersIn(id) === letter.charCodeAt(0)) ? true : undefined,
    );
    open.add(openSync(join(targetOf("held-0"), "blob"), "r"));
    await revokeUse(plane, { kind: "SharedConfigMap", share: held.name, namespace: tenant });
    await until({ what: "the volumes are empty after the permission is gone", msMax: 30_000 }, () =>
      ids.every((id) => readdirSync(targetOf(id)).length === 0) ? true : undefined,
    );
    for (const file of open) assert.equal(readFileSync(file).length, 0, "also what a pod has open");
  });

  test("450 volumes of 1 MiB, the most that a ConfigMap can have, six with 15,000 keys and a share that grows do not kill the driver: others mount, permissions are taken away, also after a restart", async (t) => {
    const found = await setUp(t);
    const { driver, shares, publish, grown, many, small, plane, targetOf, namespaces } = found;
    const inTurn = createTurns(8);
    const mounted = namespaces.flatMap((namespace, place) =>
      Array.from({ length: 113 }, (_, at) => ({
        id: `large-${place}-${at}`,
        namespace,
        share: shares[at % shares.length]?.name ?? "",
      })),
    );
    assert.ok(mounted.length >= 450);
    for (const end of await Promise.allSettled(mounted.map((volume) => inTurn(() => publish(volume)))))
      if (end.status === "rejected") throw end.reason;

    const tenant = namespaces[0] ?? "";
    for (let at = 0; at < 6; at++)
      assert.match(await refusalOf(publish({ id: `many-${at}`, namespace: tenant, share: many.name })), /SNAP-711/);
    const refusals: string[] = [];
    for (let at = 0; at < 20; at++)
      refusals.push(await refusalOf(publish({ id: `more-${at}`, namespace: tenant, share: shares[0]?.name ?? "" })));
    assert.match(refusals.at(-1) ?? "", /SNAP-712/);

    const other = found.other;
    for (let at = 0; at < 6; at++) await publish({ id: `grown-${at}`, namespace: other, share: grown.name });
    await updateSource(plane, { ...grown, data: keysOf(15_000) });
    await until({ what: "the volumes of the share that has grown are reported" }, async () =>
      (await gauge(driver, "memory")) === 6 ? true : undefined,
    );
    assert.equal(readdirSync(targetOf("grown-0")).filter((name) => !name.startsWith("..")).length, 10);

    const survives = async (when: string): Promise<void> => {
      await publish({ id: `small-${when}`, namespace: other, share: small.name });
      assert.equal(readFileSync(join(targetOf(`small-${when}`), "token"), "utf8"), "v1");
      assert.match(
        await refusalOf(publish({ id: `too-${when}`, namespace: tenant, share: shares[0]?.name ?? "" })),
        /SNAP-712/,
      );
      assert.equal(driver.memory?.oomKills(), 0, driver.daemon().lastWords());
      t.diagnostic(
        `${when}: ${Math.round((driver.memory?.usedBytes() ?? 0) / mebibyte)} of ${containerMiB} MiB are used`,
      );
    };
    await survives("before");
    // All sources at once, each by an event of more than 1 MB.
    for (const share of shares) await updateSource(plane, { ...share, data: { blob: "y".repeat(mebibyte) } });
    await until({ what: "the last volume has the new content", msMax: 120_000 }, () =>
      mounted.every(({ id }) => readFileSync(join(targetOf(id), "blob"))[0] === "y".charCodeAt(0)) ? true : undefined,
    );
    await survives("updated");
    await driver.kill();
    await driver.start();
    await survives("restarted");

    await revokeUse(plane, { kind: "SharedConfigMap", share: grown.name, namespace: other });
    await until({ what: "the volumes are empty after the permission is gone", msMax: 30_000 }, () =>
      [0, 1, 2, 3, 4, 5].every((at) => readdirSync(targetOf(`grown-${at}`)).length === 0) ? true : undefined,
    );
    assert.equal(driver.memory?.oomKills(), 0);
  });
});

/** The kernel charges in steps, and a process that ends leaves something. */
const measuredWithin = 2 * mebibyte;

/** What the driver's own heap may grow by while it writes. */
const heapWithin = 96 * mebibyte;
/** As many updates as fill the namespace three times. */
const roundsMax = 72;

const keysOf = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, "x"]));

const gauge = async ({ statusUrl }: ShareDriver, cause: string): Promise<number> => {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  return Number(
    new RegExp(`^openshift_csi_share_volumes_not_current\\{cause="${cause}"\\} (\\d+)$`, "m").exec(text)?.[1],
  );
};

const refusalOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "no refusal",
    (reason: Error) => reason.message,
  );

async function setUpDriver(t: TestContext) {
  const instance = createInstance();
  const plane = await useControlPlane();
  await installShares(plane);
  const names = ["greedy", "second", "third", "fourth", "other", "owner"];
  const [owner = "", other = "", ...namespaces] = (
    await Promise.all(names.map((name) => newNamespace(plane, `memory-${name}`)))
  ).reverse();
  const share = (name: string, data: Readonly<Record<string, string>>): ShareRequest => ({
    kind: "SharedConfigMap",
    name: `${owner}-${name}`,
    namespace: owner,
    data,
  });
  const driver = await startShareDriver(instance, { kubeconfig: await driverKubeconfig(plane) });
  assert.equal(driver.memory?.limit, `${containerMiB}Mi`);
  const { node } = connectTo(t, driver.socket);
  const targetOf = (id: string): string => join(instance.folder, "pods", id, "mount");
  const ids = new Set<string>();
  const publish = async (volume: Omit<VolumeRequest, "target">): Promise<void> => {
    const target = targetOf(volume.id);
    mkdirSync(join(target, ".."), { recursive: true });
    ids.add(volume.id);
    await until({ what: `${volume.id} is published or refused`, msMax: 120_000 }, () =>
      node.nodePublishVolume(publishRequest({ kind: "SharedConfigMap", ...volume, target })).then(
        () => true as const,
        (reason: { code?: string }) => {
          if (reason.code === "ResourceExhausted") throw reason;
          return undefined;
        },
      ),
    );
  };
  t.after(async () => {
    for (const id of ids) await run("umount", [targetOf(id)]);
    instance.stop();
  });
  return { plane, driver, other, namespaces, share, publish, targetOf };
}

async function setUp(t: TestContext) {
  const all = await setUpDriver(t);
  const { plane, other, namespaces, share } = all;
  const shares = Array.from({ length: 45 }, (_, at) => share(`large-${at}`, { blob: "x".repeat(mebibyte) }));
  const [many, grown, small] = [
    share("many", keysOf(15_000)),
    share("grown", keysOf(10)),
    share("small", { token: "v1" }),
  ] as const;
  for (const one of [...shares, many, grown, small]) await createShare(plane, one);
  for (const namespace of namespaces)
    for (const one of [...shares, many]) await letUse(plane, { kind: "SharedConfigMap", share: one.name, namespace });
  for (const one of [grown, small]) await letUse(plane, { kind: "SharedConfigMap", share: one.name, namespace: other });
  assert.ok(shareMemory.nodeMiB < containerMiB);
  return { ...all, shares, many, grown, small };
}
