/**
 * Runs before the npm scripts that need the pinned Node. Without install scripts (`npm ci --ignore-scripts`) it is missing, and the
 * machine's own Node would fail on the first TypeScript file, in words that help nobody. Any Node must be able to read this file.
 */
const pinned = require("../package.json").devDependencies.node;
const majorOf = (version) => Number(version.split(".")[0]);

if (majorOf(process.versions.node) < majorOf(pinned)) {
  process.stderr.write(
    `snapkeep: Node ${majorOf(pinned)} is missing because its install script has not run, and this is ${process.version}; run: npm rebuild node\n`,
  );
  process.exitCode = 1;
}
