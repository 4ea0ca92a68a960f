import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startCommand } from "../../../test/command-line.ts";
import { connectTo, eventually, temporaryFolder } from "../../../test/csi-sockets.ts";

function start(t: TestContext, ...args: readonly string[]) {
  const driver = startCommand("directory-driver", ...args);
  t.after(() => {
    driver.stop();
    return driver.code;
  });
  return driver;
}

test("the driver serves until it is stopped, removes its socket, and finds its volumes after a restart", async (t) => {
  const folder = temporaryFolder(t);
  const [socket, root] = [join(folder, "csi.sock"), join(folder, "root")];
  for (const round of [1, 2]) {
    const driver = start(t, "--endpoint", `unix://${socket}`, "--root", root, "--driver-name", "mine.example.com");
    const client = connectTo(t, socket);
    assert.equal(await client.pluginName(new AbortController().signal), "mine.example.com");
    const accessMode = { mode: 1 };
    await client.controller.createVolume({
      name: `v-${round}`,
      volumeCapabilities: [{ accessType: { case: "mount", value: {} }, accessMode }],
    });
    assert.equal((await client.controller.listVolumes({})).entries.length, round);
    assert.match(driver.said.error, /for laptops and tests/);
    client.close();
    driver.stop();
    assert.equal(await driver.code, 0, driver.said.error);
    assert.deepEqual(readdirSync(folder), ["root"]);
  }
});

test("with --kubelet-registration-path the driver registers in the kubelet's folder", async (t) => {
  const folder = temporaryFolder(t);
  const registry = join(folder, "registry");
  mkdirSync(registry);
  const socket = join(folder, "csi.sock");
  const flags = ["--kubelet-registration-path", socket, "--kubelet-registry-folder", registry];
  const driver = start(t, "--endpoint", socket, "--root", join(folder, "root"), ...flags);
  await eventually("the kubelet could find the driver", () =>
    readdirSync(registry).includes("directory.snapkeep.dev-reg.sock"),
  );
  driver.stop();
  assert.equal(await driver.code, 0, driver.said.error);
  assert.deepEqual(readdirSync(registry), []);
});

test("with --snapshot-delay a snapshot is taken at once, and not ready", async (t) => {
  const folder = temporaryFolder(t);
  const socket = join(folder, "csi.sock");
  start(t, "--endpoint", socket, "--root", join(folder, "root"), "--snapshot-delay=1h");
  const { controller } = connectTo(t, socket);
  const volumeCapabilities = [{ accessType: { case: "mount", value: {} } as const, accessMode: { mode: 1 } }];
  await controller.createVolume({ name: "v", volumeCapabilities });
  const { snapshot } = await controller.createSnapshot({ name: "s", sourceVolumeId: "v" });
  assert.deepEqual([snapshot?.snapshotId, snapshot?.readyToUse], ["s", false]);
});

test("with --snapshot-secret-file only calls with the token of the file take snapshots", async (t) => {
  const folder = temporaryFolder(t);
  const [socket, file] = [join(folder, "csi.sock"), join(folder, "token")];
  writeFileSync(file, "open-sesame\n");
  start(t, "--endpoint", socket, "--root", join(folder, "root"), `--snapshot-secret-file=${file}`);
  const { controller } = connectTo(t, socket);
  const volumeCapabilities = [{ accessType: { case: "mount", value: {} } as const, accessMode: { mode: 1 } }];
  await controller.createVolume({ name: "v", volumeCapabilities });
  const taking = (token: string) => controller.createSnapshot({ name: "s", sourceVolumeId: "v", secrets: { token } });
  await assert.rejects(taking("open-barley"), { code: "Unauthenticated" });
  assert.equal((await taking("open-sesame")).snapshot?.snapshotId, "s");
});

const secretFiles: readonly (readonly [string, string | undefined, RegExp])[] = [
  ["is missing", undefined, /--snapshot-secret-file .* cannot be read: there is no such file or folder/],
  ["is empty", "\n", /--snapshot-secret-file .* is empty: write the value into it/],
];
for (const [what, text, says] of secretFiles)
  test(`the driver does not start with a secret file that ${what}`, async (t) => {
    const folder = temporaryFolder(t);
    const file = join(folder, "token");
    if (text !== undefined) writeFileSync(file, text);
    const driver = start(t, "--endpoint", join(folder, "s"), "--root", folder, `--snapshot-secret-file=${file}`);
    assert.equal(await driver.code, 1);
    assert.match(driver.said.error, says);
  });

test("--fault fails the given number of calls", async (t) => {
  const folder = temporaryFolder(t);
  const socket = join(folder, "csi.sock");
  start(
    t,
    "--endpoint",
    socket,
    "--root",
    join(folder, "root"),
    "--fault=ListVolumes=Unavailable*2,GetCapacity=Internal",
  );
  const { controller } = connectTo(t, socket);
  for (const _ of [1, 2]) await assert.rejects(controller.listVolumes({}), { code: "Unavailable" });
  assert.deepEqual((await controller.listVolumes({})).entries, []);
  await assert.rejects(controller.getCapacity({}), { code: "Internal" });
});

const mistakes: readonly { given: string; args: readonly string[]; says: RegExp; exits?: number }[] = [
  { given: "an invalid driver name", args: ["--driver-name", "a/b"], says: /driver name "a\/b" is not valid/ },
  { given: "an address that is not a socket", args: ["--endpoint", "tcp://0.0.0.0:1"], says: /not a Unix socket/ },
  {
    given: "a fault that does not exist",
    args: ["--fault", "Create=Sleepy"],
    says: /"Create" is not a CSI method.* for example --fault='CreateSnapshot=Unavailable\*2'/,
  },
  {
    given: "an empty root, which would be the folder it happens to run in",
    args: ["--root="],
    says: /--root: "" is not valid/,
  },
  { given: "an invalid delay", args: ["--snapshot-delay", "soon"], says: /expected a duration/ },
  {
    given: "a root where no folder can be made",
    args: ["--root", "/proc/x"],
    says: /volumes cannot be kept at \/proc\/x: .*choose another --root/,
    exits: 1,
  },
  {
    given: "a registry that is not there",
    args: ["--kubelet-registration-path", "/x", "--kubelet-registry-folder", "/nowhere"],
    says: /folder does not exist/,
    exits: 1,
  },
];
for (const { given, args, says, exits = 2 } of mistakes)
  test(`given ${given}, the driver exits with one error line and code ${exits}`, async (t) => {
    const folder = temporaryFolder(t);
    const { code, said } = start(t, "--endpoint", join(folder, "csi.sock"), "--root", join(folder, "root"), ...args);
    assert.equal(await code, exits);
    const last = said.error.trimEnd().split("\n").at(-1) ?? "";
    assert.match(last, /^snapkeep directory-driver: /);
    assert.match(last, says);
    assert.deepEqual(readdirSync(folder), [], "a root that was new goes with the start that failed");
  });

test("flag names of csi-driver-host-path are accepted", async (t) => {
  const folder = temporaryFolder(t);
  const socket = join(folder, "csi.sock");
  start(
    t,
    `--endpoint=unix://${socket}`,
    `--statedir=${join(folder, "root")}`,
    "--drivername=d.example.com",
    "--nodeid=n",
  );
  const client = connectTo(t, socket);
  assert.equal(await client.pluginName(new AbortController().signal), "d.example.com");
  assert.equal((await client.node.nodeGetInfo({})).nodeId, "n");
});

test("--help describes the command", async (t) => {
  const { code, said } = start(t, "--help");
  assert.equal(await code, 0);
  assert.match(said.out, /for laptops and tests/);
});
