/**
 * Packages whose platform-specific part npm has left out. On an old Node it does so without a word, because the parts name a newer one in
 * `engines`; the package then fails on the pinned Node, far away and in words that help nobody.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Locked {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Installed packages that have optional parts, and got none of them. */
export function leftOut(root: string): readonly string[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const packages = Object.entries(lock.packages as Readonly<Record<string, Locked>>);
  return packages
    .filter(([path, { optionalDependencies = {} }]) => {
      const parts = Object.keys(optionalDependencies);
      const isThere = (part: string): boolean =>
        existsSync(join(root, path, "node_modules", part)) || existsSync(join(root, "node_modules", part));
      return path !== "" && parts.length > 0 && existsSync(join(root, path)) && !parts.some(isThere);
    })
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
}
