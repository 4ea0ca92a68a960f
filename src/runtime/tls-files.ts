/**
 * A server's certificate and key, and the authority of its clients, from files that somebody renews: cert-manager, or the kubelet for a
 * mounted Secret. They are looked at again every few seconds. A pair that does not fit together (one file is already new, the other is not) or
 * cannot be read is skipped, and the one in use goes on.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { TlsIdentity } from "./serve.ts";

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Empty or absent: clients need no certificate. */
  readonly clientCaFile?: string;
}

const lookEveryMs = 10_000;

export async function readTlsFiles({ certFile, keyFile, clientCaFile = "" }: TlsFiles): Promise<TlsIdentity> {
  // One after the other: when both are missing, which one is named must not depend on the disk.
  const cert = await readPem(`the certificate ${certFile}`, certFile);
  const key = await readPem(`the private key ${keyFile}`, keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (reason) {
    const why = reason instanceof Error ? reason.message : String(reason);
    throw new Fault(
      "InvalidArgument",
      `${certFile} and ${keyFile} are not a certificate and its key (${why}); give a matching pair in PEM`,
    );
  }
  return clientCaFile === "" ? { cert, key } : { cert, key, clientCa: await readClientCa(clientCaFile) };
}

async function readClientCa(file: string): Promise<string> {
  const text = await readPem(`--client-ca-file ${file}`, file);
  if (isCertificate(text)) return text;
  throw new Fault(
    "InvalidArgument",
    `--client-ca-file ${file} holds no certificate; give the authority's certificate in PEM`,
  );
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).publicKey !== undefined;
  } catch {
    return false;
  }
}

const readPem = (what: string, file: string): Promise<string> =>
  readFile(file, "utf8").catch((reason: NodeJS.ErrnoException) => {
    throw new Fault("InvalidArgument", `${what} cannot be read (${reason.code}); mount it or correct the path`);
  });

export interface RenewalOptions {
  readonly files: TlsFiles;
  readonly current: TlsIdentity;
  readonly world: Pick<World, "sleep">;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly everyMs?: Millis;
  apply(identity: TlsIdentity): void;
}

/** Until the signal aborts. */
export async function followTlsFiles({
  files,
  current,
  world,
  log,
  signal,
  everyMs = lookEveryMs,
  apply,
}: RenewalOptions): Promise<void> {
  let inUse = current;
  let problem: string | undefined;
  const look = async (): Promise<void> => {
    try {
      const found = await readTlsFiles(files);
      problem = undefined;
      const hasNewCa = found.clientCa !== inUse.clientCa;
      const hasNewPair = found.cert !== inUse.cert || found.key !== inUse.key;
      if (!hasNewPair && !hasNewCa) return;
      apply(found);
      inUse = found;
      if (hasNewPair) log.info("certificate renewed", { file: files.certFile });
      if (hasNewCa) log.info("authority of client certificates renewed", { file: files.clientCaFile });
    } catch (reason) {
      const { message } = Fault.from(reason);
      if (message !== problem) log.warn("certificate cannot be renewed, the old one stays", { reason: message });
      problem = message;
    }
  };
  while (!signal.aborted) await world.sleep(everyMs, signal).then(look, () => undefined);
}
