/**
 * What an installation gives a component beside its rights, and no more: its flags, its probes, its memory. All of it is read from the rows
 * of src/api/manifests that `snapkeep install` and deploy/ are rendered from.
 */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ContainerRow } from "../../../src/api/manifests/component.ts";
import { allSidecarRows, componentRows } from "../../../src/api/manifests/rows.ts";
import { installationOf } from "../../../src/cli/deploy.ts";
import type { Instance } from "./instance.ts";
import { type MemoryGroup, memoryGroup } from "./memory-group.ts";
import { freePort } from "./ports.ts";

/**
 * In the namespace that a process outside of a pod takes for its own, and that no suite removes; those of the suites of `snapkeep install`
 * are others.
 */
export const shipped = installationOf("0.0.0", { namespace: "default" });

const containersOf = (component: string): readonly ContainerRow[] => {
  const row = componentRows.find(({ name }) => name === component);
  if (row !== undefined) return row.workload.containers;
  const sidecar = allSidecarRows.find(({ name }) => name === component) ?? assert.fail(`no component ${component}`);
  return [sidecar.container("", { path: "/csi/csi.sock", mount: { name: "socket", mountPath: "/csi" } })];
};

export interface ShippedContainer {
  readonly command: string;
  /** Flags after the command; a mounted folder is the given one, a port a free one, and a given flag replaces the shipped one. */
  readonly flags: readonly string[];
  /** The address of the probes: /healthz and /readyz. */
  readonly statusUrl: string;
  readonly memory: MemoryGroup | undefined;
}

/** The first container of a component, as a process of this machine. `folders`: mount path → folder. */
export async function shippedContainer(
  instance: Pick<Instance, "folder">,
  component: string,
  { name, folders, flags }: ContainerPlace,
): Promise<ShippedContainer> {
  const [container = assert.fail(component)] = containersOf(component);
  const mounts = container.volumeMounts(shipped).map(({ mountPath, name: volume }) => {
    const folder = folders[mountPath] ?? join(instance.folder, name, volume);
    mkdirSync(folder, { recursive: true });
    return [mountPath, folder] as const;
  });
  const given = new Set(flags.map(flagName));
  const [command = "", ...args] = container.args(shipped);
  const own = args.filter((flag) => !given.has(flagName(flag)));
  const placed: string[] = [];
  for (const flag of own) placed.push(await freed(mounts.reduce(moved, flag)));
  const all = [...placed, ...flags];
  const [, address = ""] = all.map((flag) => /^--http-endpoint=(.+)$/.exec(flag)).find((match) => match !== null) ?? [];
  return {
    command,
    flags: all,
    statusUrl: `http://${address}`,
    memory: memoryGroup(instance.folder, name, container.memory[1]),
  };
}

export interface ContainerPlace {
  readonly name: string;
  readonly folders: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
}

const flagName = (flag: string): string => /^--?([^=]+)/.exec(flag)?.[1] ?? flag;
const moved = (flag: string, [from, to]: readonly [string, string]): string => {
  const at = flag.indexOf(from);
  const isPath = at > 0 && /(=|:\/\/)$/.test(flag.slice(0, at)) && /^(\/|$)/.test(flag.slice(at + from.length));
  return isPath ? `${flag.slice(0, at)}${to}${flag.slice(at + from.length)}` : flag;
};
const freed = async (flag: string): Promise<string> =>
  /=:\d+$/.test(flag) ? flag.replace(/=:\d+$/, `=127.0.0.1:${await freePort()}`) : flag;

/** The readiness probe, as the kubelet asks it. */
export const isReady = async (statusUrl: string): Promise<boolean> =>
  (await fetch(`${statusUrl}/readyz`).catch(() => undefined))?.ok === true;
