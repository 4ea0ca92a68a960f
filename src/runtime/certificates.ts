/**
 * Just enough X.509 for a loopback server: one authority, and certificates it signed. Written as DER by hand, because Node
 * can sign but has no call that makes a certificate, and `openssl` is not on every machine. Both certificates of a server
 * take two milliseconds; loading a library for it would take a hundred, of the one second a server has to be ready.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { Millis } from "../base/brand.ts";

export interface KeyAndCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface Leaf {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Names and addresses a server answers to; none for a client. */
  readonly dnsNames?: readonly string[];
  readonly ipv4?: readonly string[];
  /** In days from now; negative makes one that has already run out. */
  readonly days?: number;
}

export interface Authority {
  readonly certificate: string;
  issue(leaf: Leaf): KeyAndCertificate;
}

/** `now`: what the clock says, in milliseconds since 1970. */
export function createAuthority(commonName: string, now: Millis): Authority {
  const own = newKeys();
  const name = distinguishedName(commonName, []);
  const issue = (subject: Buffer, key: KeyObject, days: number, extensions: readonly Buffer[]): string =>
    pem("CERTIFICATE", signed(own.privateKey, certificateBody({ issuer: name, subject, key, days, extensions, now })));
  return {
    certificate: issue(name, own.publicKey, authorityDays, [
      extension(oids.basicConstraints, sequence(der(0x01, Buffer.from([0xff]))), "critical"),
      extension(oids.keyUsage, keyUsage(keyUsages.certSign | keyUsages.digitalSignature), "critical"),
    ]),
    issue: (leaf) => {
      const keys = newKeys();
      const subject = distinguishedName(leaf.commonName, leaf.organizations ?? []);
      return {
        certificate: issue(subject, keys.publicKey, leaf.days ?? authorityDays, leafExtensions(leaf)),
        key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };
}

/** An elliptic curve pair: made in a millisecond, where RSA takes a tenth of a second. */
const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

const authorityDays = 365;

const oids = {
  commonName: [2, 5, 4, 3],
  organization: [2, 5, 4, 10],
  keyUsage: [2, 5, 29, 15],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  extendedKeyUsage: [2, 5, 29, 37],
  serverAuth: [1, 3, 6, 1, 5, 5, 7, 3, 1],
  clientAuth: [1, 3, 6, 1, 5, 5, 7, 3, 2],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
} as const;

/** Bits of the keyUsage extension, counted from the most significant one. */
const keyUsages = { digitalSignature: 0x80, certSign: 0x04 } as const;

function leafExtensions({ dnsNames = [], ipv4 = [] }: Leaf): Buffer[] {
  const names = [
    ...dnsNames.map((name) => der(0x82, Buffer.from(name))),
    ...ipv4.map((address) => der(0x87, Buffer.from(address.split(".").map(Number)))),
  ];
  const uses = names.length === 0 ? [oids.clientAuth] : [oids.serverAuth, oids.clientAuth];
  return [
    extension(oids.keyUsage, keyUsage(keyUsages.digitalSignature), "critical"),
    extension(oids.extendedKeyUsage, sequence(...uses.map(objectId))),
    ...(names.length === 0 ? [] : [extension(oids.subjectAltName, sequence(...names))]),
  ];
}

interface Body {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly key: KeyObject;
  readonly days: number;
  readonly extensions: readonly Buffer[];
  readonly now: Millis;
}

function certificateBody({ issuer, subject, key, days, extensions, now }: Body): Buffer {
  // An hour of grace backwards: clocks of containers and hosts differ. One that has run out began before it ended.
  const from = now + Math.min(days - 1, 0) * dayMs - dayMs / 24;
  return sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(serialNumber()),
    sequence(objectId(oids.ecdsaWithSha256)),
    issuer,
    sequence(time(from), time(now + days * dayMs)),
    subject,
    key.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
}

const dayMs = 86_400_000;

/** DER wants the shortest form: a number that begins with a zero byte would be refused, once in some hundred certificates. */
const serialNumber = (): Buffer => Buffer.concat([Buffer.of(1), randomBytes(15)]);

const signed = (key: KeyObject, body: Buffer): Buffer =>
  sequence(body, sequence(objectId(oids.ecdsaWithSha256)), bits(sign("sha256", body, key), 0));

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
/** A leading zero keeps the number positive. */
const integer = (value: Buffer): Buffer =>
  der(0x02, (value[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), value]) : value);
const bits = (value: Buffer, unused: number): Buffer => der(0x03, Buffer.concat([Buffer.of(unused), value]));

/** A named bit list is cut after its last set bit. */
const keyUsage = (mask: number): Buffer => bits(Buffer.of(mask), Math.log2(mask & -mask));

const extension = (id: readonly number[], value: Buffer, critical?: "critical"): Buffer =>
  sequence(objectId(id), ...(critical === undefined ? [] : [der(0x01, Buffer.from([0xff]))]), der(0x04, value));

function objectId([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = rest.flatMap((part) => {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const part = (id: readonly number[], text: string) => der(0x31, sequence(objectId(id), der(0x0c, Buffer.from(text))));
  return sequence(...organizations.map((text) => part(oids.organization, text)), part(oids.commonName, commonName));
}

/** UTCTime: YYMMDDhhmmssZ. */
const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));

const pem = (label: string, content: Buffer): string =>
  `-----BEGIN ${label}-----\n${content.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;
