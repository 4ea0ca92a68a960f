/** `npm run docs`: writes docs/reference from the tables. test/docs.test.ts fails where it has not been run. */
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { commands } from "../src/cli/commands.ts";
import { referencePages } from "../src/cli/reference.ts";

const folder = resolve(import.meta.dirname, "../docs/reference");
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(await referencePages(commands))) {
  writeFileSync(resolve(folder, name), text);
  console.log(`docs/reference/${name}`);
}
