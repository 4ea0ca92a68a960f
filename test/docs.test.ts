/** The reference and the manifests are printed from the tables the program runs on; a page that differs is a page that lies. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import packageFile from "../package.json" with { type: "json" };
import { agreementPage } from "../scripts/agreement-page.ts";
import { requirementsPage } from "../scripts/requirements-page.ts";
import { commands } from "../src/cli/commands.ts";
import { deployFiles, installationOf } from "../src/cli/deploy.ts";
import { referencePages } from "../src/cli/reference.ts";

const root = resolve(import.meta.dirname, "..");
const folders = {
  "docs/reference": {
    ...(await referencePages(commands)),
    "shared-resource-requirements.md": requirementsPage(root),
    "admission-agreement.md": agreementPage(),
  },
  deploy: deployFiles(installationOf(packageFile.version)),
};

for (const [folder, files] of Object.entries(folders)) {
  for (const [name, text] of Object.entries(files))
    test(`${folder}/${name} equals its tables (npm run docs)`, () =>
      assert.equal(readFileSync(resolve(root, folder, name), "utf8"), text));

  test(`${folder} holds no file without a table`, () =>
    assert.deepEqual(globSync("**/*.*", { cwd: resolve(root, folder) }).sort(), Object.keys(files).sort()));
}

test("the security guide says of each annotation and label of ours who else may write it", () => {
  const guide = readFileSync(resolve(root, "docs/guides/security.md"), "utf8");
  const table = guide.slice(guide.indexOf("## What is read back"), guide.indexOf("## The image"));
  const names = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) => [...readFileSync(resolve(root, path), "utf8").matchAll(/"(snapkeep\.dev\/[a-z-]+)"/g)])
    .map(([, name = ""]) => name);
  // A label that selects, and a handle that no driver has: nobody reads them back.
  const unread = ["snapkeep.dev/service", "snapkeep.dev/no-snapshot-has-this-id"];
  assert.deepEqual(
    [...new Set(names)].filter((name) => !unread.includes(name) && !table.includes(`\`${name}\``)),
    [],
  );
});
