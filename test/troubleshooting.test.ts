/** docs/guides/troubleshooting.md shows what the commands really print. `WRITE_DOCS=1 npx node test/run.ts test/troubleshooting.test.ts` writes it. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "./csi-sockets.ts";
import { printedByCommands, shownCommands } from "./troubleshooting-page.ts";

const page = new URL("../docs/guides/troubleshooting.md", import.meta.url);
/** A command as it is typed, and what it prints. */
const block = /```\n\$ (.+)\n([^`]*)```\n/g;

test("the page of troubleshooting shows the four commands with their real output", async (t) => {
  const file = join(temporaryFolder(t), "config");
  const printed = await printedByCommands((text) => {
    writeFileSync(file, text);
    return file;
  });
  const text = readFileSync(page, "utf8");
  const real = text.replace(block, (_, line: string) => `\`\`\`\n$ ${line}\n${printed.get(line)}\`\`\`\n`);
  if (process.env.WRITE_DOCS === "1") writeFileSync(page, real);
  else assert.equal(text, real, "WRITE_DOCS=1 npx node test/run.ts test/troubleshooting.test.ts writes it");
  assert.deepEqual(
    [...text.matchAll(block)].map(([, line]) => line),
    shownCommands,
  );
});
