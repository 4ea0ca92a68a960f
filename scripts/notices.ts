/** Third-party notices: name, version, licence and licence text of every package whose code is in the bundle. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const packageFolder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const licenceFile = /^(licen[cs]e|notice|copying)(\.\w+)?$/i;
const rule = "-".repeat(80);

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Package folder → the bundled files in it. `inputs` are the paths of the bundled files, relative to the root. */
function packageFolders(inputs: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  const folders = Map.groupBy(inputs, (path) => packageFolder.exec(path)?.[1] ?? "");
  folders.delete("");
  return [...folders].sort(([a], [b]) => (a < b ? -1 : 1));
}

const packageIn = (root: string, folder: string): PackageFile =>
  JSON.parse(readFileSync(resolve(root, folder, "package.json"), "utf8")) as PackageFile;

export const bundledPackages = (root: string, inputs: readonly string[]): readonly PackageFile[] =>
  packageFolders(inputs).map(([folder]) => packageIn(root, folder));

export function thirdPartyNotices(root: string, inputs: readonly string[]): string {
  const notices = packageFolders(inputs).map(([folder, files]) => notice(root, folder, files));
  return `The program in this folder contains code of these packages.\n${notices.join("")}`;
}

function notice(root: string, folder: string, files: readonly string[]): string {
  const { name, version, license = "no licence named" } = packageIn(root, folder);
  const texts = licenceTexts(root, folder, license, files);
  if (texts.length === 0)
    throw new Error(
      `${name} ${version} (${license}) is in the bundle and brings no licence text: add one or remove it`,
    );
  return `\n${rule}\n${name} ${version}\n${license}\n${rule}\n\n${texts.join("\n\n")}\n`;
}

/** The files that a package brings for this; else what its sources begin with, and the common text they refer to. */
function licenceTexts(root: string, folder: string, license: string, files: readonly string[]): readonly string[] {
  const brought = readdirSync(resolve(root, folder)).filter((file) => licenceFile.test(file));
  const textOf = (path: string): string => readFileSync(resolve(root, path), "utf8").trim();
  if (brought.length > 0) return brought.map((file) => textOf(`${folder}/${file}`));
  const heads = [...new Set(files.map((path) => headOf(textOf(path))))].filter((head) => /copyright/i.test(head));
  if (heads.length === 0) return [];
  return license.includes("Apache-2.0") ? [...heads, textOf("LICENSE")] : heads;
}

/** The comment lines that a source begins with, without their slashes. */
function headOf(source: string): string {
  const [head = ""] = /^(?:\/\/.*\n)*/.exec(source) ?? [];
  return head.replace(/^\/\/ ?/gm, "").trim();
}
