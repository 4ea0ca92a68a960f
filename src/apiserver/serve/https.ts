/** The embedded server over HTTPS: its identity, its tokens, compressed answers, and the file that lets clients in. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Fault } from "../../base/fault.ts";
import { fsErrorText } from "../../base/fs-errors.ts";
import type { Handler } from "../../base/http.ts";
import { limits } from "../../base/limits.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import { createAuthority } from "../../runtime/certificates.ts";
import { overHttps } from "../../runtime/serve.ts";
import type { User } from "../contracts.ts";
import { administrator, parseTokens } from "../rbac/tokens.ts";
import type { AssembledServer, Authenticate } from "../server.ts";
import { gzipped } from "./compress.ts";
import { kubeconfigEntry, kubeconfigText } from "./kubeconfig.ts";

export interface HttpsOptions {
  readonly world: World;
  readonly log: Log;
  /** Empty: every address of the machine. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** More users, in the format of kube-apiserver's --token-auth-file; empty for none. */
  readonly tokenFile: string;
}

export interface ServedApi {
  readonly url: string;
  /** A whole file for the administrator. */
  readonly kubeconfig: string;
  /** The same as entries for a file that has others. */
  readonly kubeconfigEntry: ReturnType<typeof kubeconfigEntry>;
  /** The administrator's token. */
  readonly token: string;
  close(): Promise<void>;
}

const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
/** A body above the API's own bound must still arrive, to be refused in the API's own words. */
const arrivingBytesMax = 2 * limits.requestBytesMax;

/** No token: nobody in particular, who may do what everybody may. A token we do not know: refused. */
function authenticatorFor(users: ReadonlyMap<string, User>): Authenticate {
  return ({ headers }) => {
    const { authorization } = headers;
    if (authorization === undefined || authorization === "") return anonymous;
    const [, token = ""] = /^bearer\s+(\S+)\s*$/i.exec(authorization) ?? [];
    return users.get(token);
  };
}

async function usersIn(path: string): Promise<ReadonlyMap<string, User>> {
  if (path === "") return new Map();
  try {
    return parseTokens(await readFile(path, "utf8"));
  } catch (reason) {
    if (reason instanceof Fault) throw reason;
    throw new Fault(
      "InvalidArgument",
      `cannot read the token file ${path}: ${fsErrorText(reason)}; check --token-auth-file`,
      {
        cause: reason,
      },
    );
  }
}

/** What the server answers to: this machine's own names, those pods use, and the address it was told to listen on. */
function namesOf(host: string): { readonly dnsNames: readonly string[]; readonly ipv4: readonly string[] } {
  const isAddress = /^\d+(\.\d+){3}$/.test(host);
  return {
    dnsNames: ["localhost", "kubernetes", "kubernetes.default.svc", ...(host === "" || isAddress ? [] : [host])],
    ipv4: [...new Set(["127.0.0.1", ...(isAddress ? [host] : [])])],
  };
}

export async function serveOverHttps(
  api: Pick<AssembledServer, "handlerFor">,
  options: HttpsOptions,
): Promise<ServedApi> {
  const { world, log, host, port } = options;
  // Whoever guesses it is master of the cluster: no dice that could be foreseen.
  const token = randomBytes(16).toString("hex");
  const users = new Map([...(await usersIn(options.tokenFile)), [token, administrator] as const]);
  const authority = createAuthority("snapkeep-apiserver-ca", world.now());
  const { certificate, key } = authority.issue({ commonName: "snapkeep-apiserver", ...namesOf(host) });
  const answer = api.handlerFor(authenticatorFor(users));
  const handler: Handler = async (request) => gzipped(request, await answer(request));
  const listening = await overHttps(
    handler,
    { cert: certificate, key },
    {
      address: { host: host === "" ? undefined : host, port },
      log,
      world,
      requestBytesMax: arrivingBytesMax,
    },
  );
  const facts = { server: listening.url, authority: authority.certificate, token };
  return {
    url: listening.url,
    kubeconfig: kubeconfigText(facts),
    kubeconfigEntry: kubeconfigEntry(facts),
    token,
    close: () => listening.close(),
  };
}
