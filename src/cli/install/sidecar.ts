/**
 * Our sidecars in the pod of a driver: a container that runs the replaced program keeps its place, arguments, environment and mounts and
 * gets our image; where there is none, one is added that shares the driver's socket. Pure.
 */
import type { ManifestObject, SidecarRow } from "../../api/manifests/component.ts";
import { sidecarRows } from "../../api/manifests/rows.ts";
import { Fault } from "../../base/fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { withCode } from "../../errors/codes.ts";
import { at } from "./fields.ts";

export interface SidecarChange {
  readonly workload: JsonObject;
  /** One line per container. */
  readonly changes: readonly string[];
}

const workloadKinds: Readonly<Record<string, string>> = {
  deployment: "Deployment",
  statefulset: "StatefulSet",
  daemonset: "DaemonSet",
};

/** "deployment/name" as kubectl writes it; undefined if it is none of the three. */
export function workloadRef(word: string, namespace: string): ManifestObject | undefined {
  const [, type = "", name] = /^(\w+)\/([\w.-]+)$/.exec(word) ?? [];
  const kind = workloadKinds[type.toLowerCase()];
  return kind === undefined || name === undefined
    ? undefined
    : { apiVersion: "apps/v1", kind, metadata: { name, namespace } };
}

/** How a container was recognised as the replaced program, for the person who reads the change. */
type Sign = "name" | "image" | "command" | "flags";

/** Surest first: mirrors rename images, and some drivers shorten names. */
const signs: Readonly<Record<Sign, (row: Pick<SidecarRow, "name">, container: JsonObject) => boolean>> = {
  name: ({ name }, container) => container.name === name,
  image: ({ name }, { image }) => isImageOf(name, image),
  command: ({ name }, container) => commandOf(container).some((word) => word.split("/").at(-1) === name),
  flags: ({ name }, container) =>
    shortNames(name).includes(String(container.name)) && commandOf(container).some((word) => socketFlag.test(word)),
};

const shortNames = (name: string): readonly string[] => {
  const short = name.replace(/^csi-/, "");
  return [short, `external-${short}`];
};

/** "mirror:5000/sig/ose-csi-snapshotter-rhel9@sha256:…" is a csi-snapshotter: by the last part of the path, without tag and digest. */
function isImageOf(name: string, image: JsonValue | undefined): boolean {
  const path = String(image ?? "")
    .replace(/@.*$/, "")
    .replace(/:[^/]*$/, "");
  return new RegExp(`(^|[-_.])${name}([-_.]|$)`).test(path.split("/").at(-1) ?? "");
}

export function findSidecar(row: Pick<SidecarRow, "name">, containers: readonly JsonObject[]) {
  for (const sign of Object.keys(signs) as readonly Sign[]) {
    const container = containers.find((one) => signs[sign](row, one));
    if (container !== undefined) return { container, sign };
  }
  return undefined;
}

const commandOf = (container: JsonObject): readonly string[] => [...words(container.command), ...words(container.args)];
export const words = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [];
const socketFlag = /^--?(?:csi-address|endpoint)(?:=(.*))?$/;

/** Why our command does not take these arguments, if so. */
export type Accepts = (command: string, argv: readonly string[]) => string | undefined;

export function containersIn(pod: JsonValue | undefined): readonly JsonObject[] {
  const listed = at(pod, "containers");
  return Array.isArray(listed) ? listed.filter(isObject) : [];
}

/** A container for each sidecar. */
export function withSidecars(
  workload: JsonObject,
  image: string,
  accepts: Accepts,
  wanted: readonly string[] = sidecarRows.map(({ name }) => name),
): SidecarChange {
  const pod = at(workload, "spec", "template", "spec");
  let containers = containersIn(pod);
  const changes: string[] = [];
  for (const row of sidecarRows.filter(({ name }) => wanted.includes(name))) {
    const { container: present, sign } = findSidecar(row, containers) ?? {};
    const next = asRoot(present === undefined ? added(row, containers, image) : replaced(row, present, image), pod);
    const argv = words(next.args)
      .slice(1)
      .map((word) => expandedIn(next, word));
    const problem = accepts(row.name, argv);
    if (problem !== undefined) throw refusal(`container ${String(next.name)}: ${problem}`);
    if (present !== undefined && String(present.image) === image && words(present.args)[0] === row.name) continue;
    changes.push(
      present === undefined
        ? `container ${String(next.name)} is added`
        : `container ${String(next.name)}, taken for ${row.name} by its ${sign}, runs ${image} instead of ${String(present.image)}`,
    );
    containers =
      present === undefined ? [...containers, next] : containers.map((item) => (item === present ? next : item));
  }
  return { workload: withContainers(workload, containers), changes };
}

function replaced(row: SidecarRow, container: JsonObject, image: string): JsonObject {
  const { command: _, ...rest } = container;
  return { ...rest, image, args: [row.name, ...flagsOf(row.name, container)] };
}

/** What follows the name of the program. */
function flagsOf(name: string, container: JsonObject): readonly string[] {
  const given = words(container.args);
  return given[0] === name ? given.slice(1) : [...words(container.command).slice(1), ...given];
}

/** The same with the environment filled in. */
export const ownArguments = (name: string, container: JsonObject): readonly string[] =>
  flagsOf(name, container).map((word) => expandedIn(container, word));

/**
 * Drivers run as root, as the replaced images do, and only root may connect to their sockets. Our image has another user: the container
 * names root, unless somebody has decided about users.
 */
export function asRoot(container: JsonObject, pod: JsonValue | undefined): JsonObject {
  const isDecided = [container, pod].some((owner) =>
    ["runAsUser", "runAsNonRoot"].some((field) => at(owner, "securityContext", field) !== undefined),
  );
  if (isDecided) return container;
  const own = isObject(container.securityContext) ? container.securityContext : {};
  return { ...container, securityContext: { ...own, runAsUser: 0 } };
}

/** The socket as another container of the pod finds it: the argument that names it, and the mount that it lies in. */
export function added(row: SidecarRow, containers: readonly JsonObject[], image: string): JsonObject {
  for (const container of containers) {
    const argv = commandOf(container);
    const index = argv.findIndex((word) => socketFlag.test(word));
    const word = index === -1 ? undefined : (socketFlag.exec(argv[index] ?? "")?.[1] ?? argv[index + 1]);
    const path = word === undefined ? "" : expandedIn(container, word).replace(/^unix:\/*/, "/");
    const mounts = Array.isArray(container.volumeMounts) ? container.volumeMounts.filter(isObject) : [];
    const mount = mounts.find(({ mountPath }) => path.startsWith(`${String(mountPath)}/`));
    if (mount === undefined) continue;
    const own = row.container("", { path, mount: { name: String(mount.name), mountPath: String(mount.mountPath) } });
    const [command = "", ...args] = own.args({} as never);
    return {
      name: own.name,
      image,
      args: [command, ...args],
      ports: own.ports as unknown as JsonValue,
      volumeMounts: [{ name: String(mount.name), mountPath: String(mount.mountPath) }],
      resources: { requests: { cpu: "50m", memory: own.memory[0] }, limits: { memory: own.memory[1] } },
    };
  }
  throw refusal(
    `${row.name} cannot be added: no container has --endpoint or --csi-address with a socket in one of its mounts; mount the folder of the socket as a volume`,
  );
}

/** "$(ADDRESS)" of the container's environment. */
export function expandedIn(container: JsonObject, word: string): string {
  const env = Array.isArray(container.env) ? container.env : [];
  const values = new Map(env.map((item) => [String(at(item, "name")), String(at(item, "value") ?? "")]));
  return word.replace(/\$\((\w+)\)/g, (whole, name: string) => values.get(name) ?? whole);
}

export function withContainers(workload: JsonObject, containers: readonly JsonObject[]): JsonObject {
  const spec = workload.spec as JsonObject;
  const template = spec.template as JsonObject;
  return {
    ...workload,
    spec: {
      ...spec,
      template: { ...template, spec: { ...(template.spec as JsonObject), containers: [...containers] } },
    },
  };
}

export const refusal = (text: string): Fault => new Fault("FailedPrecondition", withCode(text, "SNAP-803"));
