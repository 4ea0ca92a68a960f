/** Inside a pod: the server from the environment, token and authority from the service account's folder. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { World } from "../base/world.ts";
import { configError } from "./config-location.ts";
import { checkCertificates, checkToken, createFileMaterial } from "./config-material.ts";
import { bearerHeader, type Environment, type Target } from "./target.ts";

export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Undefined outside of a cluster. */
export async function readInCluster(
  environment: Environment,
  world: World,
  folder: string,
): Promise<Target | undefined> {
  const [host, port] = [environment.KUBERNETES_SERVICE_HOST, environment.KUBERNETES_SERVICE_PORT];
  if (host === undefined || host === "" || port === undefined || port === "") return undefined;
  const server = URL.parse(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const variables = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT";
  if (server === null)
    throw configError(
      { file: "environment", field: variables },
      `${host}:${port} is no address`,
      "leave them to the kubelet",
    );

  // Read again while we run: the kubelet renews the token every hour, and authorities are rotated.
  const file = (name: string) => ({ path: join(folder, name), spot: { file: join(folder, name), field: "" } });
  const [ca, bearer] = [file("ca.crt"), file("token")];
  const authority = createFileMaterial(ca.path, ca.spot, world, checkCertificates);
  const token = createFileMaterial(bearer.path, bearer.spot, world, checkToken);
  await Promise.all([authority.current(), token.current()]);
  return {
    server,
    namespace: await namespaceIn(folder),
    insecure: false,
    authority: () => authority.current(),
    credentials: {
      current: async () => ({ headers: bearerHeader(await token.current()) }),
      refused: () => token.expire(),
      origin: bearer.path,
    },
    origin: { server: variables, authority: ca.path },
  };
}

/** The namespace that the pod's service account belongs to; `default` outside of a pod. */
export const namespaceIn = (folder: string): Promise<string> =>
  readFile(join(folder, "namespace"), "utf8").then(
    (text) => text.trim() || "default",
    () => "default",
  );
