/** What a driver says it can do, by the names of the protocol: `capabilities.controller.has("LIST_SNAPSHOTS")`. */
import {
  type Controller,
  ControllerServiceCapability_RPC_Type as ControllerType,
  type GroupController,
  GroupControllerServiceCapability_RPC_Type as GroupType,
  type Identity,
  PluginCapability_Service_Type as PluginType,
} from "./gen/csi_pb.js";
import type { ServiceClient } from "./wire.ts";

export interface Capabilities {
  readonly plugin: ReadonlySet<keyof typeof PluginType>;
  readonly controller: ReadonlySet<keyof typeof ControllerType>;
  readonly group: ReadonlySet<keyof typeof GroupType>;
}

interface Services {
  readonly identity: ServiceClient<typeof Identity>;
  readonly controller: ServiceClient<typeof Controller>;
  readonly group: ServiceClient<typeof GroupController>;
}

/** A service that the driver does not announce is not asked: it would answer UNIMPLEMENTED. */
export async function capabilitiesOf(
  { identity, controller, group }: Services,
  signal: AbortSignal,
): Promise<Capabilities> {
  const ofPlugin = (await identity.getPluginCapabilities({}, { signal })).capabilities;
  const plugin = namesIn(
    PluginType,
    ofPlugin.map(({ type }) => (type.case === "service" ? type.value.type : 0)),
  );
  const ofGroup = plugin.has("GROUP_CONTROLLER_SERVICE")
    ? (await group.groupControllerGetCapabilities({}, { signal })).capabilities
    : [];
  return {
    plugin,
    controller: plugin.has("CONTROLLER_SERVICE") ? await controllerCapabilitiesOf(controller, signal) : new Set(),
    group: namesIn(
      GroupType,
      ofGroup.map(({ type }) => type.value?.type ?? 0),
    ),
  };
}

/** Asked without looking at what the driver announces: sidecars never looked, so there are drivers that announce nothing. */
export async function controllerCapabilitiesOf(
  controller: Services["controller"],
  signal: AbortSignal,
): Promise<Capabilities["controller"]> {
  const { capabilities } = await controller.controllerGetCapabilities({}, { signal });
  return namesIn(
    ControllerType,
    capabilities.map(({ type }) => type.value?.type ?? 0),
  );
}

/** Zero is "unknown"; a number newer than our protocol file has no name here and is left out too. */
function namesIn<Type extends Record<string, string | number>>(
  type: Type,
  numbers: readonly number[],
): ReadonlySet<keyof Type> {
  const names = Object.keys(type).filter((name) => numbers.some((number) => number !== 0 && type[name] === number));
  return new Set(names);
}
