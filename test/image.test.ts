/** The parts of the image that need no cluster. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { architectures, driverPackages, driverPrograms, plainPackages } from "../scripts/image/contents.ts";
import { lockedPackages, packageLock, user } from "../scripts/image/files.ts";
import { type TarEntry, tarOf } from "../scripts/image/tar.ts";

const root = resolve(import.meta.dirname, "..");

test("a tar archive is read by tar as it was written, whatever the order it was given in", () => {
  const long = `${"deep/".repeat(30)}file`;
  const entries: [string, TarEntry][] = [
    [long, { kind: "file", mode: 0o644, bytes: Buffer.from("long") }],
    ["bin/program", { kind: "file", mode: 0o755, bytes: Buffer.alloc(1000, "x") }],
    ["bin/link", { kind: "link", target: "program" }],
    ["tmp", { kind: "folder", mode: 0o1777 }],
  ];
  const archive = tarOf(new Map(entries));
  assert.deepEqual(archive, tarOf(new Map(entries.toReversed())));
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-tar-"));
  try {
    writeFileSync(join(folder, "a.tar"), archive);
    execFileSync("tar", ["-C", folder, "-xf", join(folder, "a.tar")]);
    assert.equal(readFileSync(join(folder, long), "utf8"), "long");
    assert.equal(readFileSync(join(folder, "bin/link"), "utf8").length, 1000);
    const listed = execFileSync("tar", ["-tvf", join(folder, "a.tar")], { encoding: "utf8" });
    assert.match(listed, /^drwxrwxrwt 0\/0 .* tmp\/$/m);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("every package is pinned by its digest for every architecture", () => {
  const names = Object.keys({ ...plainPackages, ...driverPackages });
  for (const architecture of Object.keys(architectures) as (keyof typeof architectures)[])
    for (const item of lockedPackages(architecture, names)) assert.match(item.sha256, /^[0-9a-f]{64}$/);
  assert.match(packageLock.snapshot, /^\d{8}T\d{6}Z$/);
});

test("the tag for drivers has the programs that the sources run", () => {
  const text = execFileSync(
    "grep",
    [
      "-rhoE",
      '(run|runProgram|endOf)\\("[a-z]+"',
      "src/node",
      "src/components",
      "--include=*.ts",
      "--exclude=*.test.ts",
    ],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  const called = new Set([...text.matchAll(/"([a-z]+)"/g)].map(([, name]) => name));
  assert.deepEqual([...called].sort(), [...driverPrograms].sort());
});

test("the Dockerfile runs the same program as the same user", () => {
  const text = readFileSync(join(root, "image/Dockerfile"), "utf8");
  assert.match(text, new RegExp(`^USER ${user}:${user}$`, "m"));
  const script = readFileSync(join(root, "scripts/image.ts"), "utf8");
  for (const line of ['"/usr/bin/snapkeep"', "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "SSL_CERT_FILE="])
    assert.ok(text.includes(line) && script.includes(line), line);
});
