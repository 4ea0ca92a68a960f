/** What `snapkeep up` leaves on the machine, however it ends: real processes, real signals. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";

const main = resolve(import.meta.dirname, "../../main.ts");

const threeContexts = `apiVersion: v1
kind: Config
current-context: prod # careful
clusters:
- cluster: {server: "https://prod"}
  name: prod
contexts:
- {name: prod, context: {cluster: prod, user: ada}}
# for the weekend
- {name: dev, context: {cluster: prod, user: ada, namespace: dev}}
- {name: third, context: {cluster: prod, user: ada}}
users:
- {name: ada, user: {token: "1"}}
`;

function harness(t: TestContext) {
  const home = temporaryFolder(t);
  const [temporary, config] = [join(home, "tmp"), join(home, "config")];
  mkdirSync(temporary);
  writeFileSync(config, threeContexts, { mode: 0o600 });
  const start = async (...argv: readonly string[]) => {
    const child = spawn(process.execPath, [main, "up", "--tour=false", ...argv], {
      // Node's own cache of compiled modules is not what is looked at here.
      env: { ...process.env, TMPDIR: temporary, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") },
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
    await eventually("it is up", () => said.includes("Ctrl-C ends it") || child.exitCode !== null);
    const end = async (signal: NodeJS.Signals): Promise<number | null> => {
      child.kill(signal);
      const [code] = await ended;
      return code;
    };
    return { end };
  };
  return { temporary, config, start, text: () => readFileSync(config, "utf8") };
}

const namesIn = (text: string): readonly string[] =>
  parse(text).contexts.map(({ name }: { readonly name: string }) => name);

for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const)
  test(`${signal} stops up gracefully: the kubeconfig is unchanged byte for byte, and the folder is removed`, async (t) => {
    const { temporary, config, start, text } = harness(t);
    const { end } = await start("--kubeconfig-out", config);
    assert.deepEqual([...namesIn(text())].sort(), ["dev", "prod", "snapkeep", "third"]);
    assert.equal(await end(signal), 0);
    assert.deepEqual([text(), readdirSync(temporary)], [threeContexts, []]);
  });

for (const next of [["--exit"], ["--exit", "--kubeconfig-out", "config"]])
  test(`after kill -9, "up ${next.join(" ")}" removes leftovers of the killed process, and nothing of a running one`, async (t) => {
    const { temporary, config, start, text } = harness(t);
    const living = await start("--kubeconfig-out", config);
    const killed = await start("--kubeconfig-out", config);
    const before = readdirSync(temporary);
    await killed.end("SIGKILL");
    assert.equal(readdirSync(temporary).length, 2);
    assert.deepEqual([...namesIn(text())].sort(), ["dev", "prod", "snapkeep", "snapkeep-2", "third"]);
    await start(...next.map((word) => (word === "config" ? config : word)));
    await eventually("only the living one is left", () => readdirSync(temporary).length === 1);
    assert.ok(before.includes(readdirSync(temporary)[0] ?? ""));
    await eventually("its context is left", () => namesIn(text()).length === 4);
    assert.equal(await living.end("SIGINT"), 0);
    assert.deepEqual([text(), readdirSync(temporary)], [threeContexts, []]);
  });

test("Ctrl-C through npm, which forwards the signal again, stops the program with exit code 0 and a message", async (t) => {
  const { temporary } = harness(t);
  const child = spawn("npm", ["start", "--", "--tour=false"], {
    cwd: resolve(import.meta.dirname, "../../.."),
    env: { ...process.env, TMPDIR: temporary, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") },
    stdio: ["ignore", "pipe", "inherit"],
    // A process group of its own: as a terminal does, the signal goes to all in it.
    detached: true,
  });
  t.after(() => child.exitCode ?? process.kill(-(child.pid ?? 0), "SIGKILL"));
  const ended = once(child, "exit");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  await eventually("it is up", () => said.includes("Ctrl-C ends it"));
  process.kill(-(child.pid ?? 0), "SIGINT");
  assert.deepEqual(await ended, [0, null]);
  assert.match(said, /\nStopped; .* is removed\.\n$/);
  assert.deepEqual(readdirSync(temporary), []);
});
