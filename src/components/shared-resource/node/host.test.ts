/** With mount(8) and the mount table of a test: which programs are run on which paths, and which never. */
import assert from "node:assert/strict";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { temporaryFolder } from "../../../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { Fault } from "../../../base/fault.ts";
import { silent } from "../../../base/log.ts";
import type { Mount } from "../../../node/mounts.ts";
import type { RunProgram } from "../../../node/program.ts";
import { createHost } from "./host.ts";
import { publishRequestOf } from "./plan-request.ts";
import type { VolumeSpec } from "./types.ts";

function aMachine(t: TestContext) {
  const folder = temporaryFolder(t);
  const mounts: Mount[] = [];
  const calls: string[] = [];
  /** Options that mount(8) and umount(8) refuse, as often as they are named here. */
  const lacks: string[] = [];
  const run: RunProgram = async (program, args) => {
    calls.push([program, ...args].join(" "));
    const refused = lacks.findIndex((option) => calls.at(-1)?.includes(option));
    if (refused !== -1) throw new Fault("Internal", `${program}: ${lacks.splice(refused, 1)} cannot be had`);
    const at = args.at(-1) ?? "";
    const source = args.at(-2) ?? "";
    if (program === "mount") mounts.push({ device: "0:9", root: "/", at, options: ["rw"], type: "tmpfs", source });
    else
      mounts.splice(
        mounts.findLastIndex((mount) => mount.at === at),
        1,
      );
    return { output: "", forgiven: [] };
  };
  const records = join(folder, "records");
  const host = createHost({
    recordFolder: records,
    kubeletFolder: folder,
    volumeBytes: 32 * 2 ** 20,
    world: createVirtualWorld(),
    log: silent,
    run,
    table: async () => mounts,
  });
  return { folder, mounts, calls, host, lacks, target: join(folder, "pods", "p", "mount") };
}

const specAt = (target: string, id = "csi-1"): VolumeSpec => ({
  id,
  target,
  shareKind: "SharedSecret",
  share: "tls",
  pod: { namespace: "team", name: "web-1", uid: "7a0f", serviceAccount: "web" },
  refresh: true,
});

const always = (): boolean => true;
const volumeAt = (target: string, spec: VolumeSpec | undefined = specAt(target)) => ({ id: "csi-1", target, spec });

test("a volume is one tmpfs with the pod's group, mounted once, and gone after it is unpublished, twice", async (t) => {
  const { calls, host, target, mounts, folder } = aMachine(t);
  assert.equal(await host.mount(specAt(target), 2000), true);
  assert.equal(await host.mount(specAt(target), 2000), false);
  assert.deepEqual(calls, [
    `mount -t tmpfs -o mode=0755,size=67108864,nosuid,nodev,noexec,gid=2000,noswap -- team-web-1-csi-1 ${target}`,
  ]);
  await host.write(target, new Map([["token", Buffer.from("x")]]), always);
  assert.equal(await host.write(target, new Map([["token", Buffer.from("y")]]), () => false), false);
  assert.equal(readFileSync(join(target, "token"), "utf8"), "x");
  assert.deepEqual([...(await host.mounted([specAt(target), specAt(join(folder, "other"), "csi-2")]))], ["csi-1"]);
  await host.unmount(volumeAt(target));
  await host.unmount(volumeAt(target));
  assert.deepEqual([mounts, existsSync(target), await host.isGone(target)], [[], false, true]);
  assert.equal(calls.length, 2);
});

test("where the kernel's tmpfs lacks noswap, volumes are mounted without, and it is tried once only", async (t) => {
  const { calls, host, folder, lacks } = aMachine(t);
  lacks.push("noswap", "noswap");
  await host.mount(specAt(join(folder, "pods", "p", "mount")));
  await host.mount(specAt(join(folder, "pods", "q", "mount"), "csi-2"));
  assert.deepEqual(
    calls.map((line) => line.includes("noswap")),
    [true, false, false],
  );
});

test("a volume that cannot be mounted at all is not taken for a kernel without noswap", async (t) => {
  const { calls, host, target, lacks } = aMachine(t);
  lacks.push("noswap", "size=");
  await assert.rejects(host.mount(specAt(target)), /size= cannot be had/);
  await host.mount(specAt(target));
  assert.match(calls.at(-1) ?? "", /noswap/);
});

test("a mount that is in use goes all the same, with all that is in it", async (t) => {
  const { calls, host, target, mounts, lacks } = aMachine(t);
  await host.mount(specAt(target));
  await host.write(target, new Map([["token", Buffer.from("x")]]), always);
  lacks.push(`umount -- ${target}`);
  await host.unmount(volumeAt(target));
  assert.deepEqual([mounts, calls.at(-1), existsSync(target)], [[], `umount -l -- ${target}`, false]);
});

test("a file that a pod has mounted by subPath loses its bytes when the volume is emptied, also one of an earlier set", async (t) => {
  const { host, folder, target, mounts } = aMachine(t);
  await host.mount(specAt(target));
  await host.write(target, new Map([["token", Buffer.from("v1")]]), always);
  // A file that is shown elsewhere outlives its name, as a second link does.
  const [bound, other] = [join(folder, "subpath"), join(folder, "other")];
  linkSync(realpathSync(join(target, "token")), bound);
  writeFileSync(other, "of others");
  const bind = { root: "/..x/token", options: ["rw"], type: "tmpfs", source: "team-web-1-csi-1" };
  mounts.push({ ...bind, device: "0:9", at: bound }, { ...bind, device: "0:9", at: folder });
  mounts.push({ ...bind, device: "0:10", at: other });
  await host.write(target, new Map([["token", Buffer.from("v2")]]), always);
  assert.equal(readFileSync(bound, "utf8"), "v1", "an update takes nothing from it");
  await host.wipe(target);
  assert.deepEqual([readFileSync(bound, "utf8"), readFileSync(other, "utf8")], ["", "of others"]);
});

test("without its tmpfs, nothing is written to a target and nothing removed there", async (t) => {
  const { host, target } = aMachine(t);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "data"), "of others");
  const refused = { code: "FailedPrecondition", message: /no tmpfs is mounted there \[SNAP-709\]$/ };
  await assert.rejects(host.write(target, new Map([["token", Buffer.from("x")]]), always), refused);
  await assert.rejects(host.wipe(target), refused);
  assert.deepEqual(readdirSync(target), ["data"]);
});

const kubeletId = `csi-${"0f".repeat(32)}`;
const volumes: readonly { given: string; source: string; id: string; isKnown: boolean; goes: boolean }[] = [
  { given: "its record", source: "team-web-1-abc", id: "abc", isKnown: true, goes: true },
  {
    given: "its record, and the mount of a longer id",
    source: "team-web-1-foreign-abc",
    id: "abc",
    isKnown: true,
    goes: false,
  },
  { given: "no record", source: "team-web-1-foreign-abc", id: "abc", isKnown: false, goes: false },
  {
    given: "no record and an id of the kubelet",
    source: `team-web-1-${kubeletId}`,
    id: kubeletId,
    isKnown: false,
    goes: true,
  },
];
for (const { given, source, id, isKnown, goes } of volumes)
  test(`given ${given}, unpublishing ${id} ${goes ? "unmounts" : "leaves"} the mount of ${source}`, async (t) => {
    const { host, mounts, target } = aMachine(t);
    mkdirSync(target, { recursive: true });
    mounts.push({ device: "0:9", root: "/", at: target, options: ["rw"], type: "tmpfs", source });
    const spec = isKnown ? specAt(target, id) : undefined;
    await host.unmount({ id, target, spec }).catch(() => undefined);
    assert.equal(mounts.length, goes ? 0 : 1);
  });

test("a volume of shares that is mounted and not known is found, once, whatever else is mounted", async (t) => {
  const { host, mounts, folder, target } = aMachine(t);
  const otherId = `csi-${"b".repeat(64)}`;
  const mount = (at: string, source: string, type = "tmpfs"): void =>
    void mounts.push({ device: "0:9", root: "/", at, options: ["rw"], type, source });
  mount(target, `team-web-1-${kubeletId}`);
  assert.deepEqual(await host.strays(new Set()), [], "without the kubelet's folder there is none");
  mkdirSync(target, { recursive: true });
  const stray = join(folder, "pods", "q", "mount");
  mount(stray, `team-web-2-${otherId}`);
  mount(join(folder, "pods", "r", "mount"), "tmpfs");
  mount(join(folder, "pods", "s", "mount"), `team-web-3-csi-${"c".repeat(64)}`, "ext4");
  mount("/elsewhere/mount", `team-web-4-csi-${"d".repeat(64)}`);
  assert.deepEqual(await host.strays(new Set([kubeletId])), [stray]);
  const bySubPath = join(folder, "pods", "q", "volume-subpaths", "v", "main", "0");
  mount(bySubPath, `team-web-2-${otherId}`);
  assert.equal((await host.strays(new Set([kubeletId]))).length, 1);
});

test("targets outside of the folders of the kubelet's pods are refused, also by a symbolic link, and nothing is made there", async (t) => {
  const { calls, host, folder } = aMachine(t);
  const outside = join(folder, "outside");
  mkdirSync(outside);
  mkdirSync(join(folder, "pods", "p"), { recursive: true });
  symlinkSync(outside, join(folder, "pods", "p", "link"));
  const targets = [
    join(outside, "mount"),
    join(folder, "plugins", "mount"),
    join(folder, "pods"),
    `${folder}/podsx/mount`,
  ];
  for (const target of [...targets, join(folder, "pods", "p", "link", "a", "mount")])
    await assert.rejects(host.mount(specAt(target)), {
      code: "InvalidArgument",
      message: /is not below .*\/pods, .*--kubelet-folder.*\[SNAP-701\]$/,
    });
  assert.deepEqual([calls, readdirSync(outside), existsSync(join(folder, "plugins"))], [[], [], false]);
});

const foreign = [
  { type: "ext4", source: "team-web-1-csi-1" },
  { type: "tmpfs", source: "team-web-1-csi-2" },
  { type: "tmpfs", source: "tmpfs" },
];
for (const { type, source } of foreign)
  test(`a mount of type ${type} from ${source} is neither used nor unmounted`, async (t) => {
    const { calls, host, mounts, target } = aMachine(t);
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, "data"), "of others");
    mounts.push({ device: "8:1", root: "/", at: target, options: ["rw"], type, source });
    await assert.rejects(host.mount(specAt(target)), { code: "FailedPrecondition", message: /\[SNAP-710\]$/ });
    await assert.rejects(host.unmount(volumeAt(target)), { code: "FailedPrecondition" });
    assert.deepEqual([calls, readFileSync(join(target, "data"), "utf8")], [[], "of others"]);
  });

test("a target that is a symbolic link is refused, and what it leads to stays", async (t) => {
  const { calls, host, folder, target } = aMachine(t);
  const outside = join(folder, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "data"), "of others");
  mkdirSync(join(target, ".."), { recursive: true });
  symlinkSync(outside, target);
  await assert.rejects(host.mount(specAt(target)), { code: "FailedPrecondition", message: /\[SNAP-710\]$/ });
  await host.unmount(volumeAt(target));
  assert.deepEqual([calls, readdirSync(outside)], [[], ["data"]]);
});

test("folders of the kubelet may be symbolic links: the mount table has the real path", async (t) => {
  const { calls, host, folder } = aMachine(t);
  mkdirSync(join(folder, "real", "p"), { recursive: true });
  symlinkSync(join(folder, "real"), join(folder, "pods"));
  const target = join(folder, "pods", "p", "mount");
  await host.mount(specAt(target));
  assert.ok(calls[0]?.endsWith(` ${join(folder, "real", "p", "mount")}`), calls[0]);
  assert.deepEqual([...(await host.mounted([specAt(target)]))], ["csi-1"]);
  await host.write(target, new Map([["token", Buffer.from("x")]]), always);
  assert.equal(readFileSync(join(target, "token"), "utf8"), "x");
  await host.wipe(target);
  assert.deepEqual(readdirSync(target), []);
  await host.unmount(volumeAt(target));
  assert.deepEqual(readdirSync(join(folder, "real", "p")), []);
});

test("5,000 hostile volume ids and target paths: no program is run on a path outside of the pods' folder", async (t) => {
  const { calls, host, folder } = aMachine(t);
  const pods = join(folder, "pods");
  mkdirSync(join(folder, "secrets"));
  writeFileSync(join(folder, "secrets", "key"), "untouched");
  const part = fc.constantFrom("..", ".", "", "a", "mount", "secrets", "a b", "-o", "\0", "\n", "a/../..", "%2e%2e");
  const path = fc.array(part, { maxLength: 5 }).map((parts) => `${pods}/${parts.join("/")}`);
  const id = fc.oneof(
    fc.constantFrom("csi-1", "..", "../x", "-a", "a\nb", "a/b", "x..y"),
    fc.string({ maxLength: 140 }),
  );
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(path, id, async (targetPath, volumeId) => {
      let request: ReturnType<typeof publishRequestOf>;
      try {
        request = publishRequestOf({
          volumeId,
          targetPath,
          readonly: true,
          volumeCapability: { accessType: { case: "mount", value: { volumeMountGroup: "" } } } as never,
          volumeContext: {
            sharedSecret: "tls",
            "csi.storage.k8s.io/pod.name": "p",
            "csi.storage.k8s.io/pod.namespace": "n",
            "csi.storage.k8s.io/pod.uid": "u",
            "csi.storage.k8s.io/serviceAccount.name": "s",
          },
        });
      } catch (reason) {
        return assert.equal((reason as { code: string }).code, "InvalidArgument");
      }
      accepted += 1;
      await host.mount(request).catch(() => false);
      await host.unmount({ id: volumeId, target: request.target, spec: request }).catch(() => undefined);
      assert.deepEqual(readdirSync(join(folder, "secrets")), ["key"]);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(accepted > 50, String(accepted));
  for (const call of calls) assert.ok((call.split(" -- ")[1] ?? "").includes(`${pods}/`), call);
  assert.equal(readFileSync(join(folder, "secrets", "key"), "utf8"), "untouched");
});
