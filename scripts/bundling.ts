/** How the program and the library are bundled: for Node, as modules, in parts of which only those are loaded that are needed. */
import type { BuildOptions, Plugin } from "esbuild";

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

export const partsFolder = "parts";

export const bundling = {
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
} as const satisfies BuildOptions;
