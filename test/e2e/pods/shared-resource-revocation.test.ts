/** What the share driver takes away, at the extremes that Kubernetes allows: real tmpfs, real API server, the shipped role. */
import assert from "node:assert/strict";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import { after, suite, type TestContext, test } from "node:test";
import { allowListSources } from "../../../src/api/share-lists.ts";
import { faultOf } from "../../csi-sockets.ts";
import { createInstance } from "../harness/instance.ts";
import { mountLinesUnder } from "../harness/mounts.ts";
import { run } from "../harness/run.ts";
import {
  createShare,
  deleteSource,
  driverKubeconfig,
  installShares,
  letRead,
  letUse,
  revokeLetRead,
  revokeUse,
  type ShareRequest,
  startShareDriver,
  updateSource,
} from "../harness/share-driver.ts";
import { kubeletOf, nothingLeft, reads, volumeIn } from "../harness/share-volumes.ts";
import { newNamespace, useControlPlane } from "../harness/shared.ts";
import { until } from "../harness/until.ts";

/** As long as Kubernetes lets a key be, whatever it begins with. */
const longKeys = [250, 253].flatMap((length) => ["k", "-", "_", "."].map((first) => first.padEnd(length, "k")));

suite("what the share driver takes away", () => {
  const [instance, lender] = [createInstance(), createInstance()];
  after(instance.stop);
  after(lender.stop);
  let shared: ReturnType<typeof setUp> | undefined;
  const setting = (t: TestContext) => {
    shared ??= setUp(t);
    return shared;
  };

  async function setUp(t: TestContext) {
    const plane = await useControlPlane();
    await installShares(plane);
    const namespace = await newNamespace(plane, "taken");
    const kubeconfig = await driverKubeconfig(plane);
    const driver = await startShareDriver(instance, { kubeconfig });
    const share = async (name: string, data: Readonly<Record<string, string>>, kind?: ShareRequest["kind"]) => {
      const made = { name: `${namespace}-${name}`, namespace, data, ...(kind === undefined ? {} : { kind }) };
      await createShare(plane, made);
      await letUse(plane, { ...made, share: made.name });
      return made;
    };
    // Begins at once, because its end takes a minute; on a machine of its own, because it stays mounted meanwhile.
    const lent = await share("lent", { token: "v1" });
    const volume = volumeIn(lender, { id: "lent", namespace, share: lent.name });
    const lending = await startShareDriver(lender, { kubeconfig });
    // Of a namespace that will be deleted.
    const leaving = {
      name: `${namespace}-leaving`,
      namespace: await newNamespace(plane, "leaving"),
      data: { token: "v1" },
    };
    await createShare(plane, leaving);
    await letUse(plane, { namespace, share: leaving.name });
    const left = volumeIn(lender, { id: "leaving", namespace, share: leaving.name });
    for (const one of [volume, left]) await kubeletOf(t, lending).published(one);
    for (const one of [lent, leaving]) await revokeLetRead(plane, one);
    return { plane, namespace, driver, share, lent: { share: lent, volume, driver: lending, leaving, left } };
  }
  const volumeOf = (share: ShareRequest, id: string) =>
    volumeIn(instance, {
      id,
      namespace: share.namespace,
      share: share.name,
      kind: share.kind ?? "SharedSecret",
    });
  const emptied = (target: string): Promise<true> =>
    until({ what: `${target} is empty`, everyMs: 20 }, () => (readdirSync(target).length === 0 ? true : undefined));

  for (const kind of ["SharedSecret", "SharedConfigMap"] as const)
    test(`a ${kind} with keys of up to 253 characters: what it refers to is updated, deleted and made again, and its volume ends`, async (t) => {
      const { plane, driver, share } = await setting(t);
      const { published, unpublish } = kubeletOf(t, driver);
      const setOf = (text: string) => Object.fromEntries(["token", ...longKeys].map((key) => [key, text]));
      const long = await share(`long-${kind.toLowerCase()}`, setOf("v1"), kind);
      const volume = volumeOf(long, `long-${kind.toLowerCase()}`);
      await published(volume);
      const texts = () => new Set(longKeys.map((key) => readFileSync(join(volume.target, key), "utf8")));
      assert.deepEqual(texts(), new Set(["v1"]));
      await updateSource(plane, { ...long, data: setOf("v2") });
      await reads(volume.token, "v2");
      assert.deepEqual(texts(), new Set(["v2"]));
      await until({ what: "the old set is gone" }, () =>
        readdirSync(volume.target).filter((name) => name.startsWith("..")).length === 2 ? true : undefined,
      );
      await deleteSource(plane, long);
      await emptied(volume.target);
      await createShare(plane, { ...long, data: setOf("v3") });
      await reads(volume.token, "v3");
      await unpublish(volume);
      nothingLeft(instance, driver);
    });

  test("what somebody has mounted in a volume keeps neither the rest of its files nor its mount", async (t) => {
    const { plane, namespace, driver, share } = await setting(t);
    const { published, unpublish } = kubeletOf(t, driver);
    const busy = await share("busy", { "-a": "v1", token: "v1", z: "v1" });
    const volume = volumeOf(busy, "busy");
    await published(volume);
    const folder = dirname(realpathSync(volume.token));
    const inside = join(folder, "inside");
    mkdirSync(inside);
    assert.equal((await run("mount", ["-t", "tmpfs", "of-others", inside])).code, 0);
    await revokeUse(plane, { share: busy.name, namespace });
    await until({ what: "all else is gone", everyMs: 20 }, () => {
      const left = readdirSync(volume.target, { recursive: true }).map(String);
      return left.every((name) => /^\.\.[^/]+(\/inside)?$/.test(name)) ? true : undefined;
    });
    await unpublish(volume);
    nothingLeft(instance, driver);
  });

  test("a set that does not fit leaves the old one and no copy, and a repaired one arrives", async (t) => {
    const { plane, driver, share } = await setting(t);
    const { published, unpublish } = kubeletOf(t, driver);
    const tight = await share("tight", { token: "v1" });
    const volume = volumeOf(tight, "tight");
    await published(volume);
    assert.equal((await run("mount", ["-o", "remount,size=64k", volume.target])).code, 0);
    const attempts = (): number => driver.daemon().lastWords().split("no room is left on that disk").length;
    const before = attempts();
    await updateSource(plane, { ...tight, data: { token: "v2", more: "x".repeat(200_000) } });
    await until({ what: "two attempts have failed" }, () => (attempts() >= before + 2 ? true : undefined));
    assert.equal(readFileSync(volume.token, "utf8"), "v1");
    await updateSource(plane, { ...tight, data: { token: "v3", more: "x".repeat(20_000) } });
    await reads(volume.token, "v3");
    await until({ what: "one set is left" }, () =>
      readdirSync(volume.target).filter((name) => name.startsWith("..")).length === 2 ? true : undefined,
    );
    await unpublish(volume);
    nothingLeft(instance, driver);
  });

  test("an open file and a second name of it read nothing once the permission is gone", async (t) => {
    const { plane, namespace, driver, share } = await setting(t);
    const { published, unpublish } = kubeletOf(t, driver);
    const open = await share("open", { token: "v1" });
    const volume = volumeOf(open, "open");
    await published(volume);
    const [first, bound] = [openSync(volume.token, "r"), join(instance.folder, "subpath")];
    writeFileSync(bound, "");
    // As the kubelet does for subPath.
    assert.equal((await run("mount", ["--bind", realpathSync(volume.token), bound])).code, 0);
    await updateSource(plane, { ...open, data: { token: "v2" } });
    await reads(volume.token, "v2");
    assert.equal(readFileSync(bound, "utf8"), "v1", "an update takes nothing away");
    const second = openSync(volume.token, "r");
    await revokeUse(plane, { share: open.name, namespace });
    await emptied(volume.target);
    assert.deepEqual(
      [readFileSync(bound, "utf8"), readFileSync(second, "utf8"), readFileSync(first, "utf8")],
      ["", "", ""],
    );
    for (const file of [first, second]) closeSync(file);
    assert.equal((await run("umount", [bound])).code, 0);
    await unpublish(volume);
    nothingLeft(instance, driver);
  });

  test("a volume is unmounted by its own id only, and nothing is mounted outside of the pods' folders", async (t) => {
    const { driver, share } = await setting(t);
    const { publish, published, unpublish } = kubeletOf(t, driver);
    const mine = await share("mine", { token: "v1" });
    const volume = volumeOf(mine, "foreign-abc");
    await published(volume);
    const fault = await faultOf(unpublish({ id: "abc", target: volume.target }));
    assert.deepEqual([fault.code, / \[SNAP-710\]$/.test(fault.message)], ["FailedPrecondition", true]);
    assert.equal(readFileSync(volume.token, "utf8"), "v1");
    const outside = { ...volume, id: "outside", target: join(instance.folder, "elsewhere", "mount") };
    assert.match((await faultOf(publish(outside))).message, /is not below .*--kubelet-folder.*\[SNAP-701\]$/);
    assert.equal(existsSync(join(instance.folder, "elsewhere")), false);
    await unpublish(volume);
    nothingLeft(instance, driver);
  });

  const [major = 0, minor = 0] = release().split(".").map(Number);
  const knowsNoSwap = major > 6 || (major === 6 && minor >= 4);
  test("a volume has tmpfs's option noswap where the kernel has it", async (t) => {
    const { driver, share } = await setting(t);
    const { published, unpublish } = kubeletOf(t, driver);
    const volume = volumeOf(await share("noswap", { token: "v1" }), "noswap");
    await published(volume);
    const [line = ""] = mountLinesUnder(volume.target);
    assert.equal(/[ ,]noswap(,|$)/.test(line.split(" - ")[1] ?? ""), knowsNoSwap, line);
    await unpublish(volume);
    nothingLeft(instance, driver);
  });

  test("a restart with the other refreshResources counts for mounted volumes, and the kubelet may publish them again", async (t) => {
    const { plane, driver, share } = await setting(t);
    const config = join(instance.folder, "share-driver", "config", "config.yaml");
    const refreshed = await share("refreshed", { token: "v1" });
    const volume = volumeOf(refreshed, "refreshed");
    const restart = async (refreshResources: boolean): Promise<void> => {
      await driver.kill();
      writeFileSync(config, `refreshResources: ${refreshResources}\n`);
      await driver.start();
      await kubeletOf(t, driver).published(volume);
    };
    await kubeletOf(t, driver).published(volume);
    await restart(false);
    await updateSource(plane, { ...refreshed, data: { token: "v2" } });
    const later = volumeOf(refreshed, "later");
    await until({ what: "the driver has seen the new set" }, async () => {
      await kubeletOf(t, driver).published(later);
      if (readFileSync(later.token, "utf8") === "v2") return true;
      await kubeletOf(t, driver).unpublish(later);
      return undefined;
    });
    assert.equal(readFileSync(volume.token, "utf8"), "v1");
    await restart(true);
    await reads(volume.token, "v2");
    for (const one of [volume, later]) await kubeletOf(t, driver).unpublish(one);
    nothingLeft(instance, driver);
  });

  test("a restart without the allow-lists takes nothing from a listed share's volume, mounts no new one, and is over when they can be read", async (t) => {
    const { plane, driver } = await setting(t);
    const kubeconfig = await driverKubeconfig(plane);
    const [name, reference] = Object.entries(allowListSources.SharedSecret.installed)[0] ?? assert.fail();
    const [namespace = "", secret = ""] = reference.split(":");
    await plane.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const source = { name: secret, namespace, data: { token: "v1" } };
    await createShare(plane, source);
    t.after(() => deleteSource(plane, source));
    const shares = "/apis/sharedresource.openshift.io/v1alpha1/sharedsecrets";
    const share = { apiVersion: "sharedresource.openshift.io/v1alpha1", kind: "SharedSecret", metadata: { name } };
    const { status, text } = await plane.request("POST", shares, {
      ...share,
      spec: { secretRef: { namespace, name: secret } },
    });
    assert.ok(status === 201 || status === 409, text);
    t.after(() => plane.request("DELETE", `${shares}/${name}`));
    await letUse(plane, { share: name, namespace });
    const [volume, other] = ["listed-1", "listed-2"].map((id) => volumeOf({ ...source, name }, id));
    assert.ok(volume && other);
    await kubeletOf(t, driver).published(volume);
    await driver.kill();
    await updateSource(plane, { ...source, data: { token: "v2" } });
    // In a namespace where the driver may not read them.
    const blind = await startShareDriver(instance, { kubeconfig, flags: ["--allow-list-namespace=kube-system"] });
    await until({ what: "the share is known, its name is not" }, async () => {
      const { message } = await faultOf(kubeletOf(t, blind).publish(other));
      return /its name is reserved, and ConfigMap .* could not be read yet.*\[SNAP-705\]$/.test(message)
        ? true
        : undefined;
    });
    assert.equal(readFileSync(volume.token, "utf8"), "v1");
    await blind.kill();
    await driver.start();
    await reads(volume.token, "v2");
    await kubeletOf(t, driver).published(other);
    for (const one of [volume, other]) await kubeletOf(t, driver).unpublish(one);
    nothingLeft(instance, driver);
  });

  test("an owner's withdrawn right to read ends an open watch within a minute: no update, no new mount, and no data is lost before its namespace is", async (t) => {
    const { plane, lent } = await setting(t);
    const { publish, unpublish } = kubeletOf(t, lent.driver);
    const other = volumeIn(lender, { ...lent.volume, id: "lent-2" });
    await until({ what: "a new mount is refused", msMax: 90_000, everyMs: 500 }, async () => {
      const fault = await publish(other).then(
        () => unpublish(other).then(() => undefined),
        (reason: Error) => reason,
      );
      return fault?.message.includes("[SNAP-707]") ? true : undefined;
    });
    await updateSource(plane, { ...lent.share, data: { token: "v2" } });
    assert.equal(existsSync(other.target), false);
    assert.equal(readFileSync(lent.volume.token, "utf8"), "v1");
    assert.equal(readFileSync(lent.left.token, "utf8"), "v1");
    await plane.request("DELETE", `/api/v1/namespaces/${lent.leaving.namespace}`);
    await letRead(plane, lent.share);
    await until({ what: "the new set is shown", msMax: 90_000 }, () =>
      readFileSync(lent.volume.token, "utf8") === "v2" ? true : undefined,
    );
    // No watch has told of the Secret's end: the right to read it was gone before.
    await until({ what: "the volume of a Secret that went with its namespace is empty", msMax: 90_000 }, () =>
      existsSync(lent.left.token) ? undefined : true,
    );
    for (const one of [lent.volume, lent.left]) await unpublish(one);
    nothingLeft(lender, lent.driver);
  });
});
