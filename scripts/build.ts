/**
 * `npm run build`: bundles the program into dist, which npm publishes, or into the folder that is named, and prints its size. There
 * is one file to start, and parts of which a command loads only its own: a component holds no other component's code in memory.
 */
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { build } from "esbuild";
import { bundling, partsFolder } from "./bundling.ts";
import { bundledPackages, thirdPartyNotices } from "./notices.ts";
import { spdx } from "./sbom.ts";
import { sourceOf } from "./source.ts";

const root = resolve(import.meta.dirname, "..");
const outdir = resolve(root, process.argv[2] ?? "dist");
const program = resolve(outdir, "snapkeep.js");
const { version, devDependencies } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as {
  version: string;
  devDependencies: { node: string };
};

// Their names say what is in them: those of an earlier build would stay.
rmSync(resolve(outdir, partsFolder), { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [{ in: resolve(root, "src/main.ts"), out: `${partsFolder}/main` }],
  outdir,
  ...bundling,
  absWorkingDir: root,
});
const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
);
writeFileSync(resolve(outdir, "THIRD-PARTY-NOTICES.txt"), thirdPartyNotices(root, bundled));
const parts = bundledPackages(root, bundled).map(({ name, version: exact, license = "" }) => ({
  name,
  version: exact,
  license,
  purl: `pkg:npm/${name.replace("@", "%40")}`,
}));
const { created } = sourceOf(root);
writeFileSync(resolve(outdir, "sbom.spdx.json"), spdx({ name: "snapkeep", version, created, parts }));
const launcher = readFileSync(resolve(root, "src/launch.js"), "utf8");
const [major = ""] = devDependencies.node.split(".");
writeFileSync(program, `#!/usr/bin/env node\n${launcher.replace("NODE_MAJOR", major)}`);
chmodSync(program, 0o755);
// A copy of the folder runs wherever it lies: the nearest package.json says how Node reads the files.
writeFileSync(resolve(outdir, "package.json"), `${JSON.stringify({ private: true, type: "module" })}\n`);
const sizes = Object.values(metafile.outputs).map(({ bytes }) => bytes);
console.log(
  `snapkeep ${version}: ${relative(root, outdir)}, ${(sizes.reduce((sum, bytes) => sum + bytes, 0) / 1024).toFixed(0)} KiB`,
);
