/**
 * The typed client of one API server, over any `Handler`: a socket (transport.ts) or the embedded server itself.
 * It never guesses: what the server does not confirm is a Fault, and objects come back field for field as stored,
 * except for `managedFields`.
 */
import { apiVersionOf, type KindName, kindRows, pathOf } from "../api/kinds.ts";
import type { Patch, Ref } from "../api/plan.ts";
import type { KubeObject, ObjectOf } from "../api/types.ts";
import { Fault } from "../base/fault.ts";
import type { Handler } from "../base/http.ts";
import { isObject, type JsonObject, type JsonValue, parse, print } from "../base/json.ts";
import type { World } from "../base/world.ts";
import type {
  CallOptions,
  DeleteOptions,
  KubeApi,
  ListQuery,
  PageReader,
  PathAsker,
  PathReader,
  PathWriter,
  TextReader,
  VersionFinder,
  WriteOptions,
} from "./api.ts";
import { createCaller, type Measure, type Outgoing } from "./call.ts";
import { listAll, listPages } from "./client-list.ts";
import { watchPath } from "./client-watch.ts";
import type { Limiter } from "./limiter.ts";
import { type Adoption, adopt, parseResponse, type ReadText } from "./objects.ts";
import { bodyOfPatch, faultOfPatch, queryOfPatch, typeOfPatch } from "./patches.ts";
import { withQuery } from "./query.ts";
import { followVersions, type SpokenVersions } from "./served-versions.ts";

export interface ClientOptions {
  readonly handler: Handler;
  readonly world: World;
  /** Speak this version of a group and no other, as a client would that knows only it. Absent: one that the server has. */
  readonly versions?: Readonly<Record<string, string>> | undefined;
  /** Up to the first slash it also is the default field manager. */
  readonly userAgent?: string | undefined;
  /** None unless asked for: the server has priority and fairness of its own. */
  readonly limiter?: Limiter | undefined;
  readonly measure?: Measure | undefined;
  readonly managedFields?: "keep" | "strip" | undefined;
  /** Objects are never changed: where many clients live in one process, what one has read will do for all. */
  readonly read?: ReadText | undefined;
}

export function createClient(
  options: ClientOptions,
): KubeApi & PageReader & PathReader & PathAsker & PathWriter & TextReader & VersionFinder {
  const { handler, world, limiter, versions, userAgent = "snapkeep", managedFields = "strip", read = parse } = options;
  const spoken: SpokenVersions = new Map();
  const caller = createCaller({ handler, world, limiter, measure: options.measure });

  const versionOf = (kind: KindName): string => {
    const { group, versions: own } = kindRows[kind];
    const chosen = versions === undefined ? spoken.get(kind) : versions[group];
    // One group may have kinds of different versions.
    return chosen !== undefined && own.includes(chosen) ? chosen : own[0];
  };
  const adoptionOf = <K extends KindName>(kind: K, version = versionOf(kind)): Adoption<K> => ({
    kind,
    apiVersion: apiVersionOf(kind, version),
    managedFields,
    read,
  });
  const headers = { accept: "application/json", "user-agent": userAgent };
  const pathTo = (ref: Ref, subresource?: string, version = versionOf(ref.kind)): string =>
    pathOf(ref.kind, { ...placeOf(ref), subresource, version });
  const send = (request: Omit<Outgoing, "headers">, type = "application/json"): Promise<string> =>
    caller.text({ ...request, headers: request.body === undefined ? headers : { ...headers, "content-type": type } });
  const answered = async <K extends KindName>(
    kind: K,
    request: Omit<Outgoing, "headers">,
    type?: string,
    adoption = adoptionOf(kind),
  ) => adopt(adoption, parseResponse(await send(request, type), `${request.method} ${request.path}`, read));
  /** The version in use, not the one the object was drafted for. */
  const bodyOf = (kind: KindName, object: object): string =>
    print({ ...object, apiVersion: adoptionOf(kind).apiVersion, kind });

  const pageAsker =
    (kind: KindName, query: ListQuery) =>
    (parameters: Readonly<Record<string, string | number | undefined>>): Promise<string> => {
      const path = pathOf(kind, { namespace: query.namespace, version: query.version ?? versionOf(kind) });
      const request = { method: "GET", path: withQuery(path, parameters), signal: query.signal };
      return caller.text({ ...request, headers: { ...headers, "accept-encoding": "gzip" } });
    };

  const client: KubeApi & PageReader & PathReader & PathAsker & PathWriter & TextReader = {
    async get(ref, options = {}) {
      const request = { method: "GET", path: pathTo(ref), isForObject: true, ...callOptionsOf(options) };
      const object = await answered(ref.kind, request);
      if (ref.uid !== undefined && ref.uid !== object.metadata.uid)
        throw new Fault("NotFound", `${describe(ref)} of uid ${ref.uid} is gone; another of its name exists`);
      return object;
    },

    list: (kind, query = {}) => listAll(adoptionOf(kind, query.version), query, pageAsker(kind, query)),

    pages: (kind, query = {}) =>
      listPages(adoptionOf(kind, query.version), query, pageAsker(kind, query), options.world),

    async create(kind, object, write = {}) {
      const namespace = namespaceOf(kind, object);
      const path = pathOf(kind, { namespace, subresource: write.subresource, version: versionOf(kind) });
      return answered(kind, {
        method: "POST",
        path: written(path, write),
        body: bodyOf(kind, object),
        ...callOptionsOf(write),
      });
    },

    async replace(kind, object, write = {}) {
      const { name, namespace, resourceVersion } = (object as KubeObject).metadata;
      const path = written(pathTo({ kind, name, namespace }, write.subresource), write);
      const replayable = resourceVersion !== undefined && resourceVersion !== "";
      const body = bodyOf(kind, object);
      return answered(kind, { method: "PUT", path, body, replayable, isForObject: true, ...callOptionsOf(write) });
    },

    async patch(ref, patch, write = {}) {
      const path = written(pathTo(ref, write.subresource, write.version), write, queryOfPatch(patch));
      const adoption = adoptionOf(ref.kind, write.version);
      const body = bodyOfPatch(ref, patch, adoption.apiVersion);
      const sending = { method: "PATCH", path, body: print(body), replayable: isReplayable(patch) };
      const request = { ...sending, isForObject: true, ...callOptionsOf(write) };
      return answered(ref.kind, request, typeOfPatch(patch), adoption).catch((reason: unknown) => {
        throw faultOfPatch(ref, patch, reason);
      });
    },

    async delete(ref, wanted = {}) {
      const body = deletionOf(ref, wanted);
      const replayable = body.preconditions !== undefined;
      const sending = { method: "DELETE", path: pathTo(ref), body: print(body), replayable };
      const request = { ...sending, isForObject: true, ...callOptionsOf(wanted) };
      return heldObject(adoptionOf(ref.kind), parseResponse(await send(request), `DELETE ${request.path}`, read));
    },

    watch: (kind, query, take) =>
      watchPath(adoptionOf(kind, query.version), query, take, (parameters, takePiece) => {
        const path = pathOf(kind, { namespace: query.namespace, version: query.version ?? versionOf(kind) });
        const request = { method: "GET", path: withQuery(path, parameters), headers, signal: query.signal };
        return caller.stream(request, takePiece);
      }),

    getPath: async (path, { signal, accept = headers.accept } = {}) => {
      const answer = await caller.text({ method: "GET", path, signal, headers: { ...headers, accept } });
      return parseResponse(answer, `GET ${path}`, read);
    },

    getText: (path, { signal } = {}) =>
      caller.text({ method: "GET", path, signal, headers: { ...headers, accept: "*/*" } }),

    postPath: async (path, body, { signal } = {}) =>
      parseResponse(await send({ method: "POST", path, body: print(body), signal }), `POST ${path}`, read),

    applyPath: async (path, body, { fieldManager, force, dryRun, signal }) => {
      const patch = { type: "apply", body, fieldManager, force: force === true } as const;
      const request = { method: "PATCH", path: written(path, { dryRun }, queryOfPatch(patch)), body: print(body) };
      return parseResponse(
        await send({ ...request, replayable: true, isForObject: true, signal }, typeOfPatch(patch)),
        `PATCH ${path}`,
        read,
      );
    },

    replacePath: async (path, body, { signal } = {}) => {
      const request = { method: "PUT", path, body: print(body), replayable: true, isForObject: true, signal };
      return parseResponse(await send(request), `PUT ${path}`, read);
    },

    deletePath: async (path, { signal, isForeground = false, uid } = {}) => {
      const propagationPolicy = isForeground ? "Foreground" : "Background";
      const preconditions = uid === undefined ? undefined : { uid };
      const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions, propagationPolicy };
      await send({ method: "DELETE", path, body: print(body), isForObject: true, signal });
    },
  };
  const following = followVersions(client, spoken);
  return versions === undefined ? following : { ...client, findVersion: following.findVersion };
}

const callOptionsOf = ({ signal, isUrgent }: CallOptions): CallOptions => ({ signal, isUrgent });

const written = (path: string, { dryRun }: WriteOptions, more: Readonly<Record<string, string>> = {}): string =>
  withQuery(path, { ...more, dryRun: dryRun === true ? "All" : undefined });

const describe = ({ kind, namespace, name }: Ref): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** An empty name would address the whole collection, and a missing namespace all namespaces: refused before they are sent. */
function placeOf(ref: Ref): { namespace?: string | undefined; name: string } {
  if (ref.name === "" || ref.name === "." || ref.name === "..")
    throw new Fault("InvalidArgument", `${ref.kind}: "${ref.name}" is no name; give the object's metadata.name`);
  return { name: ref.name, namespace: namespaceOf(ref.kind, { metadata: ref }) };
}

function namespaceOf(
  kind: KindName,
  object: { readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined } },
): string | undefined {
  const { name = "", namespace } = object.metadata;
  if (kindRows[kind].scope === "cluster") return undefined;
  if (namespace === undefined || namespace === "")
    throw new Fault(
      "InvalidArgument",
      `${kind} ${name}: metadata.namespace is missing; objects of this kind live in one`,
    );
  return namespace;
}

/** Twice is as good as once for what applies, and for what only one version of the object lets through. */
const isReplayable = (patch: Patch): boolean =>
  patch.type === "apply" ||
  (patch.type === "merge" && isObject(patch.body.metadata) && patch.body.metadata.resourceVersion !== undefined);

function deletionOf(ref: Ref, wanted: DeleteOptions): JsonObject {
  const { uid = ref.uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = wanted;
  const isGuarded = uid !== undefined || resourceVersion !== undefined;
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: isGuarded ? { uid, resourceVersion } : undefined,
    gracePeriodSeconds,
    propagationPolicy,
  };
}

/** Some kinds are answered with the object even when it is gone for good: only a mark and a reason to wait mean it stays. */
function heldObject<K extends KindName>(adoption: Adoption<K>, value: JsonValue): ObjectOf<K> | undefined {
  if (isObject(value) && value.kind === "Status") return undefined;
  const object = adopt(adoption, value);
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  const isHeld = deletionTimestamp !== undefined && (finalizers.length > 0 || deletionGracePeriodSeconds > 0);
  return isHeld ? object : undefined;
}
