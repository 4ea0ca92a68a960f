/**
 * Who a component acts as: its shipped service account, with the rights that a guide tells an administrator to add where the suite
 * needs them. Another user is an exception with a name and a reason.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allSidecarRows } from "../../../src/api/manifests/rows.ts";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import { createCsiClient } from "../../../src/csi/client.ts";
import {
  ControllerServiceCapability_RPC_Type as Can,
  PluginCapability_Service_Type as Serves,
} from "../../../src/csi/gen/csi_pb.js";
import { type GuideRight, guideRights } from "../../guide-rights.ts";
import type { ControlPlane } from "./control-plane.ts";
import type { Instance } from "./instance.ts";
import {
  type Account,
  type DescribedDriver,
  grantTo,
  shippedAccount,
  shippedSidecarAccount,
} from "./shipped-accounts.ts";
import { until } from "./until.ts";

/** Where a component runs. */
export interface Place {
  readonly instance: Instance;
  /** Leads to the API server, maybe through a proxy. */
  readonly kubeconfig: string;
  /** Whose service accounts components act as; undefined: the embedded server, which knows one user. */
  readonly plane: ControlPlane | undefined;
}

/** The kubeconfig of the place is for somebody else than the shipped service account. */
export const otherUsers = {
  "embedded server": { flags: "shipped", why: "It knows one user." },
  release: { flags: "given", why: "The suite is about the arguments and the RBAC files of the replaced component." },
  "single rights": { flags: "shipped", why: "The suite takes single rights away from an account of its own." },
  chaos: {
    flags: "shipped",
    why: "Each replica is a user of its own, so that the audit log tells who has written what.",
  },
  "rendered elsewhere": {
    flags: "shipped",
    why: "The suite renders the roles for a namespace of its own, by kustomize and by Helm, and binds that account.",
  },
  bench: { flags: "shipped", why: "The programs of both makers are measured with the same rights." },
} as const satisfies Readonly<Record<string, { readonly flags: "shipped" | "given"; readonly why: string }>>;
export type OtherUser = keyof typeof otherUsers;

export interface UserOptions {
  /** Instead of the shipped service account. */
  readonly as?: OtherUser | undefined;
  /** Beside the shipped rights. */
  readonly added?: readonly GuideRight[];
}

export interface ComponentUser {
  readonly kubeconfig: string;
  /** The namespace of its pod. */
  readonly namespace: string;
}

export async function componentUser(
  { instance, kubeconfig, plane }: Place,
  component: string,
  flags: readonly string[],
  { as = plane === undefined ? "embedded server" : undefined, added = [] }: UserOptions,
): Promise<ComponentUser> {
  if (as !== undefined || plane === undefined) return { kubeconfig, namespace: "default" };
  const isSidecar = allSidecarRows.some(({ name }) => name === component);
  const account = isSidecar ? await sidecarAccount(plane, component, flags) : await shippedAccount(plane, component);
  for (const right of added) await grantTo(plane, account, right, guideRights[right]);
  return { kubeconfig: kubeconfigOf(instance, kubeconfig, account), namespace: account.namespace };
}

/** The rights follow from what the driver says of itself (docs/reference/permissions.md). */
async function sidecarAccount(plane: ControlPlane, component: string, flags: readonly string[]): Promise<Account> {
  const [socket = ""] = flags.flatMap((flag) => /^--csi-address=(?:unix:\/\/)?(.+)$/.exec(flag)?.[1] ?? []);
  return shippedSidecarAccount(plane, component, {
    ...(await described(socket)),
    capacity: flags.some((flag) => /^--enable-capacity(=true)?$/.test(flag)),
    nodeDeployment: flags.some((flag) => /^--node-deployment(=true)?$/.test(flag)),
  });
}

type Described = Omit<DescribedDriver, "capacity" | "nodeDeployment">;
const drivers = new Map<string, Promise<Described>>();

/** A driver may start after its sidecars, and says the same as long as it runs. */
export function described(socket: string): Promise<Described> {
  const known = drivers.get(socket) ?? ask(socket);
  drivers.set(socket, known);
  return known;
}

async function ask(address: string): Promise<Described> {
  const { identity, controller, close } = createCsiClient({ address, world: realWorld, log: silent });
  try {
    return await until({ what: `the driver at ${address} says what it can do` }, async () => {
      try {
        const { name: driver } = await identity.getPluginInfo({});
        const services = (await identity.getPluginCapabilities({})).capabilities.map(({ type }) =>
          type.case === "service" ? type.value.type : undefined,
        );
        const calls = (await controller.controllerGetCapabilities({})).capabilities.map(({ type }) =>
          type.case === "rpc" ? type.value.type : undefined,
        );
        return {
          driver,
          topology: services.includes(Serves.VOLUME_ACCESSIBILITY_CONSTRAINTS),
          attachments: calls.includes(Can.PUBLISH_UNPUBLISH_VOLUME),
        };
      } catch {
        return undefined;
      }
    });
  } finally {
    close();
  }
}

interface Kubeconfig {
  readonly users: readonly [{ readonly name: string }];
}

/** The same server, maybe behind a proxy, and the token of the account. */
export function kubeconfigOf({ folder }: Pick<Instance, "folder">, kubeconfig: string, account: Account): string {
  const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const [{ name }] = config.users;
  const path = join(folder, `${account.user.replaceAll(":", ".")}-${++written}.kubeconfig`);
  writeFileSync(path, JSON.stringify({ ...config, users: [{ name, user: { token: account.token } }] }), {
    mode: 0o600,
  });
  return path;
}
let written = 0;
