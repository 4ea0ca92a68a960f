/** The program as a user starts it: real process, real exit codes, one line where something is wrong. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import packageFile from "../package.json" with { type: "json" };

const main = resolve(import.meta.dirname, "../src/main.ts");

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

const started = (...argv: string[]): Promise<Ended> =>
  new Promise((done) => {
    execFile(process.execPath, [main, ...argv], (reason, out, error) => {
      done({ code: reason === null ? 0 : Number(reason.code), out, error });
    });
  });

test("--version prints the version of package.json", async () =>
  assert.deepEqual(await started("--version"), { code: 0, out: `snapkeep ${packageFile.version}\n`, error: "" }));

test("an invalid flag value is one line on standard error, without a stack, and exit code 2", async () =>
  assert.deepEqual(await started("crds", "--phase=9"), {
    code: 2,
    out: "",
    error: 'snapkeep crds: --phase: "9" is not valid: expected one of 1, 2, 3; for example --phase=3\n',
  }));

test("the error for a mistyped command names the nearest command", async () =>
  assert.deepEqual(await started("crd"), {
    code: 2,
    out: "",
    error: 'snapkeep: unknown command "crd"; did you mean "crds"?\n',
  }));

test("a closed output pipe is not a failure", async () => {
  const child = spawn(process.execPath, [main, "crds"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.once("data", () => child.stdout.destroy());
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const [code] = await once(child, "close");
  assert.deepEqual([code, said], [0, ""]);
});

test("the exit code of the demo is 0 if every step succeeded, and its last line names the failed step", async () => {
  const { code, out, error } = await started("up", "--exit", "--fault=DeleteVolume=Internal*1000");
  assert.deepEqual([code, out.match(/✓/g)?.length], [1, 6], `${out}${error}`);
  assert.match(out, /✗ everything is deleted and nothing is left: .*DeleteVolume fails because --fault says so/);
  const whole = await started("up", "--exit");
  assert.deepEqual([whole.code, whole.out.match(/✓/g)?.length], [0, 7], `${whole.out}${whole.error}`);
});

const controller = (...argv: string[]): Promise<Ended> =>
  started("snapshot-controller", "--retry-crd-interval-max=1s", ...argv);

test("a component with an invalid flag value exits with 2 and one line", async () =>
  assert.deepEqual(await controller("--worker-threads=many"), {
    code: 2,
    out: "",
    error:
      'snapkeep snapshot-controller: --worker-threads: "many" is not valid: expected a whole number from 1 to 10000; for example --worker-threads=32\n',
  }));

test("a component with a missing kubeconfig exits with 1 and one line that names the file", async () => {
  const { code, error } = await controller("--kubeconfig=/nowhere/config");
  assert.equal(code, 1);
  assert.match(error, /^snapkeep snapshot-controller: .*\/nowhere\/config.*\n$/);
  assert.equal(error.split("\n").length, 2);
});

test("a component waits for an unreachable server as long as its flag says, then exits with 1 and one last line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cli-"));
  const file = join(folder, "config");
  const server = "https://127.0.0.1:1";
  writeFileSync(
    file,
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [{ name: "k", cluster: { server } }],
      users: [{ name: "u", user: { token: "t0ken" } }],
    }),
  );
  const startedAt = performance.now();
  const { code, error } = await controller(`--kubeconfig=${file}`);
  rmSync(folder, { recursive: true });
  assert.equal(code, 1);
  assert.ok(performance.now() - startedAt >= 1_000);
  const [waiting, last, ...rest] = error.split("\n");
  assert.match(
    waiting ?? "",
    /^W.* snapshot-controller\] waiting for the API server reason="nothing answers at https:\/\/127\.0\.0\.1:1/,
  );
  const [, leftMs] = /forMs=(\d+)/.exec(waiting ?? "") ?? [];
  assert.ok(Number(leftMs) <= 1_000, `it waits for another ${leftMs} ms`);
  assert.equal(
    last,
    `snapkeep snapshot-controller: nothing answers at ${server} (clusters[0].cluster.server in ${file}); start the API server or correct the address`,
  );
  assert.deepEqual(rest, [""]);
});
