/** Finds the files to lint: named ones, those of a folder, standard input, and the old ones of a folder or a git revision. */
import { execFile } from "node:child_process";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { Fault } from "../../base/fault.ts";
import type { ManifestFile } from "./manifests.ts";

const isManifest = (path: string): boolean => /\.(ya?ml|json)$/i.test(path);
const skipped: ReadonlySet<string> = new Set(["node_modules", ".git"]);
const gitBytesMax = 256 * 2 ** 20;

export async function filesAt(
  paths: readonly string[],
  stdin: () => Promise<string>,
): Promise<readonly ManifestFile[]> {
  const found: ManifestFile[] = [];
  for (const path of paths) {
    if (path === "-") found.push({ path, text: await stdin() });
    else for (const file of await filesUnder(path)) found.push({ path: file, text: await readFile(file, "utf8") });
  }
  return found;
}

async function filesUnder(path: string): Promise<readonly string[]> {
  const info = await stat(path).catch((reason: NodeJS.ErrnoException) => {
    throw new Fault(
      "InvalidArgument",
      `${path} cannot be read (${reason.code}); name a file, a folder, or - for standard input`,
    );
  });
  if (!info.isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const nested = entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(async (entry) => {
      if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesUnder(join(path, entry.name));
      return isManifest(entry.name) ? [join(path, entry.name)] : [];
    });
  return (await Promise.all(nested)).flat();
}

/** A folder of that name, else a revision of the git repository that holds the linted files. */
export async function oldFiles(old: string, paths: readonly string[]): Promise<readonly ManifestFile[]> {
  if (old === "") return [];
  const isFolder = await stat(old).then(
    (info) => info.isDirectory(),
    () => false,
  );
  return isFolder
    ? filesAt([old], async () => "")
    : filesOfRevision(
        old,
        paths.filter((path) => path !== "-"),
      );
}

async function filesOfRevision(revision: string, paths: readonly string[]): Promise<readonly ManifestFile[]> {
  // A revision that looks like an option would be read as one.
  if (revision.startsWith("-")) throw unknownRevision(revision, "it begins with a dash");
  const [first = "."] = paths;
  const folder = (await stat(first)).isDirectory() ? first : dirname(first);
  const top = (await git(["-C", folder, "rev-parse", "--show-toplevel"], revision)).trim();
  const wanted = await Promise.all(paths.map(async (path) => relative(top, await realpath(resolve(path))) || "."));
  const listed = await git(["-C", top, "ls-tree", "-r", "-z", "--name-only", revision, "--", ...wanted], revision);
  const files = listed.split("\0").filter((path) => path !== "" && isManifest(path));
  return Promise.all(
    files.map(async (path) => ({ path, text: await git(["-C", top, "show", `${revision}:${path}`], revision) })),
  );
}

const git = async (args: readonly string[], revision: string): Promise<string> => {
  try {
    return (await promisify(execFile)("git", args, { maxBuffer: gitBytesMax })).stdout;
  } catch (reason) {
    throw unknownRevision(revision, String((reason as { stderr?: string }).stderr ?? reason).split("\n", 1)[0] ?? "");
  }
};

const unknownRevision = (revision: string, why: string): Fault =>
  new Fault(
    "InvalidArgument",
    `--old ${JSON.stringify(revision)} is neither a folder nor a git revision (${why}); for example --old=main`,
  );
