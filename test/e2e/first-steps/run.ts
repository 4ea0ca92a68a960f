/**
 * `npm run first-steps`: every way to install, each in an empty folder: from a copied dist, from npm pack and from a clone, as
 * root and as nobody, on three Nodes, with and without install scripts. Exits with 1 if one neither works nor says what to do.
 */
import { nodeVersions } from "./nodes.ts";
import { type Case, createWorkshop, titleOf } from "./steps.ts";

if (process.getuid?.() !== 0) {
  console.error("npm run first-steps plays the part of another user, nobody: run it as root");
  process.exit(1);
}
const cases: Case[] = [];
for (const from of ["dist", "pack", "clone"] as const)
  for (const node of nodeVersions)
    for (const user of ["root", "nobody"] as const)
      for (const scripts of from === "dist" ? [true] : [true, false]) cases.push({ from, node, user, scripts });

const workshop = createWorkshop();
let broken = 0;
try {
  for (const given of cases)
    for (const { step, verdict, said } of await workshop.play(given)) {
      if (verdict === "broken") broken += 1;
      console.log(`${titleOf(given).padEnd(48)}  ${step.padEnd(32)}  ${verdict}${said === "" ? "" : `\n    ${said}`}`);
    }
} finally {
  workshop.close();
}
console.log(`\n${cases.length} cases, ${broken} broken steps`);
process.exit(broken === 0 ? 0 : 1);
