/**
 * `npm run generate`: proto/*.proto → src/csi/gen. Compiler and plugin both come from node_modules and no schema is
 * fetched, so the same files come out on any machine, without a network.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const buf = resolve(root, "node_modules/@bufbuild/buf/bin/buf");
const plugin = resolve(root, "node_modules/@bufbuild/protoc-gen-es/bin/protoc-gen-es");

export const generatedFolder = resolve(root, "src/csi/gen");

export function generate(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const template = {
    version: "v2",
    plugins: [
      {
        local: [process.execPath, plugin],
        out: folder,
        // JavaScript beside declarations: the TypeScript output has enums, which type stripping cannot remove.
        opt: ["target=js+dts", "import_extension=js"],
      },
    ],
  };
  execFileSync(process.execPath, [buf, "generate", "--template", JSON.stringify(template), resolve(root, "proto")], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
}

if (import.meta.main) generate(generatedFolder);
