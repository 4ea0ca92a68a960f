/** `npm run build`: bundles the whole program into dist/snapkeep.js, the file that npm publishes, and prints its size. Another file may be named. */
import { chmodSync, readFileSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const outfile = resolve(root, process.argv[2] ?? "dist/snapkeep.js");
const { version } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as { version: string };

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

await build({
  entryPoints: [resolve(root, "src/main.ts")],
  outfile,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "linked",
  plugins: [httpUnlookedAt],
  // Some packages are CommonJS inside and ask for Node's own modules with require.
  banner: {
    js: '#!/usr/bin/env node\nimport { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
chmodSync(outfile, 0o755);
console.log(`snapkeep ${version}: ${relative(root, outfile)}, ${(statSync(outfile).size / 1024).toFixed(0)} KiB`);
