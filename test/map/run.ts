/** `npm run map`: walks, and writes the walks into docs/architecture.md. `--check` writes nothing: it prints the page as it would be. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { root } from "../sources.ts";
import { withWalks } from "./page.ts";
import type { Walk } from "./trace.ts";
import { walks } from "./walks.ts";

const path = resolve(root, "docs/architecture.md");
const page = readFileSync(path, "utf8");
const walked: Walk[] = [];
// One after the other: each counts what runs in this process.
for (const walk of walks) walked.push(await walk());
const next = withWalks(page, walked);
if (process.argv.includes("--check")) process.stdout.write(next);
else {
  writeFileSync(path, next);
  console.log(next === page ? "docs/architecture.md is as it was" : "docs/architecture.md is rewritten");
}
