/** Certificates for tests: those of the product, dated by the real clock. */
import { generateKeyPairSync } from "node:crypto";
import { type Authority, createAuthority as createAuthorityAt } from "../../../src/runtime/certificates.ts";

export type { Authority } from "../../../src/runtime/certificates.ts";

export const createAuthority = (commonName: string): Authority => createAuthorityAt(commonName, Date.now());

/** An elliptic curve pair: made in a millisecond, where RSA takes a tenth of a second. */
export const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
