/**
 * `npm run generate`: proto/*.proto → src/csi/gen. Compiler and plugin are 175 MB and needed here only, so npx fetches the pinned
 * versions. What the files were generated from is noted beside them, so that `npm test` can tell without a compiler whether they are up
 * to date.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const protoFolder = resolve(root, "proto");
export const compiler = "@bufbuild/buf@1.74.0";
const plugin = "@bufbuild/protoc-gen-es@2.12.0";
// JavaScript beside declarations: the TypeScript output has enums, which type stripping cannot remove.
const options = ["target=js+dts", "import_extension=js"];

export const generatedFolder = resolve(root, "src/csi/gen");
const noteName = "generated-from.json";

export function generate(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const template = { version: "v2", plugins: [{ local: "protoc-gen-es", out: folder, opt: options }] };
  const argv = ["generate", "--template", JSON.stringify(template), protoFolder];
  execFileSync("npx", ["--yes", `--package=${compiler}`, `--package=${plugin}`, "--", "buf", ...argv], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  writeFileSync(join(folder, noteName), `${JSON.stringify(generatedFrom(folder), undefined, 2)}\n`);
}

const hashOf = (texts: readonly string[]): string => createHash("sha256").update(JSON.stringify(texts)).digest("hex");
const textsIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name !== noteName)
    .sort()
    .flatMap((name) => [name, readFileSync(join(folder, name), "utf8")]);

/** What decides the generated files, and what they hold. */
export const generatedFrom = (folder: string): Readonly<Record<string, unknown>> => ({
  compiler,
  plugin,
  options,
  protocol: hashOf(textsIn(protoFolder)),
  generated: hashOf(textsIn(folder)),
});

if (import.meta.main) generate(generatedFolder);
