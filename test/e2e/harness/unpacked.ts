/** What is inside an OCI archive, and in folders, as lines that can be compared. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onExit } from "./exit.ts";

interface Linked {
  readonly digest: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly architecture: string };
}

/** The files of one tag for one architecture, in a folder that goes with the process. */
export function unpackedImage(archive: string, tag: string, architecture: string): string {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-unpacked-"));
  onExit(() => rmSync(folder, { recursive: true, force: true }));
  const [layout, files] = [join(folder, "layout"), join(folder, "files")];
  for (const path of [layout, files]) mkdirSync(path);
  execFileSync("tar", ["-C", layout, "-xf", archive]);
  const blob = (digest: string): string => join(layout, "blobs", digest.replace(":", "/"));
  const read = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8")) as T;
  const found = (where: string, isWanted: (item: Linked) => boolean): string => {
    const item = read<{ readonly manifests: readonly Linked[] }>(where).manifests.find(isWanted);
    if (item === undefined) throw new Error(`${archive} has no ${tag} for ${architecture}`);
    return blob(item.digest);
  };
  const ofTag = found(
    join(layout, "index.json"),
    ({ annotations }) => annotations?.["org.opencontainers.image.ref.name"] === tag,
  );
  const manifest = found(ofTag, ({ platform }) => platform?.architecture === architecture);
  for (const { digest } of read<{ readonly layers: readonly Linked[] }>(manifest).layers)
    execFileSync("tar", ["-C", files, "-xzpf", blob(digest)]);
  return files;
}

/** Path, mode and content of everything below, in order: two folders with the same lines are the same image. */
export const linesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((path) => {
      const place = join(folder, path);
      const stat = lstatSync(place);
      if (stat.isSymbolicLink()) return `${path} → ${readlinkSync(place)}`;
      const mode = (stat.mode & 0o7777).toString(8);
      return stat.isDirectory()
        ? `${path}/ ${mode}`
        : `${path} ${mode} ${createHash("sha256").update(readFileSync(place)).digest("hex")}`;
    });
