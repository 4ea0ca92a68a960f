/** The worked example of docs/guides/add-a-component.md, compiled and run in a copy of the sources. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { promisify } from "node:util";
import { draftOf } from "../src/api/builders.ts";
import { startHarness } from "./command-harness.ts";
import { eventually, temporaryFolder } from "./csi-sockets.ts";

const root = resolve(import.meta.dirname, "..");
const guide = readFileSync(join(root, "docs/guides/add-a-component.md"), "utf8");
/** "`path`" on a line of its own, then its code. */
const files = [...guide.matchAll(/^`(src\/\S+)`\n\n```ts\n([\s\S]*?)```/gm)].map(([, path = "", text = ""]) => ({
  path,
  text,
}));
const row = /^In `(src\/cli\/commands\.ts)`.*\n\n```ts\n([\s\S]*?)```/m.exec(guide);

/** A copy of the sources with the example in it. */
function copyWithExample(folder: string): void {
  const filter = (path: string): boolean => !path.endsWith(".test.ts") || path.endsWith("tidy.test.ts");
  for (const name of ["src", "scripts", "test", "tsconfig.json", "package.json", "knip.json", "biome.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const commands = join(folder, row?.[1] ?? "");
  writeFileSync(commands, readFileSync(commands, "utf8").replace(/^\];$/m, `${row?.[2] ?? ""}];`));
}

test("the guide has one file for each step, its start and its command, and one row", () => {
  const steps = ["memory", "observe", "phase", "plan", "index", "start"].map(
    (step) => `components/claim-sizes/${step}`,
  );
  assert.deepEqual(
    files.map(({ path }) => path),
    [...steps, "cli/commands/claim-sizes"].map((path) => `src/${path}.ts`),
  );
  assert.ok(row !== null);
});

test("the example of the guide passes the stages of npm run check as it is printed", async (t) => {
  const folder = temporaryFolder(t);
  copyWithExample(folder);
  const run = (program: string, ...given: readonly string[]) =>
    promisify(execFile)(join(root, "node_modules/.bin", program), given, { cwd: folder }).catch((reason) => {
      throw new Error(`${program} ${given.join(" ")}: ${reason.stdout}${reason.stderr}`);
    });
  await run("biome", "check", "--vcs-enabled=false", "--error-on-warnings", ...files.map(({ path }) => path));
  await run("tsc", "--noEmit", "-p", folder);
  await run("knip", "--no-progress", "--production");
  await run("node", "test/run.ts", "tidy");
});

test("the example of the guide works on an API server, and its command has help", async (t) => {
  const folder = temporaryFolder(t);
  copyWithExample(folder);
  const main = join(folder, "src/main.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [main, "claim-sizes", "--help"]);
  assert.match(stdout, /Write the requested size of each claim into an annotation/);
  const { client, kubeconfig } = await startHarness(t);
  const given = [main, "claim-sizes", "--v=4", "--logging-format=json", "--kubeconfig", kubeconfig];
  const component = spawn(process.execPath, given, { stdio: ["ignore", "inherit", "pipe"] });
  t.after(() => component.kill());
  const lines: string[] = [];
  createInterface({ input: component.stderr }).on("line", (line) => lines.push(line));
  const decided = (): readonly string[] =>
    lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === "decided")
      .map(({ key, phase, reason, actions }) => `${key} ${phase} ${reason} ${actions}`);
  const ref = { kind: "PersistentVolumeClaim", namespace: "default", name: "data" } as const;
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Ki" } } };
  await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", ref, { spec }));
  const bytes = async () => (await client.get(ref)).metadata.annotations?.["example.com/requested-bytes"];
  await eventually("the claim has the annotation", async () => (await bytes()) === "1024");
  const { annotations = {} } = (await client.get(ref)).metadata;
  assert.ok(Math.abs(Date.parse(annotations["example.com/requested-since"] ?? "") - Date.now()) < 60_000);
  await client.patch(ref, {
    type: "merge",
    body: { metadata: { annotations: { "example.com/requested-bytes": "1" } } },
  });
  await eventually("another writer is not fought", () => decided().length === 3);
  assert.deepEqual(decided(), [
    "default/data outdated Writes replace,written",
    "default/data current Settled none",
    "default/data disputed NotOurs none",
  ]);
  assert.equal(await bytes(), "1");
});
