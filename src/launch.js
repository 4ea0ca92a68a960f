/**
 * What a release starts with: asks for a Node that can run it, and loads it. Any Node must be able to read this file, as a script or
 * as a module, so it imports nothing and is older in style than the rest. `npm run build` puts the version in.
 */
const needed = "NODE_MAJOR";
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

if (Number(process.versions.node.split(".")[0]) >= Number(needed)) import("./parts/main.js");
else {
  const command = process.argv.slice(1).map(quoted).join(" ");
  process.stderr.write(
    `snapkeep: needs Node ${needed} or newer, and this is ${process.version}; run: npx --yes --package=node@${needed} -- node ${command}\n`,
  );
  process.exitCode = 1;
}
