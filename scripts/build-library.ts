/**
 * `npm run build:library`: what other programs import, as JavaScript with types, because Node strips no types under node_modules. It is
 * bundled apart from the program, whose parts stay as they are. Into lib, which npm publishes, or into the folder that is named.
 */
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "esbuild";
import { bundling } from "./bundling.ts";
import { thirdPartyNotices } from "./notices.ts";

const root = resolve(import.meta.dirname, "..");
const outdir = resolve(root, process.argv[2] ?? "lib");
/** The subpath of the package → the file that is its door. */
const doors = { apiserver: "src/apiserver/index.ts", kube: "src/kube/index.ts" } as const;

rmSync(outdir, { recursive: true, force: true });
const { metafile } = await build({
  ...bundling,
  entryPoints: Object.entries(doors).map(([out, path]) => ({ in: resolve(root, path), out })),
  outdir,
  absWorkingDir: root,
});
const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
);
writeFileSync(resolve(outdir, "THIRD-PARTY-NOTICES.txt"), thirdPartyNotices(root, bundled));

const types = {
  extends: resolve(root, "tsconfig.json"),
  include: [],
  files: Object.values(doors).map((path) => resolve(root, path)),
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // What only the program's own tests use has no type outside.
    stripInternal: true,
    rewriteRelativeImportExtensions: true,
    rootDir: resolve(root, "src"),
    outDir: resolve(outdir, "types"),
  },
};
const config = resolve(root, `node_modules/.library-${process.pid}.json`);
writeFileSync(config, JSON.stringify(types));
try {
  execFileSync(process.execPath, [resolve(root, "node_modules/typescript/bin/tsc"), "-p", config], {
    stdio: "inherit",
  });
} finally {
  rmSync(config);
}
