/** Who a user of the kubeconfig is: a certificate, a token, a password, or what a plugin says. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { ContextDeps } from "./config-context.ts";
import { createExecCredentials } from "./config-exec.ts";
import { type ConfigLocation, configError, describeLocation, type Section } from "./config-location.ts";
import {
  besideFile,
  checkCertificates,
  checkKey,
  checkToken,
  createFileMaterial,
  type Material,
  materialIn,
} from "./config-material.ts";
import { bearerHeader, type Credential, type Credentials } from "./target.ts";

/** Undefined when the user has nothing to show. Everything that lies in files is read once here, so mistakes show at the start. */
export async function credentialsOf(
  user: Section | undefined,
  cluster: Section,
  deps: ContextDeps,
): Promise<Credentials | undefined> {
  if (user === undefined) return undefined;
  refuseOldWays(user);
  const exec = user.section("exec");
  const pair = await certificatePair(user, deps);
  const bearer = exec === undefined ? await bearerOf(user, deps) : undefined;
  const inner = exec === undefined ? ownCredentials(user, pair, bearer) : createExecCredentials(exec, cluster, deps);
  const more = impersonation(user);
  if (Object.keys(more).length === 0) return inner;
  return { ...inner, current: async () => withHeaders(await inner.current(), more) };
}

const withHeaders = (credential: Credential, headers: Credential["headers"]): Credential => ({
  ...credential,
  headers: { ...credential.headers, ...headers },
});

function refuseOldWays(user: Section): void {
  if (user.section("auth-provider") !== undefined)
    throw configError(
      user.at("auth-provider"),
      "Kubernetes gave this up in 1.26",
      "use exec with the provider's plugin",
    );
  const own = ["token", "tokenFile", "client-certificate", "client-certificate-data", "password"];
  const beside = own.find((name) => user.text(name) !== undefined);
  if (user.section("exec") !== undefined && beside !== undefined)
    throw configError(user.at("exec"), `stands beside ${beside}`, "keep one of them");
}

interface Pair {
  /** Always two that belong together. */
  current(): Promise<Required<Pick<Credential, "certificate" | "key">>>;
  expire(): void;
  readonly spot: ConfigLocation;
}

async function certificatePair(user: Section, { world }: ContextDeps): Promise<Pair | undefined> {
  const certificate = materialIn(user, "client-certificate", world, checkCertificates);
  const key = materialIn(user, "client-key", world, checkKey);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    const [there, absent] =
      key === undefined ? ["client-certificate", "client-key"] : ["client-key", "client-certificate"];
    throw configError(user.at(absent), `is missing beside ${there}`, `add ${absent} or ${absent}-data`);
  }
  const read = async () => ({ certificate: await certificate.current(), key: await key.current() });
  const expire = (): void => {
    certificate.expire();
    key.expire();
  };
  let good = await read();
  if (!fits(good))
    throw configError(key.spot, "belongs to another certificate", "give the key the certificate was made with");
  const current = async () => {
    const found = await read();
    if (found.certificate === good.certificate && found.key === good.key) return good;
    // Two files are never renewed at once. With one of each no connection can be made, not even to renew a lease.
    if (fits(found)) good = found;
    else expire();
    return good;
  };
  return { current, expire, spot: certificate.spot };
}

const fits = ({ certificate, key }: { readonly certificate: string; readonly key: string }): boolean =>
  new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));

/** A token file wins over a token beside it, as everywhere in Kubernetes. */
async function bearerOf(user: Section, { world }: ContextDeps): Promise<Material | undefined> {
  const path = user.text("tokenFile");
  if (path !== undefined) {
    const file = createFileMaterial(besideFile(user.spot, path), user.at("tokenFile"), world, checkToken);
    await file.current();
    return file;
  }
  const token = user.text("token");
  if (token === undefined) return undefined;
  checkToken(token, user.at("token"));
  return { current: async () => token, expire: () => undefined, spot: user.at("token") };
}

function ownCredentials(user: Section, pair: Pair | undefined, bearer: Material | undefined): Credentials {
  const basic = basicOf(user);
  const spot = bearer?.spot ?? (basic === undefined ? pair?.spot : user.at("password")) ?? user.spot;
  return {
    current: async () => ({
      headers: bearer === undefined ? (basic ?? {}) : bearerHeader(await bearer.current()),
      certificate: undefined,
      key: undefined,
      ...(await pair?.current()),
    }),
    refused: () => {
      bearer?.expire();
      pair?.expire();
    },
    origin: describeLocation(spot),
  };
}

function basicOf(user: Section): Credential["headers"] | undefined {
  const [name, password] = [user.text("username"), user.text("password")];
  if (name === undefined && password === undefined) return undefined;
  if (name === undefined || password === undefined)
    throw configError(user.at(name === undefined ? "username" : "password"), "is missing", "give both or neither");
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` };
}

/** To drop these silently would be to act with more rights than the file grants. */
function impersonation(user: Section): Credential["headers"] {
  const [as, uid, groups] = [user.text("as"), user.text("as-uid"), user.list("as-groups").map(String)];
  const extra = user.section("as-user-extra");
  if (as === undefined && (uid !== undefined || groups.length > 0 || extra !== undefined))
    throw configError(user.at("as"), "is missing beside other as- fields", "name the user to act as");
  if (extra !== undefined) throw configError(extra.spot, "is not supported", "remove it or use a user of its own");
  return {
    ...(as === undefined ? {} : { "impersonate-user": as }),
    ...(uid === undefined ? {} : { "impersonate-uid": uid }),
    ...(groups.length === 0 ? {} : { "impersonate-group": groups }),
  };
}
