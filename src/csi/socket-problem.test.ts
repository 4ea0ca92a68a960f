/** What the log says of a driver that does not answer: soon, with the path and the cause, and again now and then. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { linkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startHarness } from "../../test/command-harness.ts";
import { createMemoryLog, eventually, temporaryFolder } from "../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { limits } from "../base/limits.ts";
import { createCsiClientOver } from "./client.ts";
import { socketProblem } from "./socket-problem.ts";

async function listener(t: TestContext, path: string) {
  const server = createServer(() => undefined).listen(path);
  await once(server, "listening");
  t.after(() => server.close());
  return server;
}

const rows: readonly {
  readonly given: string;
  /** Returns the path of the socket. */
  make(folder: string, t: TestContext): string | Promise<string>;
  readonly says: RegExp;
}[] = [
  {
    given: "a folder that does not exist",
    make: (folder) => join(folder, "missing", "csi.sock"),
    says: /^the folder \S+\/missing does not exist: mount the volume/,
  },
  {
    given: "a folder without the socket",
    make: (folder) => join(folder, "csi.sock"),
    says: /^there is no socket \S+\/csi\.sock: does the driver run/,
  },
  {
    given: "a file in place of the socket",
    make: (folder) => {
      writeFileSync(join(folder, "csi.sock"), "");
      return join(folder, "csi.sock");
    },
    says: /csi\.sock is not a socket$/,
  },
  {
    given: "a file in place of the folder",
    make: (folder) => {
      writeFileSync(join(folder, "file"), "");
      return join(folder, "file", "csi.sock");
    },
    says: /csi\.sock cannot be looked at: a part of the path is a file/,
  },
  {
    given: "a socket whose process has ended",
    make: async (folder, t) => {
      const server = await listener(t, join(folder, "first.sock"));
      linkSync(join(folder, "first.sock"), join(folder, "csi.sock"));
      server.close();
      await once(server, "close");
      return join(folder, "csi.sock");
    },
    says: /^nobody listens at \S+\/csi\.sock: the process that made the socket has ended$/,
  },
  {
    given: "a process that listens and says nothing",
    make: async (folder, t) => {
      await listener(t, join(folder, "csi.sock"));
      return join(folder, "csi.sock");
    },
    says: /^a process listens at \S+\/csi\.sock and has not answered$/,
  },
];
for (const { given, make, says } of rows)
  test(`given ${given}, the cause is named with the path`, async (t) => {
    assert.match(await socketProblem(await make(temporaryFolder(t), t)), says);
  });

test("a sidecar says within two seconds why the socket of its driver does not answer", async (t) => {
  const { start } = await startHarness(t);
  const path = join(temporaryFolder(t), "missing", "csi.sock");
  const { said } = start("csi-snapshotter", `--csi-address=${path}`, "--leader-election=false");
  await eventually("the log names the socket", () => said().includes("has not answered Probe yet"));
  const line =
    said()
      .split("\n")
      .find((one) => one.includes("has not answered Probe yet")) ?? "";
  assert.ok(line.includes(`the folder ${join(path, "..")} does not exist`), line);
  assert.ok(Number(/waitedMs=(\d+)/.exec(line)?.[1]) < 2_000, line);
});

test("the notice is repeated once a minute until the driver is ready, and not after that", async () => {
  const [world, log] = [createVirtualWorld(), createMemoryLog()];
  let isReady = false;
  const call = async () => {
    await world.sleep(100);
    return { $typeName: "csi.v1.ProbeResponse", ready: isReady } as never;
  };
  let looks = 0;
  const findProblem = async () => {
    looks += 1;
    return `look ${looks}`;
  };
  const client = createCsiClientOver(call, { world, log }, { findProblem });
  const probing = client.probeUntilReady(new AbortController().signal);
  await world.advance(10 * limits.csiProbeNoticeEveryMs);
  const notices = () => log.lines.filter(({ message }) => message === "csi driver has not answered Probe yet");
  assert.equal(notices().length, 10);
  assert.deepEqual(
    notices()
      .slice(0, 2)
      .map(({ why, waitedMs }) => [why, waitedMs]),
    [
      ["look 1", limits.csiProbeNoticeMs],
      ["look 2", limits.csiProbeNoticeMs + limits.csiProbeNoticeEveryMs],
    ],
  );
  isReady = true;
  await world.run(probing);
  await world.advance(10 * limits.csiProbeNoticeEveryMs);
  assert.equal(notices().length, 10);
  assert.equal(world.sleepers(), 0);
});
