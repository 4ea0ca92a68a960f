/** URLs in rules, read as Go's net/url reads them: lenient with spaces, strict with hosts, ports and escapes of paths. */
import { fn, isReadable, type Library, method, opaqueData, text } from "../functions.ts";
import { listOf, mapOf, types } from "../types.ts";
import { CelFault, listFrom, mapFrom, opaque, type Value } from "../value.ts";

const { bool, string, url: urlType } = types;

interface Url {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

const badEscape = /%(?![0-9A-Fa-f]{2})/;
const isHost = (host: string): boolean => /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%]|[^\0-\x7f])*$/.test(host);
const isUser = (user: string): boolean => /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && !badEscape.test(user);
const isPort = (port: string): boolean => /^(?::\d*)?$/.test(port);

/** Cut at the first of these signs; the second part does not have it. */
function cut(value: string, sign: string): readonly [string, string] {
  const at = value.indexOf(sign);
  return at === -1 ? [value, ""] : [value.slice(0, at), value.slice(at + sign.length)];
}

/** An absolute URI or an absolute path. */
function readUrl(value: string): Url {
  const bad = (why: string): CelFault =>
    new CelFault(`URL parse error during conversion from string: parse ${JSON.stringify(value)}: ${why}`);
  if (value === "") throw bad("empty url");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a URL may not hold.
  if (/[\x00-\x1f\x7f]/.test(value)) throw bad("net/url: invalid control character in URL");
  const [bare, fragment] = cut(value, "#");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(bare)?.[1] ?? "";
  if (bare.startsWith(":")) throw bad("missing protocol scheme");
  const [rest, query] = cut(scheme === "" ? bare : bare.slice(scheme.length + 1), "?");
  const parts = { scheme: scheme.toLowerCase(), query };
  if (!rest.startsWith("/")) {
    if (scheme === "") throw bad("invalid URI for request");
    return { ...parts, host: "", path: "" };
  }
  const hasHost = rest.startsWith("//") && (scheme !== "" || !rest.startsWith("///"));
  const [host, path] = hasHost ? hostAndPath(rest.slice(2), bad) : ["", rest];
  if (badEscape.test(path) || badEscape.test(fragment)) throw bad("invalid URL escape");
  return { ...parts, host, path };
}

function hostAndPath(rest: string, bad: (why: string) => CelFault): readonly [string, string] {
  const slash = rest.indexOf("/");
  const authority = slash === -1 ? rest : rest.slice(0, slash);
  const at = authority.lastIndexOf("@");
  if (!isUser(authority.slice(0, Math.max(at, 0)))) throw bad("net/url: invalid userinfo");
  const host = authority.slice(at + 1);
  const bracket = host.lastIndexOf("]");
  if (host.startsWith("[") && bracket === -1) throw bad("missing ']' in host");
  const colon = host.lastIndexOf(":");
  const port = host.startsWith("[") ? host.slice(bracket + 1) : colon === -1 ? "" : host.slice(colon);
  if (!isPort(port)) throw bad(`invalid port ${JSON.stringify(port)} after host`);
  if (!isHost(host)) throw bad("invalid character in host name");
  return [host, slash === -1 ? "" : rest.slice(slash)];
}

/** Escapes as bytes: they need not be UTF-8. */
const unescapedBytes = (value: string): Buffer =>
  Buffer.from(
    Buffer.from(value)
      .toString("latin1")
      .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );

/** A path that needs no escapes stays as it was written. */
function escapedPath(path: string): string {
  if (/^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/.test(path)) return path;
  return unescapedBytes(path)
    .toString("latin1")
    .replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]/g, (byte) => `%${hexOf(byte)}`);
}
const hexOf = (byte: string): string => byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");

/** Pairs that cannot be read are left out, as Go does without a word. */
function queryOf(query: string): Value {
  const byName = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";") || badEscape.test(pair)) continue;
    const [name, value] = cut(pair, "=").map((part) => unescapedBytes(part.replaceAll("+", " ")).toString("utf8"));
    const values = byName.get(name ?? "") ?? [];
    values.push(value ?? "");
    byName.set(name ?? "", values);
  }
  return mapFrom([...byName].map(([name, values]) => [name, listFrom(values)] as const));
}

const urlData = (value: Value | undefined): Url => opaqueData<Url>(value, "kubernetes.URL");
const hostParts = (host: string): { name: string; port: string } => {
  const [, name = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host) ?? [];
  return { name: name.replace(/^\[|\]$/g, ""), port };
};

const urlText = (read: (url: Url) => string): readonly ReturnType<typeof method>[] => [
  method([urlType], string, ([value]) => read(urlData(value))),
];

export const urls: Library = {
  url: [fn([string], urlType, ([value]) => opaque("kubernetes.URL", readUrl(text(value))))],
  isURL: [fn([string], bool, ([value]) => isReadable(() => readUrl(text(value))))],
  getScheme: urlText(({ scheme }) => scheme),
  getHost: urlText(({ host }) => host),
  getHostname: urlText(({ host }) => hostParts(host).name),
  getPort: urlText(({ host }) => hostParts(host).port),
  getEscapedPath: urlText(({ path }) => escapedPath(path)),
  getQuery: [method([urlType], mapOf(string, listOf(string)), ([value]) => queryOf(urlData(value).query))],
};
