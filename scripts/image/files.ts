/** The files of the image, in layers: what changes least comes first. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  type Architecture,
  architectures,
  type DebianPackage,
  driverPackages,
  driverPrograms,
  plainPackages,
} from "./contents.ts";
import { debianFiles, filesUnder, nodeProgram, type PackageLock } from "./sources.ts";
import type { TarEntry, TarTree } from "./tar.ts";

const root = resolve(import.meta.dirname, "../..");
export const packageLock = JSON.parse(readFileSync(join(root, "image/packages.json"), "utf8")) as PackageLock;
export const user = "65532";

const textFile = (text: string): TarEntry => ({ kind: "file", mode: 0o644, bytes: Buffer.from(text) });

/** The packages of an architecture, of those that are named. */
export function lockedPackages(architecture: Architecture, names: readonly string[]): readonly DebianPackage[] {
  return names.map((name) => {
    const found = packageLock.packages.find(
      (item) => item.name === name && [architecture, "all"].includes(item.architecture),
    );
    if (found === undefined) throw new Error(`image/packages.json has no ${name} for ${architecture}`);
    return found;
  });
}

async function packageFiles(architecture: Architecture, table: typeof plainPackages): Promise<Map<string, TarEntry>> {
  const { triple } = architectures[architecture];
  const files = new Map<string, TarEntry>();
  for (const item of lockedPackages(architecture, Object.keys(table)))
    for (const [path, entry] of await debianFiles(item, packageLock, table[item.name]?.(triple) ?? []))
      files.set(path, entry);
  return files;
}

/** Libraries and certificates. */
export async function systemFiles(architecture: Architecture): Promise<TarTree> {
  const files = await packageFiles(architecture, plainPackages);
  const certificates = [...files].filter(([path]) => path.endsWith(".crt"));
  for (const [path] of certificates) files.delete(path);
  const bundle = certificates.map(([, entry]) => (entry.kind === "file" ? Buffer.from(entry.bytes).toString() : ""));
  return new Map<string, TarEntry>([
    ...files,
    ["etc/ssl/certs/ca-certificates.crt", textFile(bundle.join(""))],
    ["etc/passwd", textFile(`root:x:0:0:root:/:/nonexistent\nsnapkeep:x:${user}:${user}:snapkeep:/:/nonexistent\n`)],
    ["etc/group", textFile(`root:x:0:\nsnapkeep:x:${user}:\n`)],
    ["etc/nsswitch.conf", textFile("hosts: files dns\n")],
    ["tmp", { kind: "folder", mode: 0o1777 }],
  ]);
}

export async function programFiles(architecture: Architecture): Promise<TarTree> {
  const files = await packageFiles(architecture, driverPackages);
  const missing = driverPrograms.filter((name) => ![...files.keys()].some((path) => path.endsWith(`bin/${name}`)));
  if (missing.length > 0) throw new Error(`no Debian package brings ${missing.join(", ")}`);
  return files;
}

export const nodeFiles = async (architecture: Architecture, version: string, registry: string): Promise<TarTree> =>
  new Map([["usr/bin/node", { kind: "file", mode: 0o755, bytes: await nodeProgram(architecture, version, registry) }]]);

/**
 * Revision 2 of a file's capabilities: NET_BIND_SERVICE (number 10) is permitted, and not effective. An effective one would keep a pod
 * without that capability from starting at all.
 */
const bindCapability = Buffer.from(new Uint32Array([0x0200_0000, 1 << 10, 0, 0, 0]).buffer);

export function ownFiles(architecture: Architecture, dist: string, sbom: string): TarTree {
  const bundle = [...filesUnder(dist)].map(([path, entry]): [string, TarEntry] => [`snapkeep/${path}`, entry]);
  const attributes = { "security.capability": bindCapability };
  return new Map<string, TarEntry>([
    ...bundle,
    ["snapkeep/image.spdx.json", textFile(sbom)],
    ["usr/bin/snapkeep", { kind: "file", mode: 0o755, bytes: launcher(architecture), attributes }],
  ]);
}

/** Built by Go, which compiles for the other architecture as well. */
function launcher(architecture: Architecture): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-launcher-"));
  try {
    const output = join(folder, "snapkeep");
    execFileSync("go", ["build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", output, "."], {
      cwd: join(root, "image/launcher"),
      env: { ...process.env, CGO_ENABLED: "0", GOOS: "linux", GOARCH: architecture, GOFLAGS: "", GOWORK: "off" },
    });
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
