/** `npm run image -- --update-packages`: writes image/packages.json, the versions and digests of the Debian packages in the image. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { architectures, type DebianPackage, driverPackages, plainPackages } from "./contents.ts";

/** Asks apt with lists of its own, so that the machine need not be of the same architecture. */
export function currentPackages(): readonly DebianPackage[] {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-apt-"));
  try {
    return Object.keys(architectures).flatMap((architecture) => packagesOf(join(folder, architecture), architecture));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function packagesOf(folder: string, architecture: string): readonly DebianPackage[] {
  for (const part of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(folder, part), { recursive: true });
  const options = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    `Dir::State=${folder}`,
    "Dir::State::status=/dev/null",
    `Dir::Cache=${join(folder, "cache")}`,
  ].flatMap((option) => ["-o", option]);
  const apt = (...args: readonly string[]): string =>
    execFileSync("apt-get", [...options, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  apt("update");
  const names = Object.keys({ ...plainPackages, ...driverPackages });
  return parse(apt("download", "--print-uris", ...names)).toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function parse(output: string): readonly DebianPackage[] {
  return output.split("\n").flatMap((line) => {
    const [, url = "", file = "", sha256 = ""] = /^'([^']+)' (\S+) \d+ SHA256:(\w+)$/.exec(line.trim()) ?? [];
    const [name = "", version = "", rest = ""] = file.split("_");
    if (url === "") return [];
    const path = new URL(url).pathname.slice(1);
    return [{ name, version: decodeURIComponent(version), architecture: rest.replace(".deb", ""), path, sha256 }];
  });
}
