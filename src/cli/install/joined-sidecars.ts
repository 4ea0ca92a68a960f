/**
 * Our sidecars in one container of a driver's pod: it takes the place of those that ran the replaced programs, with the flags, environment
 * and mounts of all of them. Pure.
 */
import { csiSidecarsRow } from "../../api/manifests/csi-sidecars.ts";
import { sidecarRows } from "../../api/manifests/rows.ts";
import { equal, isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { at } from "./fields.ts";
import {
  type Accepts,
  added,
  asRoot,
  containersIn,
  expandedIn,
  findSidecar,
  ownArguments,
  refusal,
  type SidecarChange,
  withContainers,
  words,
} from "./sidecar.ts";

/** The arguments of one process, from those that each program had; `kept` says what became of flags that differed. */
export type Join = (parts: readonly JoinedPart[]) => {
  readonly args: readonly string[];
  readonly notes: readonly string[];
};

export interface JoinedPart {
  /** The replaced program. */
  readonly name: string;
  readonly argv: readonly string[];
}

interface Present {
  readonly name: string;
  readonly sign: string;
  readonly container: JsonObject;
}

export function withJoinedSidecars(workload: JsonObject, image: string, accepts: Accepts, join: Join): SidecarChange {
  const pod = at(workload, "spec", "template", "spec");
  const containers = containersIn(pod);
  const joined = containers.find(isJoined);
  const present: readonly Present[] = sidecarRows.flatMap(({ name, ...row }) => {
    const found = findSidecar(
      { name, ...row },
      containers.filter((one) => one !== joined),
    );
    return found === undefined ? [] : [{ name, ...found }];
  });
  const { container, notes } =
    joined !== undefined
      ? { container: { ...joined, image }, notes: [] }
      : present.length === 0
        ? { container: added(csiSidecarsRow, containers, image), notes: [] }
        : joinedOf(present, image, join);
  const next = asRoot(container, pod);
  const problem = accepts(
    csiSidecarsRow.name,
    words(next.args)
      .slice(1)
      .map((word) => expandedIn(next, word)),
  );
  if (problem !== undefined) throw refusal(`container ${String(next.name)}: ${problem}`);
  if (joined !== undefined && present.length === 0 && String(joined.image) === image) return { workload, changes: [] };
  const replaced = new Set([...(joined === undefined ? [] : [joined]), ...present.map((one) => one.container)]);
  const place = containers.findIndex((one) => replaced.has(one));
  const others = containers.filter((one) => !replaced.has(one));
  const index = place === -1 ? others.length : place;
  return {
    workload: withContainers(workload, [...others.slice(0, index), next, ...others.slice(index)]),
    changes: [...linesOf(next, joined, present), ...notes],
  };
}

const isJoined = ({ name, args }: JsonObject): boolean =>
  name === csiSidecarsRow.name || words(args)[0] === csiSidecarsRow.name;

function linesOf(next: JsonObject, joined: JsonObject | undefined, present: readonly Present[]): readonly string[] {
  const image = String(next.image);
  if (joined !== undefined && String(joined.image) !== image)
    return [`container ${String(next.name)} runs ${image} instead of ${String(joined.image)}`];
  if (present.length === 0) return [`container ${String(next.name)} is added`];
  return present.map(
    ({ name, sign, container }) =>
      `container ${String(container.name)} of ${String(container.image)}, taken for ${name} by its ${sign}, becomes part of ${String(next.name)}, which runs ${image}`,
  );
}

function joinedOf(present: readonly Present[], image: string, join: Join) {
  const parts = present.map(({ name, container }) => ({ name, argv: ownArguments(name, container) }));
  const servesPages = ({ container }: Present): boolean =>
    words(container.args).some((word) => /^--?(http-endpoint|metrics-address)\b/.test(word));
  const base = (present.find(servesPages) ?? present[0])?.container ?? {};
  const all = present.map(({ container }) => container);
  const { args, notes } = join(parts);
  const { command: _, ...rest } = base;
  const [request, limit] = csiSidecarsRow.container("", { path: "", mount: { name: "", mountPath: "" } }).memory;
  const memoryOf = (place: string, memory: string): JsonObject =>
    at(base, "resources", place, "memory") === undefined
      ? {}
      : { [place]: { ...(at(base, "resources", place) as JsonObject), memory } };
  const resources = isObject(base.resources)
    ? { resources: { ...base.resources, ...memoryOf("requests", request), ...memoryOf("limits", limit) } }
    : {};
  const container: JsonObject = {
    ...rest,
    name: csiSidecarsRow.name,
    image,
    args: [csiSidecarsRow.name, ...args],
    ...listed("env", "name", all),
    ...listed("volumeMounts", "mountPath", all),
    ...resources,
  };
  return { container, notes };
}

/** The items of all containers, each key once; two items under one key that differ cannot be joined. */
function listed(field: string, key: string, containers: readonly JsonObject[]): JsonObject {
  const items = new Map<string, JsonValue>();
  for (const container of containers)
    for (const item of Array.isArray(container[field]) ? container[field] : []) {
      const name = String(at(item, key));
      const known = items.get(name);
      if (known !== undefined && !equal(known, item))
        throw refusal(
          `the sidecars cannot be joined: ${field} ${name} differs between them; make it one, or use --separate`,
        );
      items.set(name, item);
    }
  return items.size === 0 ? {} : { [field]: [...items.values()] };
}
