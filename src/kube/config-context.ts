/** From a context's name to a server and credentials. */
import type { World } from "../base/world.ts";
import type { Kubeconfig } from "./config-file.ts";
import { type ConfigLocation, configError, describeLocation, type Section } from "./config-location.ts";
import { checkCertificates, materialIn } from "./config-material.ts";
import { credentialsOf } from "./config-user.ts";
import { proxyOf } from "./proxy.ts";
import type { Credentials, Environment, Target } from "./target.ts";

export interface ContextDeps {
  readonly world: World;
  readonly environment: Environment;
}

export async function resolveContext(
  config: Kubeconfig,
  wanted: string | undefined,
  deps: ContextDeps,
): Promise<Target> {
  const context = chosenContext(config, wanted);
  const cluster = referred(context, "cluster", config.clusters);
  const userName = context.text("user");
  const user = userName === undefined ? undefined : referred(context, "user", config.users);
  const target = { ...clusterOf(cluster, deps.world), namespace: context.text("namespace") ?? "default" };
  await target.authority();
  const credentials = await credentialsOf(user, cluster, deps);
  return { ...target, credentials: credentials ?? anonymous(context.at("user")) };
}

function chosenContext({ contexts, currentContext, files }: Kubeconfig, wanted: string | undefined): Section {
  const name = wanted ?? currentContext;
  const spot: ConfigLocation = { file: files.join(":"), field: wanted === undefined ? "current-context" : "contexts" };
  if (name === undefined)
    throw configError(spot, "is not set", `set it or give --context; ${knownOf(contexts, "contexts")}`);
  const context = contexts.get(name);
  if (context === undefined) throw configError(spot, `no context "${name}"`, knownOf(contexts, "contexts"));
  return context;
}

function referred(context: Section, kind: "cluster" | "user", entries: ReadonlyMap<string, Section>): Section {
  const name = context.text(kind);
  if (name === undefined)
    throw configError(context.at(kind), "is missing", `name one of ${kind}s; ${knownOf(entries, `${kind}s`)}`);
  const entry = entries.get(name);
  if (entry === undefined)
    throw configError(context.at(kind), `no ${kind} "${name}" in ${kind}s`, knownOf(entries, `${kind}s`));
  return entry;
}

const knownOf = (entries: ReadonlyMap<string, unknown>, plural: string): string =>
  entries.size === 0 ? `the file has no ${plural}` : `known ${plural}: ${[...entries.keys()].sort().join(", ")}`;

function clusterOf(cluster: Section, world: World): Omit<Target, "credentials" | "namespace"> {
  const insecure = cluster.flag("insecure-skip-tls-verify");
  const authority = materialIn(cluster, "certificate-authority", world, checkCertificates);
  const proxy = cluster.text("proxy-url");
  if (insecure && authority !== undefined)
    throw configError(
      cluster.at("insecure-skip-tls-verify"),
      "contradicts the authority given beside it",
      "keep one of them",
    );
  return {
    server: serverOf(cluster),
    proxy: proxy === undefined ? undefined : proxyOf(proxy, cluster.at("proxy-url")),
    serverName: cluster.text("tls-server-name"),
    insecure,
    authority: async () => authority?.current(),
    origin: {
      server: describeLocation(cluster.at("server")),
      authority: describeLocation(authority?.spot ?? cluster.at("certificate-authority")),
    },
  };
}

function serverOf(cluster: Section): URL {
  const text = cluster.text("server");
  const spot = cluster.at("server");
  const example = "write it as https://host:port";
  if (text === undefined) throw configError(spot, "is missing", example);
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw configError(spot, `"${text}" is no http or https address`, example);
  if (url.username !== "" || url.password !== "")
    throw configError(spot, "carries a user or password", "move them to users");
  return url;
}

const anonymous = (spot: ConfigLocation): Credentials => ({
  current: async () => ({ headers: {} }),
  refused: () => undefined,
  origin: `${describeLocation(spot)} (no user is set, so requests are anonymous)`,
});
