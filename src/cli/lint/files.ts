/** Finds the files to lint: named ones, those of a folder, standard input, and the old ones of a folder or a git revision. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { Fault } from "../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../base/fs-errors.ts";
import type { FileToLint } from "./manifests.ts";

const isManifest = (path: string): boolean => /\.(ya?ml|json)$/i.test(path);
const skipped: ReadonlySet<string> = new Set(["node_modules", ".git"]);
const gitBytesMax = 256 * 2 ** 20;
/** One file may be this large. The parser needs some fifty times as much memory. */
const fileBytesMax = 32 * 2 ** 20;

/** Told of the templates of a Helm chart, which are no manifests before Helm has rendered them. */
export type LeftOut = (chart: string) => void;

export async function filesAt(
  paths: readonly string[],
  stdin: () => Promise<string>,
  leftOut: LeftOut = () => undefined,
): Promise<readonly FileToLint[]> {
  const found: FileToLint[] = [];
  for (const path of paths) {
    if (path === "-") found.push({ path, text: await stdin() });
    else for (const file of await filesUnder(path, leftOut)) found.push(await manifestAt(file));
  }
  return found;
}

/** What cannot be read is reported like any other mistake in a file, so that the rest is judged. */
const manifestAt = (path: string): Promise<FileToLint> =>
  readPlainFile(path).then(
    (text) => ({ path, text }),
    (reason: unknown) => ({
      path,
      text: "",
      problem: `cannot be read: ${reason instanceof Fault ? reason.message : fsErrorText(reason)}`,
    }),
  );

/** What the shell passes for <(command): a pipe that is open already and ends with the command. */
const isPassedPipe = (path: string): boolean => /^\/(dev|proc\/self)\/fd\/\d+$/.test(path);

/** Opening a pipe without a writer would wait for ever, and a device may never end. */
async function readPlainFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (isPassedPipe(path) ? 0 : constants.O_NONBLOCK));
  try {
    const found = await file.stat();
    if (!found.isFile() && !(found.isFIFO() && isPassedPipe(path)))
      throw new Fault(
        "InvalidArgument",
        "it is not a regular file; pass what comes from a pipe as standard input, with -",
      );
    if (found.size > fileBytesMax)
      throw new Fault("InvalidArgument", `it has ${found.size} bytes, and at most ${fileBytesMax} are read; split it`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

async function filesUnder(path: string, leftOut: LeftOut): Promise<readonly string[]> {
  const info = await stat(path).catch((reason: unknown) => {
    throw new Fault(
      "InvalidArgument",
      `${path} cannot be read (${errorCodeOf(reason)}); name a file, a folder, or - for standard input`,
    );
  });
  return info.isDirectory() ? filesOfFolder(path, leftOut) : [path];
}

async function filesOfFolder(path: string, leftOut: LeftOut): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((reason: unknown) => {
    throw new Fault("InvalidArgument", `the folder ${path} cannot be read: ${fsErrorText(reason)}`);
  });
  const isChart = entries.some((entry) => entry.name === "Chart.yaml" && entry.isFile());
  const nested = entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(async (entry) => {
      if (isChart && entry.name === "templates" && entry.isDirectory()) {
        leftOut(path);
        return [];
      }
      if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesOfFolder(join(path, entry.name), leftOut);
      return isManifest(entry.name) ? [join(path, entry.name)] : [];
    });
  return (await Promise.all(nested)).flat();
}

/** A folder of that name, else a revision of the git repository that holds the linted files. */
export async function oldFiles(old: string, paths: readonly string[]): Promise<readonly FileToLint[]> {
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

async function filesOfRevision(revision: string, paths: readonly string[]): Promise<readonly FileToLint[]> {
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
