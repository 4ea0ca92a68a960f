/** The source files and what each of them loads, as the tests of the architecture read them. */
import { globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");

export interface Source {
  readonly path: string;
  readonly text: string;
  /** All that the file names in an import, types included. */
  readonly imports: readonly string[];
  /** What is loaded before the file runs: neither types, which are gone by then, nor what it loads later, on demand. */
  readonly loads: readonly string[];
}

const statement = /^(?:import|export)\s+(type\s+)?([^;"]*?)\s*from\s*"([^"]+)"|^import\s*"([^"]+)"/gm;
/** `import { type A, type B } from …` loads nothing: such statements are erased. */
const namesTypesOnly = (names: string): boolean =>
  /^\{/.test(names) &&
  names
    .replace(/[{}]/g, "")
    .split(",")
    .map((name) => name.trim())
    .every((name) => name === "" || name.startsWith("type "));

export function loadedBy(text: string): readonly string[] {
  return [...text.matchAll(statement)].flatMap(([, type, names = "", from, alone]) =>
    type !== undefined || namesTypesOnly(names) ? [] : [from ?? alone ?? ""],
  );
}

export const sources: readonly Source[] = globSync("src/**/*.ts", { cwd: root })
  .filter((path) => !path.includes("/gen/"))
  .map((path) => {
    const text = readFileSync(resolve(root, path), "utf8");
    const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier]) => specifier ?? "");
    const placed = (specifier: string): string =>
      specifier.startsWith(".") ? relative(root, resolve(root, dirname(path), specifier)) : specifier;
    return { path, text, imports: specifiers.map(placed), loads: loadedBy(text).map(placed) };
  });

/** Where decisions are made. World and http are where time and streams enter. */
export const isDeciding = (path: string): boolean =>
  (/^src\/(base|api|errors|rules)\//.test(path) ||
    /^src\/(components\/.*|node)\/(observe|phase|plan|judges)[^/]*\.ts$/.test(path) ||
    /^src\/cli\/migrate\/(definition|plan|preflight|status|unfinished)\.ts$/.test(path) ||
    /^src\/cli\/install\/([\w-]+-plan|judge|ownership|existing|crd-age|crd-phase|webhook-references|live-policy)\.ts$/.test(
      path,
    )) &&
  path !== "src/base/world.ts" &&
  path !== "src/base/http.ts";

/** These files, and all files that they load, however far away. */
export function reachedFrom(files: readonly Source[]): readonly Source[] {
  const byPath = new Map(sources.map((file) => [file.path, file]));
  const reached = new Set(files);
  for (const file of reached)
    for (const path of file.loads) {
      const next = byPath.get(path);
      if (next !== undefined) reached.add(next);
    }
  return [...reached];
}

export const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
