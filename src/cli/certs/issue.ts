/** A certificate authority and a serving certificate for the webhook, or a new serving certificate by an authority that is kept. */
import "reflect-metadata";
import { createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import {
  BasicConstraintsExtension,
  X509Certificate as Certificate,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";

/** As PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateSet {
  readonly authority: KeyPair;
  readonly serving: KeyPair;
  /** The certificate of the authority before: trusted as well, until every pod serves what the new one has signed. */
  readonly previousAuthority?: string | undefined;
}

export interface IssueOptions {
  readonly dnsNames: readonly string[];
  readonly nowMs: Millis;
  readonly validMs: Millis;
  readonly authorityValidMs: Millis;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** Clocks of API servers and of this machine differ. */
const backdatedMs = 3_600_000;
cryptoProvider.set(webcrypto as never);

export async function newAuthority({ nowMs, authorityValidMs }: IssueOptions): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=snapkeep webhook authority",
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(nowMs + authorityValidMs),
    signingAlgorithm: algorithm,
    keys: keys as never,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, key: await pemOf(keys.privateKey) };
}

export async function issueServing(authority: KeyPair, options: IssueOptions): Promise<KeyPair> {
  const { dnsNames, nowMs, validMs } = options;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const issuer = new Certificate(authority.certificate);
  const notAfter = new Date(Math.min(nowMs + validMs, issuer.notAfter.getTime()));
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${dnsNames[0]?.slice(0, 64)}`,
    issuer: issuer.subject,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter,
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey as never,
    signingKey: (await signingKeyOf(authority)) as never,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: "dns", value }))),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, key: await pemOf(keys.privateKey) };
}

async function signingKeyOf({ key }: KeyPair) {
  try {
    const der = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
    return await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  } catch (reason) {
    throw new Fault(
      "InvalidArgument",
      `the key of the certificate authority cannot be used (${Fault.from(reason).message}); it must be an EC key of curve P-256 in PEM`,
    );
  }
}

const pemOf = async (key: webcrypto.CryptoKey): Promise<string> => {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
};

export interface Shortcoming {
  readonly part: "authority" | "serving";
  readonly why: string;
}

/** Why existing certificates must be renewed; undefined when they are valid long enough. */
export function shortcomingOf(
  { authority, serving }: Partial<CertificateSet>,
  { dnsNames, nowMs, renewBeforeMs }: Pick<IssueOptions, "dnsNames" | "nowMs"> & { readonly renewBeforeMs: Millis },
): Shortcoming | undefined {
  const expiring = (pair: KeyPair | undefined): string | undefined => {
    if (pair === undefined) return "there is none";
    const endsMs = Date.parse(new X509Certificate(pair.certificate).validTo);
    return endsMs - nowMs > renewBeforeMs ? undefined : `it expires on ${new Date(endsMs).toISOString()}`;
  };
  const old = expiring(authority);
  if (old !== undefined) return { part: "authority", why: old };
  const expires = expiring(serving);
  if (expires !== undefined || serving === undefined) return { part: "serving", why: expires ?? "there is none" };
  const found = new X509Certificate(serving.certificate);
  if (!found.verify(new X509Certificate(authority?.certificate ?? "").publicKey))
    return { part: "serving", why: "another authority signed it" };
  const missing = dnsNames.find((name) => found.checkHost(name) === undefined);
  return missing === undefined ? undefined : { part: "serving", why: `it is not for ${missing}` };
}
