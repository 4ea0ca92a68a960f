/** Which proxy stands between us and the server, by the variables and rules that all Go programs follow. */
import { BlockList, isIP } from "node:net";
import { type ConfigLocation, configError, describeLocation } from "./config-location.ts";
import type { Environment, HttpProxy } from "./target.ts";

/** The proxy that the environment names for this server; undefined: there is none, or NO_PROXY excepts the server. */
export function proxyInEnvironment(server: URL, environment: Environment): HttpProxy | undefined {
  const names = server.protocol === "https:" ? ["HTTPS_PROXY", "https_proxy"] : ["HTTP_PROXY", "http_proxy"];
  const name = names.find((candidate) => environment[candidate]);
  const text = name === undefined ? undefined : environment[name];
  if (name === undefined || text === undefined) return undefined;
  if (!isProxied(server, environment.NO_PROXY || environment.no_proxy || "")) return undefined;
  return proxyOf(text.includes("://") ? text : `http://${text}`, { file: "environment", field: name });
}

/** The text is never quoted: it may hold a password. */
export function proxyOf(text: string, spot: ConfigLocation): HttpProxy {
  const url = URL.parse(text);
  if (url === null || url.hostname === "")
    throw configError(spot, "is no address of a proxy", "write it as http://host:port");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw configError(
      spot,
      `proxies of ${url.protocol}// are not supported`,
      "name one that is spoken to by http:// or https://",
    );
  return { url, authorization: authorizationOf(url, spot), origin: describeLocation(spot) };
}

function authorizationOf({ username, password }: URL, spot: ConfigLocation): string | undefined {
  if (username === "" && password === "") return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair).toString("base64")}`;
  } catch {
    throw configError(spot, "has a user or password that is not percent-encoded", "write % as %25");
  }
}

/** Whether none of NO_PROXY's entries is for this server; the own machine never is for a proxy. */
export function isProxied(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  const port = server.port || (server.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || (isIP(host) !== 0 && loopback.check(host, familyOf(host)))) return false;
  const entries = noProxy.split(",").map((entry) => entry.trim().toLowerCase());
  return !entries.some((entry) => entry === "*" || isInRange(host, entry) || isNamed(host, port, entry));
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** 10.0.0.0/8 or fd00::/8. */
function isInRange(host: string, entry: string): boolean {
  const [, network = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (isIP(host) === 0 || isIP(network) === 0 || Number(bits) > (isIP(network) === 6 ? 128 : 32)) return false;
  const range = new BlockList();
  range.addSubnet(network, Number(bits), familyOf(network));
  return range.check(host, familyOf(host));
}

/**
 * "example.com" is for it and all below, ".example.com" and "*.example.com" only for what is below; an address is for itself.
 * Each may end in a port, and is then for that port only.
 */
function isNamed(host: string, port: string, entry: string): boolean {
  const [, bracketed, plain, wantedPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  const wanted = (isIP(entry) !== 0 ? entry : (bracketed ?? plain ?? "")).replace(/^\*\./, ".");
  if (wanted === "" || (wantedPort !== undefined && wantedPort !== port)) return false;
  if (isIP(wanted) !== 0) {
    const one = new BlockList();
    one.addAddress(wanted, familyOf(wanted));
    return isIP(host) !== 0 && one.check(host, familyOf(host));
  }
  return host === wanted || host.endsWith(wanted.startsWith(".") ? wanted : `.${wanted}`);
}
