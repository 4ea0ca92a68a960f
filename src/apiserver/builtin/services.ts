/** Service: gets an address of the cluster's range, which leads nowhere here. */
import type { Service, ServiceSpec } from "kubernetes-types/core/v1.js";
import { isObject, type JsonObject } from "../../base/json.ts";
import { child, duplicate, indexed, invalid, required } from "../../schema/field-error.ts";
import type { ApiObject, Context, FieldError, Reader, Strategy } from "../contracts.ts";
import { as, ensure, labelNameErrors, oneOf, part, setDefault } from "./check.ts";

const specOf = (object: ApiObject): ServiceSpec => as<Service>(object).spec ?? {};
const headless = "None";
const portMax = 65_535;
const nodePorts = { min: 30_000, max: 32_767 } as const;
/** 10.96.0.0/16; the first addresses are left to the API server and the name service. */
const addresses = { prefix: "10.96", first: 16, last: 65_534 } as const;

export const serviceStrategy: Strategy = {
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setDefault(spec, "sessionAffinity", "None");
    setDefault(spec, "type", "ClusterIP");
    for (const port of portsOf(spec)) {
      setDefault(port, "protocol", "TCP");
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "")
        port.targetPort = port.port ?? 0;
    }
    if (spec.type !== "ExternalName") setDefault(spec, "internalTrafficPolicy", "Cluster");
    if (spec.type === "NodePort" || spec.type === "LoadBalancer") setDefault(spec, "externalTrafficPolicy", "Cluster");
    if (spec.type === "LoadBalancer") setDefault(spec, "allocateLoadBalancerNodePorts", true);
  },
  prepareForCreate: (object, { reader }) => {
    object.status = { loadBalancer: {} };
    complete(ensure(object, "spec"), reader);
  },
  validateCreate: (object, context) => firstOf(serviceErrors(object), () => nodePortErrors(object, context)),
  prepareForUpdate: (object, old, { reader, subresource }) => {
    if (subresource !== "") return;
    const [spec, before] = [ensure(object, "spec"), part(old, "spec")];
    // A client that leaves the allocated out means to keep it.
    if (before.type !== "ExternalName" && spec.type !== "ExternalName")
      for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"])
        if (spec[key] === undefined && before[key] !== undefined) spec[key] = before[key];
    complete(spec, reader);
  },
  validateUpdate: (object, old, context) => {
    const [now, before] = [specOf(object), specOf(old)];
    const keeps = now.type === before.type && before.type !== "ExternalName";
    const errors = [
      ...(keeps && now.clusterIP !== before.clusterIP
        ? [invalid("spec.clusterIPs[0]", [now.clusterIP ?? ""], "may not change once set")]
        : []),
      ...serviceErrors(object),
    ];
    return firstOf(errors, () => nodePortErrors(object, context, before.ports));
  },
};

type Ports = ServiceSpec["ports"];
const firstOf = (errors: readonly FieldError[], more: () => readonly FieldError[]): readonly FieldError[] =>
  errors.length > 0 ? errors : more();

/** Ports are given out only for a service that is otherwise well, and not at all in a dry run. */
function nodePortErrors(object: ApiObject, { reader, dryRun }: Context, kept: Ports = []): readonly FieldError[] {
  if (dryRun) return [];
  const own = new Set(kept.map(({ nodePort }) => nodePort));
  const taken = new Set(reader.list("services").flatMap((other) => (specOf(other).ports ?? []).map(portOnNodes)));
  return (specOf(object).ports ?? []).flatMap(({ nodePort = 0 }, index) => {
    if (nodePort === 0 || own.has(nodePort)) return [];
    const field = child(indexed("spec.ports", index), "nodePort");
    if (nodePort < nodePorts.min || nodePort > nodePorts.max) return [invalid(field, nodePort, notInNodeRange)];
    return taken.has(nodePort) ? [invalid(field, nodePort, "provided port is already allocated")] : [];
  });
}
const portOnNodes = ({ nodePort }: { readonly nodePort?: number }): number => nodePort ?? 0;
const notInNodeRange = `provided port is not in the valid range. The range of valid ports is ${nodePorts.min}-${nodePorts.max}`;

const portsOf = (spec: JsonObject): readonly JsonObject[] =>
  Array.isArray(spec.ports) ? spec.ports.filter(isObject) : [];

/** Addresses and node ports, where the type wants them and nobody has said any. */
function complete(spec: JsonObject, reader: Reader): void {
  if (spec.type === "ExternalName") return;
  const others = reader.list("services").map((object) => specOf(object));
  if ((spec.clusterIP ?? "") === "") spec.clusterIP = freeAddress(new Set(others.map(({ clusterIP }) => clusterIP)));
  setDefault(spec, "clusterIPs", [spec.clusterIP ?? ""]);
  setDefault(spec, "ipFamilies", ["IPv4"]);
  setDefault(spec, "ipFamilyPolicy", "SingleStack");
  if (spec.type !== "NodePort" && spec.type !== "LoadBalancer") return;
  const taken = new Set(others.flatMap(({ ports = [] }) => ports.map(({ nodePort }) => nodePort)));
  for (const port of portsOf(spec)) {
    if (port.nodePort !== undefined && port.nodePort !== 0) continue;
    let number: number = nodePorts.min;
    while (taken.has(number) && number < nodePorts.max) number += 1;
    taken.add(number);
    port.nodePort = number;
  }
}

function freeAddress(taken: ReadonlySet<string | undefined>): string {
  for (let number: number = addresses.first; number <= addresses.last; number += 1) {
    const address = `${addresses.prefix}.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  return "";
}

const inRange = "must be between 1 and 65535, inclusive";
const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

function serviceErrors(object: ApiObject): readonly FieldError[] {
  const spec = specOf(object);
  const ports = spec.ports ?? [];
  const errors: FieldError[] = [];
  if (ports.length === 0 && spec.clusterIP !== headless && spec.type !== "ExternalName")
    errors.push(required("spec.ports"));
  if (spec.type === "ExternalName" && (spec.externalName ?? "") === "") errors.push(required("spec.externalName"));
  const names = new Set<string>();
  for (const [index, port] of ports.entries())
    errors.push(...portErrors(port, indexed("spec.ports", index), ports.length > 1, names));
  return [
    ...errors,
    ...oneOf("spec.sessionAffinity", spec.sessionAffinity, ["ClientIP", "None"]),
    ...oneOf("spec.type", spec.type, types),
  ];
}

function portErrors(
  { name = "", port, protocol, targetPort }: NonNullable<ServiceSpec["ports"]>[number],
  field: string,
  namesNeeded: boolean,
  names: Set<string>,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name === "") {
    if (namesNeeded) errors.push(required(child(field, "name")));
  } else {
    errors.push(...labelNameErrors(child(field, "name"), name));
    if (names.has(name)) errors.push(duplicate(child(field, "name"), name));
    names.add(name);
  }
  if (port < 1 || port > portMax) errors.push(invalid(child(field, "port"), port, inRange));
  if (typeof targetPort === "number" && (targetPort < 1 || targetPort > portMax))
    errors.push(invalid(child(field, "targetPort"), targetPort, inRange));
  return [...errors, ...oneOf(child(field, "protocol"), protocol, ["SCTP", "TCP", "UDP"])];
}
