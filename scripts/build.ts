/**
 * `npm run build`: bundles the program into dist, which npm publishes, or into the folder that is named, and prints its size. There
 * is one file to start, and parts of which a command loads only its own: a component holds no other component's code in memory.
 */
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { bundledPackages, thirdPartyNotices } from "./notices.ts";
import { spdx } from "./sbom.ts";
import { sourceOf } from "./source.ts";

const root = resolve(import.meta.dirname, "..");
const outdir = resolve(root, process.argv[2] ?? "dist");
const program = resolve(outdir, "snapkeep.js");
const partsFolder = "parts";
const { version, devDependencies } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as {
  version: string;
  devDependencies: { node: string };
};

/**
 * Importing node:http makes Node look at everything it exports, and one look at its WebSocket loads undici: 13 MB in every
 * process, for nothing we use. Asking for the module itself looks at nothing.
 */
const httpUnlookedAt: Plugin = {
  name: "http-unlooked-at",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: "asked-for" }));
    onLoad({ filter: /.*/, namespace: "asked-for" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }));
  },
};

// Their names say what is in them: those of an earlier build would stay.
rmSync(resolve(outdir, partsFolder), { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [{ in: resolve(root, "src/main.ts"), out: `${partsFolder}/main` }],
  outdir,
  chunkNames: `${partsFolder}/[name]-[hash]`,
  bundle: true,
  splitting: true,
  platform: "node",
  target: "node24",
  format: "esm",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "linked",
  plugins: [httpUnlookedAt],
  // grpc-js would load it to serve its own statistics, which nobody asks it for.
  external: ["@grpc/proto-loader"],
  // Some packages are CommonJS inside and ask for Node's own modules with require.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  metafile: true,
  logLevel: "warning",
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
