/** With mount(8) and the mount table of a test: which programs are run on which paths, and which never. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { temporaryFolder } from "../../../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import type { Mount } from "../../../node/mounts.ts";
import type { RunProgram } from "../../../node/program.ts";
import { createHost } from "./host.ts";
import { publishRequestOf } from "./plan-request.ts";
import type { VolumeSpec } from "./types.ts";

function aMachine(t: TestContext) {
  const folder = temporaryFolder(t);
  const mounts: Mount[] = [];
  const calls: string[] = [];
  const run: RunProgram = async (program, args) => {
    calls.push([program, ...args].join(" "));
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
  const host = createHost({ recordFolder: records, world: createVirtualWorld(), run, table: async () => mounts });
  return { folder, mounts, calls, host, target: join(folder, "pods", "p", "mount") };
}

const specAt = (target: string, id = "csi-1"): VolumeSpec => ({
  id,
  target,
  shareKind: "SharedSecret",
  share: "tls",
  pod: { namespace: "team", name: "web-1", uid: "7a0f", serviceAccount: "web" },
  refresh: true,
});

test("a volume is one tmpfs with the pod's group, mounted once, and gone after it is unpublished, twice", async (t) => {
  const { calls, host, target, mounts, folder } = aMachine(t);
  assert.equal(await host.mount(specAt(target), 2000), true);
  assert.equal(await host.mount(specAt(target), 2000), false);
  assert.deepEqual(calls, [
    `mount -t tmpfs -o mode=0755,size=67108864,nosuid,nodev,noexec,gid=2000 -- team-web-1-csi-1 ${target}`,
  ]);
  await host.write(target, new Map([["token", Buffer.from("x")]]));
  assert.deepEqual([...(await host.mounted([specAt(target), specAt(join(folder, "other"), "csi-2")]))], ["csi-1"]);
  await host.unmount("csi-1", target);
  await host.unmount("csi-1", target);
  assert.deepEqual([mounts, existsSync(target), await host.isGone(target)], [[], false, true]);
  assert.equal(calls.length, 2);
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
    await assert.rejects(host.unmount("csi-1", target), { code: "FailedPrecondition" });
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
  await host.unmount("csi-1", target);
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
  await host.unmount("csi-1", target);
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
      await host.unmount(volumeId, request.target).catch(() => undefined);
      assert.deepEqual(readdirSync(join(folder, "secrets")), ["key"]);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(accepted > 50, String(accepted));
  for (const call of calls) assert.ok((call.split(" -- ")[1] ?? "").includes(`${pods}/`), call);
  assert.equal(readFileSync(join(folder, "secrets", "key"), "utf8"), "untouched");
});
