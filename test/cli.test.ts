/** The program as a user starts it: real process, real exit codes, one line where something is wrong. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
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

test("the version is the package's", async () =>
  assert.deepEqual(await started("--version"), { code: 0, out: `snapkeep ${packageFile.version}\n`, error: "" }));

test("a bad flag value is one line on standard error, without a stack, and a tool exits with 2", async () =>
  assert.deepEqual(await started("crds", "--phase=9"), {
    code: 2,
    out: "",
    error: 'snapkeep crds: --phase: "9" is not valid: expected one of 1, 2, 3; for example --phase=3\n',
  }));

test("a mistyped command names the nearest one", async () =>
  assert.deepEqual(await started("crd"), {
    code: 2,
    out: "",
    error: 'snapkeep: unknown command "crd"; did you mean "crds"?\n',
  }));

test("a reader that closes the pipe early is no failure", async () => {
  const child = spawn(process.execPath, [main, "crds"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.once("data", () => child.stdout.destroy());
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const [code] = await once(child, "close");
  assert.deepEqual([code, said], [0, ""]);
});
