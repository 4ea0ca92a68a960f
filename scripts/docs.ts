/** `npm run docs`: writes docs/reference and deploy/ from the tables. test/docs.test.ts fails where it has not been run. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import packageFile from "../package.json" with { type: "json" };
import { commands } from "../src/cli/commands.ts";
import { deployFiles, installationOf } from "../src/cli/deploy.ts";
import { referencePages } from "../src/cli/reference.ts";
import { agreementPage } from "./agreement-page.ts";
import { requirementsPage } from "./requirements-page.ts";

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
  rmSync(resolve(root, folder), { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    const path = resolve(root, folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`${folder}/${name}`);
  }
}
