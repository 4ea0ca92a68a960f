/**
 * `npm run release`: all files of a release in one folder, from a clean checkout: npm tarball, image archive, chart, manifests, alerts,
 * dashboard, bills of materials and their checksums. Two runs of one commit give the same digests.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { componentRows } from "../src/api/manifests/rows.ts";
import { installationOf, yamlDocuments } from "../src/cli/deploy.ts";
import { objectsOf, planFor } from "../src/cli/install/selection.ts";
import { filesUnder } from "./image/sources.ts";
import { type TarEntry, tarOf } from "./image/tar.ts";

const root = resolve(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    out: { type: "string", default: "dist-release" },
    "allow-changes": { type: "boolean", default: false },
    architecture: { type: "string", multiple: true, default: [] },
  },
});
const out = resolve(root, values.out);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 26,
  });

if (!values["allow-changes"] && run("git", "status", "--porcelain").trim() !== "")
  throw new Error("the checkout has changes: commit them first, so that the release can be made again from its commit");

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const image = join(out, ".image");
run(
  process.execPath,
  "scripts/image.ts",
  "--out",
  image,
  ...values.architecture.flatMap((name) => ["--architecture", name]),
);
for (const file of readdirSync(image)) if (/\.(tar|json)$/.test(file)) copyFileSync(join(image, file), join(out, file));
rmSync(image, { recursive: true });

run("npm", "pack", "--silent", "--pack-destination", out);

/** helm package writes the time into its archive; ours has none. */
const chart = [...filesUnder(join(root, "deploy/helm/snapkeep"))].map(([path, entry]): [string, TarEntry] => [
  `snapkeep/${path}`,
  entry,
]);
writeFileSync(join(out, `snapkeep-chart-${version}.tgz`), gzipSync(tarOf(new Map(chart)), { level: 9 }));

const everything = planFor(
  componentRows.map(({ name }) => name),
  installationOf(version),
);
const defaults = planFor(
  componentRows.filter(({ isDefault }) => isDefault).map(({ name }) => name),
  installationOf(version),
);
writeFileSync(join(out, "install.yaml"), yamlDocuments(objectsOf(defaults)));
writeFileSync(join(out, "install-all.yaml"), yamlDocuments(objectsOf(everything)));
for (const file of ["alerts.yaml", "dashboard.json"])
  copyFileSync(join(root, "deploy/monitoring", file), join(out, file));

const sums = readdirSync(out)
  .sort()
  .map(
    (file) =>
      `${createHash("sha256")
        .update(readFileSync(join(out, file)))
        .digest("hex")}  ${file}\n`,
  );
writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
console.log(sums.join("").trimEnd());
