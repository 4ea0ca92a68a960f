/** What the server says about itself: groups, versions, resources, health. Made once for each state of the directory. */
import { createHash } from "node:crypto";
import type { HttpRequest, HttpResponse } from "../base/http.ts";
import { type JsonObject, print } from "../base/json.ts";
import { json, plain } from "./answer.ts";
import type { Resource, Verb } from "./contracts.ts";
import { acceptsJson, clausesOf } from "./negotiate.ts";
import { apiVersionOf } from "./rows.ts";
import { Refusal } from "./status.ts";

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly Resource[];
}

const pages = new WeakMap<readonly Resource[], Map<string, string>>();

/** `path` is without a trailing slash. Undefined when it is no discovery page. */
export function discoveryPage(
  request: HttpRequest,
  path: string,
  resources: readonly Resource[],
): HttpResponse | undefined {
  if (path === "/api" || path === "/apis") return rootPage(request, path, resources);
  const make = pageMaker(path, resources);
  return make === undefined
    ? undefined
    : json(
        200,
        cached(resources, path, () => `${print(make())}\n`),
      );
}

function cached(resources: readonly Resource[], name: string, make: () => string): string {
  const known = pages.get(resources) ?? new Map<string, string>();
  pages.set(resources, known);
  const text = known.get(name) ?? make();
  known.set(name, text);
  return text;
}

function pageMaker(path: string, resources: readonly Resource[]): (() => JsonObject) | undefined {
  const [, root, group = "", version, ...rest] = path.split("/");
  if (rest.length > 0) return undefined;
  const versions = groupVersions(resources);
  if (root === "api" && version === undefined) {
    const core = versions.find((one) => one.group === "" && one.version === group);
    return core === undefined ? undefined : () => resourceList(core);
  }
  if (root !== "apis" || group === "") return undefined;
  const ofGroup = versions.filter((one) => one.group === group);
  if (ofGroup.length === 0) return undefined;
  if (version === undefined) return () => ({ kind: "APIGroup", apiVersion: "v1", ...groupOf(group, ofGroup) });
  const found = ofGroup.find((one) => one.version === version);
  return found === undefined ? undefined : () => resourceList(found);
}

/** Newest and most stable version first, as Kubernetes ranks them: v2, v1, v1beta2, v1alpha1, others by name. */
export function compareVersions(a: string, b: string): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  if (rankA === undefined || rankB === undefined)
    return rankA === rankB ? (a < b ? -1 : 1) : rankA === undefined ? 1 : -1;
  const index = rankA.findIndex((value, at) => value !== rankB[at]);
  return index === -1 ? 0 : (rankB[index] ?? 0) - (rankA[index] ?? 0);
}

function rankOf(version: string): readonly number[] | undefined {
  const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (found === null) return undefined;
  const [, major, stage, minor] = found;
  const stability = stage === undefined ? 2 : stage === "beta" ? 1 : 0;
  return [stability, Number(major), Number(minor ?? 0)];
}

function groupVersions(resources: readonly Resource[]): readonly GroupVersion[] {
  const found = new Map<string, { group: string; version: string; resources: Resource[] }>();
  for (const resource of resources) {
    const key = apiVersionOf(resource.group, resource.version);
    const known = found.get(key) ?? { group: resource.group, version: resource.version, resources: [] };
    found.set(key, known);
    known.resources.push(resource);
  }
  const order = [...new Set(resources.map(({ group }) => group))];
  return [...found.values()].sort(
    (a, b) => order.indexOf(a.group) - order.indexOf(b.group) || compareVersions(a.version, b.version),
  );
}

function groupOf(name: string, versions: readonly GroupVersion[]): JsonObject {
  const listed = versions.map(({ group, version }) => ({ groupVersion: apiVersionOf(group, version), version }));
  return { name, versions: listed, preferredVersion: listed[0] ?? null };
}

/** Also for those who cannot read "v2" of anything: the lists Kubernetes has always had. */
function resourceList({ group, version, resources }: GroupVersion): JsonObject {
  const entries = resources.flatMap((resource) => [
    entryOf(resource, resource.plural, resource.kind, resource.verbs, resource),
    ...Object.entries(resource.subresources)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([name, { verbs, kind }]): JsonObject => ({
          ...entryOf(resource, `${resource.plural}/${name}`, kind?.kind ?? resource.kind, verbs, undefined),
          ...(kind === undefined ? {} : { group: kind.group, version: kind.version }),
        }),
      ),
  ]);
  const sorted = entries.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
  const apiVersion = group === "" ? {} : { apiVersion: "v1" };
  return { kind: "APIResourceList", ...apiVersion, groupVersion: apiVersionOf(group, version), resources: sorted };
}

function entryOf(
  { scope }: Resource,
  name: string,
  kind: string,
  verbs: readonly Verb[],
  main: Resource | undefined,
): JsonObject {
  return {
    name,
    singularName: main?.singular ?? "",
    namespaced: scope === "namespace",
    kind,
    verbs: [...verbs],
    ...(main === undefined || main.shortNames.length === 0 ? {} : { shortNames: [...main.shortNames] }),
    ...(main === undefined || main.categories.length === 0 ? {} : { categories: [...main.categories] }),
  };
}

const aggregatedVersions = ["v2", "v2beta1"] as const;

/** /api and /apis: everything at once for those who ask for it, else the short old list. */
function rootPage(request: HttpRequest, path: string, resources: readonly Resource[]): HttpResponse {
  const { accept = "" } = request.headers;
  for (const clause of accept === "" ? [] : clausesOf(accept)) {
    const { as, g, v } = clause.parameters;
    if (!acceptsJson(clause)) continue;
    if (as === undefined)
      return json(
        200,
        cached(resources, path, () => `${print(legacyRoot(path, resources))}\n`),
      );
    const version = aggregatedVersions.find((known) => known === v);
    if (as === "APIGroupDiscoveryList" && g === "apidiscovery.k8s.io" && version !== undefined)
      return aggregatedPage(request, path, resources, version);
  }
  if (accept === "")
    return json(
      200,
      cached(resources, path, () => `${print(legacyRoot(path, resources))}\n`),
    );
  throw new Refusal(406, "NotAcceptable", "only the following media types are accepted: application/json");
}

function legacyRoot(path: string, resources: readonly Resource[]): JsonObject {
  const versions = groupVersions(resources);
  if (path === "/api")
    return {
      kind: "APIVersions",
      versions: versions.filter(({ group }) => group === "").map(({ version }) => version),
      serverAddressByClientCIDRs: [],
    };
  const names = [...new Set(versions.map(({ group }) => group))].filter((group) => group !== "");
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: names.map((name) =>
      groupOf(
        name,
        versions.filter(({ group }) => group === name),
      ),
    ),
  };
}

function aggregatedPage(
  request: HttpRequest,
  path: string,
  resources: readonly Resource[],
  version: (typeof aggregatedVersions)[number],
): HttpResponse {
  const text = cached(resources, `${path} ${version}`, () => `${print(aggregated(path, resources, version))}\n`);
  const etag = cached(
    resources,
    `${path} ${version} etag`,
    () => `"${createHash("sha512").update(text).digest("hex").toUpperCase()}"`,
  );
  const headers = {
    "content-type": `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    "cache-control": "public",
    etag,
    vary: "Accept",
  };
  if (request.headers["if-none-match"] === etag) return { status: 304, headers, body: "" };
  return { status: 200, headers, body: text };
}

function aggregated(path: string, resources: readonly Resource[], version: string): JsonObject {
  const wanted = groupVersions(resources).filter(({ group }) => (path === "/api") === (group === ""));
  const names = [...new Set(wanted.map(({ group }) => group))];
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: names.map((name) => ({
      metadata: name === "" ? {} : { name },
      versions: wanted.filter(({ group }) => group === name).map(versionDiscovery),
    })),
  };
}

const versionDiscovery = ({ version, resources }: GroupVersion): JsonObject => ({
  version,
  resources: resources.map(resourceDiscovery).sort((a, b) => (String(a.resource) < String(b.resource) ? -1 : 1)),
  freshness: "Current",
});

/** Built-in kinds leave group and version of the answer empty: they are those of the list they stand in. */
function resourceDiscovery(resource: Resource): JsonObject {
  const own =
    resource.definition === undefined
      ? { group: "", version: "", kind: resource.kind }
      : { group: resource.group, version: resource.version, kind: resource.kind };
  const subresources = Object.entries(resource.subresources)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([subresource, { verbs, kind }]) => ({
      subresource,
      responseKind: kind === undefined ? own : { ...kind },
      verbs: [...verbs],
    }));
  return {
    resource: resource.plural,
    responseKind: own,
    scope: resource.scope === "namespace" ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs: [...resource.verbs],
    ...(resource.shortNames.length === 0 ? {} : { shortNames: [...resource.shortNames] }),
    ...(resource.categories.length === 0 ? {} : { categories: [...resource.categories] }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

const healthPages: ReadonlySet<string> = new Set(["/livez", "/readyz", "/healthz"]);

export function healthPage(path: string, query: URLSearchParams): HttpResponse | undefined {
  const name = path.split("/")[1] ?? "";
  if (path === `/${name}/ping` && healthPages.has(`/${name}`)) return plain(200, "ok");
  if (!healthPages.has(path)) return undefined;
  return plain(200, query.has("verbose") ? `[+]ping ok\n[+]store ok\n${name} check passed\n` : "ok");
}

/** The Kubernetes release whose behaviour this is. */
export const kubernetesVersion = { major: "1", minor: "36", gitVersion: "v1.36.4" } as const;

export const versionPage = (snapkeep: string): HttpResponse =>
  json(
    200,
    print(
      {
        ...kubernetesVersion,
        emulationMajor: kubernetesVersion.major,
        emulationMinor: kubernetesVersion.minor,
        minCompatibilityMajor: kubernetesVersion.major,
        minCompatibilityMinor: "35",
        gitCommit: `snapkeep-${snapkeep}`,
        gitTreeState: "clean",
        buildDate: "1970-01-01T00:00:00Z",
        goVersion: "none",
        compiler: "none",
        platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
      },
      2,
    ),
  );
