/** The certificates as files of a folder. Keys can be read by their owner alone. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CertificateSet, KeyPair } from "./issue.ts";

const names = { authority: ["ca.crt", "ca.key"], serving: ["tls.crt", "tls.key"] } as const;
const keyMode = 0o600;
const certificateMode = 0o644;

const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").catch((reason: NodeJS.ErrnoException) => {
    if (reason.code === "ENOENT") return undefined;
    throw reason;
  });

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
  await mkdir(folder, { recursive: true });
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
  await writeFile(`${path}.new`, text, { mode });
  await rename(`${path}.new`, path);
}
