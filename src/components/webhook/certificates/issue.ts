/** A certificate authority and a serving certificate for the webhook, or a new serving certificate by an authority that is kept. */
import "reflect-metadata";
import { createPrivateKey, webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
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
import type { Millis } from "../../../base/brand.ts";
import { Fault } from "../../../base/fault.ts";

/** As PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateSet {
  readonly authority: KeyPair;
  readonly serving: KeyPair;
}

export interface IssueOptions {
  readonly dnsNames: readonly string[];
  readonly nowMs: Millis;
  readonly validMs: Millis;
  readonly authorityValidMs: Millis;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** Helm makes authorities with RSA keys. */
const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;
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
  // All authorities have one name: without it, OpenSSL would take the first of a caBundle for the issuer.
  const issuerKey = issuer.getExtension(SubjectKeyIdentifierExtension)?.keyId;
  const notAfter = new Date(Math.min(nowMs + validMs, issuer.notAfter.getTime()));
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${dnsNames[0]?.slice(0, 64)}`,
    issuer: issuer.subject,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter,
    ...(await signerOf(authority)),
    publicKey: keys.publicKey as never,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: "dns", value }))),
      ...(issuerKey === undefined ? [] : [new AuthorityKeyIdentifierExtension(issuerKey)]),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, key: await pemOf(keys.privateKey) };
}

async function signerOf({ key }: KeyPair) {
  try {
    const parsed = createPrivateKey(key);
    const signingAlgorithm = parsed.asymmetricKeyType === "rsa" ? rsa : algorithm;
    const der = parsed.export({ type: "pkcs8", format: "der" });
    const signingKey = await webcrypto.subtle.importKey("pkcs8", der, signingAlgorithm, false, ["sign"]);
    return { signingAlgorithm, signingKey: signingKey as never };
  } catch (reason) {
    throw new Fault(
      "InvalidArgument",
      `the key of the certificate authority cannot be used (${Fault.from(reason).message}); it must be an RSA key, or an EC key of curve P-256, in PEM`,
    );
  }
}

const pemOf = async (key: webcrypto.CryptoKey): Promise<string> => {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
};
