/** What the image is made of, fetched once, checked by its digest, and kept in the user's cache. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type Architecture, architectures, type DebianPackage } from "./contents.ts";
import type { TarEntry, TarTree } from "./tar.ts";

export interface PackageLock {
  /** The time at snapshot.debian.org, which keeps what mirrors drop when a newer version appears. */
  readonly snapshot: string;
  readonly packages: readonly DebianPackage[];
}

const base = process.env.XDG_CACHE_HOME;
export const cacheFolder = join(
  base === undefined || base === "" ? join(homedir(), ".cache") : base,
  "snapkeep",
  "image",
);

/** The file with this digest: from the cache, else from the first address that has it. */
async function fetched(
  name: string,
  digest: { readonly algorithm: string; readonly hex: string },
  addresses: readonly string[],
) {
  const path = join(cacheFolder, `${digest.hex.slice(0, 16)}-${name}`);
  const isGood = (bytes: Uint8Array): boolean =>
    createHash(digest.algorithm).update(bytes).digest("hex") === digest.hex;
  if (existsSync(path) && isGood(readFileSync(path))) return path;
  mkdirSync(cacheFolder, { recursive: true });
  const problems: string[] = [];
  for (const address of addresses) {
    const problem = await download(address, path, isGood);
    if (problem === undefined) return path;
    problems.push(`${address}: ${problem}`);
  }
  throw new Error(`${name} cannot be fetched:\n${problems.join("\n")}`);
}

async function download(address: string, path: string, isGood: (bytes: Uint8Array) => boolean) {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(300_000) });
    if (!response.ok) return `HTTP ${response.status}`;
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (!isGood(bytes)) return "its digest is another one than image/packages.json or package-lock.json says";
    writeFileSync(`${path}.${process.pid}`, bytes);
    renameSync(`${path}.${process.pid}`, path);
    return undefined;
  } catch (reason) {
    return String(reason);
  }
}

/** The files of a Debian package, as far as one of the patterns names them. Needs dpkg-deb. */
export async function debianFiles(
  { name, path, sha256 }: DebianPackage,
  { snapshot }: PackageLock,
  patterns: readonly RegExp[],
): Promise<TarTree> {
  const [archive = "", ...rest] = path.split("/");
  const file = await fetched(basename(path), { algorithm: "sha256", hex: sha256 }, [
    `http://deb.debian.org/${path}`,
    `http://snapshot.debian.org/archive/${archive}/${snapshot}/${rest.join("/")}`,
  ]);
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-deb-"));
  try {
    execFileSync("dpkg-deb", ["--extract", file, folder]);
    const found = new Map([...filesUnder(folder)].filter(([at]) => patterns.some((pattern) => pattern.test(at))));
    if (found.size === 0) throw new Error(`the Debian package ${name} has none of the files ${patterns.join(", ")}`);
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Files and links below a folder, with the rights of the owner for everybody. */
export function filesUnder(folder: string, below = ""): Map<string, TarEntry> {
  const found = new Map<string, TarEntry>();
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    const place = join(folder, path);
    if (entry.isDirectory()) for (const [at, item] of filesUnder(folder, path)) found.set(at, item);
    else if (entry.isSymbolicLink()) found.set(path, { kind: "link", target: readlinkSync(place) });
    else
      found.set(path, {
        kind: "file",
        mode: (statSync(place).mode & 0o100) === 0 ? 0o644 : 0o755,
        bytes: readFileSync(place),
      });
  }
  return found;
}

export function writeTree(folder: string, tree: TarTree): void {
  for (const [path, entry] of tree) {
    const place = join(folder, path);
    mkdirSync(entry.kind === "folder" ? place : dirname(place), { recursive: true });
    if (entry.kind === "file") writeFileSync(place, entry.bytes);
    if (entry.kind === "link") symlinkSync(entry.target, place);
    else chmodSync(place, entry.mode);
  }
}

interface NpmVersion {
  readonly dist: { readonly tarball: string; readonly integrity: string };
}

/** Node's program, from its package on npm: the version that everything is tested with. */
export async function nodeProgram(architecture: Architecture, version: string, registry: string): Promise<Uint8Array> {
  const name = architectures[architecture].node;
  const known = join(cacheFolder, `${name}-${version}.json`);
  mkdirSync(cacheFolder, { recursive: true });
  if (!existsSync(known)) {
    const answer = await fetch(new URL(`${name}/${version}`, registry));
    if (!answer.ok) throw new Error(`${registry} answers ${answer.status} for ${name} ${version}`);
    writeFileSync(known, await answer.text());
  }
  const { dist } = JSON.parse(readFileSync(known, "utf8")) as NpmVersion;
  const hex = Buffer.from(dist.integrity.replace("sha512-", ""), "base64").toString("hex");
  const file = await fetched(`${name}-${version}.tgz`, { algorithm: "sha512", hex }, [dist.tarball]);
  return execFileSync("tar", ["-xzOf", file, "package/bin/node"], { maxBuffer: 2 ** 30 });
}
