/** The certificates as files of a folder. Keys can be read by their owner alone. */
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Fault } from "../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../base/fs-errors.ts";
import type { CertificateSet, KeyPair } from "../../components/webhook/certificates/issue.ts";

const names = { authority: ["ca.crt", "ca.key"], serving: ["tls.crt", "tls.key"] } as const;
const keyMode = 0o600;
const certificateMode = 0o644;

const cannot = (done: "read" | "written", path: string, reason: unknown): Fault =>
  new Fault("InvalidArgument", `--out: ${path} cannot be ${done}: ${fsErrorText(reason)}; name another folder`);

const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").catch((reason: unknown) => {
    if (errorCodeOf(reason) === "ENOENT") return undefined;
    throw cannot("read", path, reason);
  });

/** Not by mkdir's own recursion, which never ends where a folder can be read and nothing can be made in it, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  const failed = await mkdir(path).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (failed === undefined || errorCodeOf(failed) === "EEXIST") return;
  const parent = dirname(path);
  const parentIsThere = await stat(parent).then(
    () => true,
    () => false,
  );
  if (errorCodeOf(failed) !== "ENOENT" || parentIsThere) throw cannot("written", path, failed);
  await makeFolder(parent);
  await mkdir(path).catch((reason: unknown) => {
    throw cannot("written", path, reason);
  });
}

export async function readFiles(folder: string): Promise<Partial<CertificateSet>> {
  const pair = async ([certificateFile, keyFile]: readonly [string, string]): Promise<KeyPair | undefined> => {
    const certificate = await readIfThere(join(folder, certificateFile));
    const key = await readIfThere(join(folder, keyFile));
    return certificate === undefined || key === undefined ? undefined : { certificate, key };
  };
  const [authority, serving] = [await pair(names.authority), await pair(names.serving)];
  return { ...(authority && { authority }), ...(serving && { serving }) };
}

/** Key first: a server that reads the files in between keeps its old pair, because the new ones do not fit yet. */
export async function writeFiles(folder: string, set: CertificateSet): Promise<readonly string[]> {
  await makeFolder(resolve(folder));
  const written: string[] = [];
  for (const part of ["authority", "serving"] as const) {
    const [certificateFile, keyFile] = names[part].map((name) => join(folder, name)) as [string, string];
    await replace(keyFile, set[part].key, keyMode);
    await replace(certificateFile, set[part].certificate, certificateMode);
    written.push(certificateFile, keyFile);
  }
  return written;
}

async function replace(path: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(`${path}.new`, text, { mode });
    await rename(`${path}.new`, path);
  } catch (reason) {
    throw cannot("written", path, reason);
  }
}
