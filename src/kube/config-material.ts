/** Certificates, keys and tokens: from base64 in the file or from files of their own, checked before they are used. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { type ConfigLocation, configError, type Section } from "./config-location.ts";

export interface Material {
  /** The text as it is now. */
  current(): Promise<string>;
  /** Look again at the next `current`, however fresh the last look was. */
  expire(): void;
  readonly spot: ConfigLocation;
}

/** Throws a complaint when the text is of no use. */
export type MaterialCheck = (text: string, spot: ConfigLocation) => void;

type Clock = Pick<World, "elapsed">;

/**
 * A file that is replaced while we run. It is read again when the last look is old; what cannot be read or used any more
 * leaves the last good text in place, because a file is sometimes half written, and an old token is better than none.
 */
export function createFileMaterial(path: string, spot: ConfigLocation, clock: Clock, check: MaterialCheck): Material {
  let good: string | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  const load = async (): Promise<string> => {
    try {
      const text = await readText(path, spot);
      check(text, spot);
      good = text;
    } catch (reason) {
      if (good === undefined) throw reason;
    }
    freshUntil = clock.elapsed() + limits.credentialFileMsMax;
    return good;
  };
  return {
    current: async () => (good !== undefined && clock.elapsed() < freshUntil ? good : load()),
    expire: () => {
      freshUntil = Number.NEGATIVE_INFINITY;
    },
    spot,
  };
}

async function readText(path: string, spot: ConfigLocation): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (reason) {
    const problem = path === spot.file ? problemOf(reason) : `${path}: ${problemOf(reason)}`;
    throw configError(spot, problem, "correct the path or restore the file");
  }
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "not readable by this user",
  EISDIR: "a folder, not a file",
  ENOTDIR: "a part of the path is not a folder",
};
export const problemOf = (reason: unknown): string => {
  const code = (reason as NodeJS.ErrnoException).code ?? "unknown error";
  return problems[code] ?? `cannot be read (${code})`;
};

const fixed = (text: string, spot: ConfigLocation): Material => ({
  current: async () => text,
  expire: () => undefined,
  spot,
});

/** `name-data` (base64) if there is one, else the file that `name` gives, relative to the kubeconfig. */
export function materialIn(section: Section, name: string, clock: Clock, check: MaterialCheck): Material | undefined {
  const inline = section.text(`${name}-data`);
  if (inline !== undefined) {
    const spot = section.at(`${name}-data`);
    const text = decoded(inline, spot);
    check(text, spot);
    return fixed(text, spot);
  }
  const path = section.text(name);
  return path === undefined
    ? undefined
    : createFileMaterial(besideFile(section.spot, path), section.at(name), clock, check);
}

export const besideFile = ({ file }: ConfigLocation, path: string): string => resolve(dirname(file), path);

function decoded(base64: string, spot: ConfigLocation): string {
  const compact = base64.replace(/\s/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(compact))
    throw configError(spot, "is not base64", "encode the PEM file with `base64 -w0`");
  return Buffer.from(compact, "base64").toString("utf8");
}

export const checkCertificates: MaterialCheck = (text, spot) => {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw configError(spot, "holds no PEM certificate", "expected -----BEGIN CERTIFICATE-----");
  for (const block of blocks)
    try {
      new X509Certificate(block);
    } catch {
      throw configError(spot, "holds a certificate that cannot be read", "copy the PEM text again, whole");
    }
};

export const checkKey: MaterialCheck = (text, spot) => {
  try {
    createPrivateKey(text);
  } catch {
    throw configError(spot, "holds no private key that can be read", "expected an unencrypted PEM private key");
  }
};

export const checkToken: MaterialCheck = (text, spot) => {
  if (text.trim() === "") throw configError(spot, "holds no token", "write the bearer token into it");
  // The header would be refused by Node with a message of its own; this one names the place.
  if (!/^[\x21-\x7e]+$/.test(text.trim()))
    throw configError(spot, "holds more than one word", "a token is one word without spaces");
};
