import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { createClaim, createSnapshot, startHarness } from "../../../test/command-harness.ts";
import { startCommand } from "../../../test/command-line.ts";
import { temporaryFolder } from "../../../test/csi-sockets.ts";

const main = resolve(import.meta.dirname, "../../main.ts");

/** The candidates and the directive. */
async function completed(...words: readonly string[]) {
  const { code, said } = startCommand("__complete", ...words);
  assert.equal(await code, 0, said.text);
  const lines = said.out.trimEnd().split("\n");
  return { words: lines.slice(0, -1).map((line) => line.split("\t")[0]), directive: lines.at(-1) };
}

test("commands, flags and the words of a flag are completed, each with what may follow", async () => {
  const rows: readonly (readonly [readonly string[], readonly string[], string])[] = [
    [["tak"], ["take"], ":4"],
    [["take", "--dry"], ["--dry-run="], ":6"],
    [["take", "--wai"], ["--wait"], ":4"],
    [["take", "--dry-run=c"], ["--dry-run=client"], ":4"],
    [["take", "-o", "j"], ["json"], ":4"],
    [["take", "--output", ""], ["text", "name", "json", "yaml"], ":4"],
    [["explain", "v"], ["vs/", "vsc/"], ":6"],
    [["take", "--wait=f"], ["--wait=false"], ":4"],
    [["unknown", ""], [], ":4"],
    [["lint", ""], [], ":0"],
    [["explain", "-f", ""], [], ":0"],
    [["status-of-nothing", "--x"], [], ":4"],
    [["take", "--verbosity"], [], ":4"],
  ];
  for (const [typed, words, directive] of rows)
    assert.deepEqual(await completed(...typed), { words, directive }, typed.join(" "));
});

test("a switch takes no next word, so an argument is completed after it", async (t) => {
  const { names } = await cluster(t);
  assert.deepEqual(await names("take", "--wait", ""), ["data"]);
});

test("names of objects come from the cluster, of the namespace that is given", async (t) => {
  const { names } = await cluster(t);
  assert.deepEqual(await names("take", "-n", "default", "d"), ["data"]);
  assert.deepEqual(await names("restore", ""), ["monday"]);
  assert.deepEqual(await names("explain", "vs/m"), ["vs/monday"]);
  assert.deepEqual(await names("take", "data", "--class="), ["--class=fast"]);
  assert.deepEqual(await names("take", "--class", ""), ["fast"]);
  assert.deepEqual(await names("take", "-n", "other", ""), []);
});

test("without a cluster there are no names, and no error", async () => {
  assert.deepEqual(await completed("take", "--kubeconfig=/nowhere", ""), { words: [], directive: ":4" });
});

test("bash completes with the printed script, also after a flag's equals sign", async (t) => {
  const { folder, kubeconfig } = await cluster(t);
  const program = join(folder, "snapkeep");
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`, { mode: 0o755 });
  const script = join(folder, "completion.bash");
  const printed = startCommand("completion", "bash");
  await printed.code;
  writeFileSync(script, printed.said.out);
  const replies = (line: string): readonly string[] => {
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, KUBECONFIG: kubeconfig };
    const ask = `source ${script}; COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _snapkeep; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", ask], { env, encoding: "utf8" }).trim().split("\n");
  };
  assert.deepEqual(replies("snapkeep ta"), ["take"]);
  assert.deepEqual(replies("snapkeep take --dry-run=se"), ["server"]);
});

test("kubectl's hook is the same program under another name", (t) => {
  const hook = join(temporaryFolder(t), "kubectl_complete-snapkeep");
  symlinkSync(main, hook);
  const said = execFileSync(process.execPath, [hook, "resto"], { encoding: "utf8" });
  assert.match(said, /^restore\t.*\n:4\n$/);
});

/** A cluster with a claim, a class and a snapshot, and the names that are offered there. */
async function cluster(t: TestContext) {
  const { client, kubeconfig } = await startHarness(t);
  await createClaim(client);
  await createSnapshot(client, "monday");
  const names = async (...words: readonly string[]) =>
    (await completed(...words.slice(0, 1), `--kubeconfig=${kubeconfig}`, ...words.slice(1))).words;
  return { names, kubeconfig, folder: temporaryFolder(t) };
}
