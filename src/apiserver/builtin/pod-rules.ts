/** What makes a pod's spec valid, as far as this server looks: names, references between its parts, fixed words. */
import type { Container, PodSpec, Volume } from "kubernetes-types/core/v1.js";
import type { JsonObject } from "../../base/json.ts";
import { child, duplicate, forbidden, indexed, invalid, notFound, required } from "../../schema/field-error.ts";
import type { FieldError } from "../contracts.ts";
import { labelNameErrors, oneOf, subdomainErrors } from "./check.ts";

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

export function podSpecErrors(spec: PodSpec, field: string): readonly FieldError[] {
  const at = (name: string): string => child(field, name);
  const { errors: wrongVolumes, known } = judgedVolumes(spec, at("volumes"));
  const names = new Set<string>();
  const nodeName = spec.nodeName ?? "";
  const containers = (spec.containers ?? []).length === 0 ? [required(at("containers"))] : [];
  return [
    ...wrongVolumes,
    ...containers,
    ...containerErrors(spec.containers ?? [], at("containers"), known, names),
    ...containerErrors(spec.initContainers ?? [], at("initContainers"), known, names),
    ...oneOf(at("restartPolicy"), spec.restartPolicy, restartPolicies),
    ...oneOf(at("dnsPolicy"), spec.dnsPolicy, dnsPolicies),
    ...(nodeName === "" ? [] : subdomainErrors(at("nodeName"), nodeName)),
  ];
}

function nameErrors(name: string, field: string, seen: Set<string>): readonly FieldError[] {
  if (name === "") return [required(field)];
  const errors = [...labelNameErrors(field, name)];
  if (errors.length === 0 && seen.has(name)) errors.push(duplicate(field, name));
  seen.add(name);
  return errors;
}

/** A token is somebody's. */
const tokenErrors = ({ projected }: Volume, at: string, hasAccount: boolean): readonly FieldError[] =>
  (projected?.sources ?? []).flatMap(({ serviceAccountToken }, index) =>
    serviceAccountToken === undefined || hasAccount
      ? []
      : [
          forbidden(
            child(indexed(child(child(at, "projected"), "sources"), index), "serviceAccountToken"),
            "must not be specified when serviceAccountName is not set",
          ),
        ],
  );

/** A volume with a mistake is none that could be mounted. */
function judgedVolumes({ volumes = [], serviceAccountName = "" }: PodSpec, field: string) {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const known = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const wrong = volumeErrors(volume, indexed(field, index), serviceAccountName !== "", seen);
    errors.push(...wrong);
    if (wrong.length === 0) known.add(volume.name);
  }
  return { errors, known };
}

function volumeErrors(volume: Volume, at: string, hasAccount: boolean, seen: Set<string>): readonly FieldError[] {
  const [, ...others] = Object.keys(volume as unknown as JsonObject).filter((key) => key !== "name");
  const claim = volume.persistentVolumeClaim;
  return [
    ...nameErrors(volume.name, child(at, "name"), seen),
    ...others.map((source) => forbidden(child(at, source), "may not specify more than 1 volume type")),
    ...(claim !== undefined && claim.claimName === ""
      ? [required(child(child(at, "persistentVolumeClaim"), "claimName"))]
      : []),
    ...(volume.hostPath?.path === "" ? [required(child(child(at, "hostPath"), "path"))] : []),
    ...(volume.csi?.driver === "" ? [required(child(child(at, "csi"), "driver"))] : []),
    ...tokenErrors(volume, at, hasAccount),
  ];
}

function containerErrors(
  containers: readonly Container[],
  field: string,
  volumes: ReadonlySet<string>,
  seen: Set<string>,
): readonly FieldError[] {
  return containers.flatMap((container, index) => {
    const at = indexed(field, index);
    const { name, image = "", imagePullPolicy } = container;
    return [
      ...nameErrors(name, child(at, "name"), seen),
      ...(image === "" ? [required(child(at, "image"))] : []),
      ...(image !== image.trim()
        ? [invalid(child(at, "image"), image, "must not have leading or trailing whitespace")]
        : []),
      ...oneOf(child(at, "terminationMessagePolicy"), container.terminationMessagePolicy, [
        "File",
        "FallbackToLogsOnError",
      ]),
      ...portErrors(container, child(at, "ports")),
      ...mountErrors(container, child(at, "volumeMounts"), volumes),
      ...oneOf(child(at, "imagePullPolicy"), imagePullPolicy, ["Always", "IfNotPresent", "Never"]),
    ];
  });
}

const portMax = 65_535;

const portErrors = ({ ports = [] }: Container, field: string): readonly FieldError[] =>
  ports.flatMap(({ containerPort }, index) => {
    const at = child(indexed(field, index), "containerPort");
    if (containerPort === 0) return [required(at)];
    return containerPort < 1 || containerPort > portMax
      ? [invalid(at, containerPort, "must be between 1 and 65535, inclusive")]
      : [];
  });

function mountErrors(
  { volumeMounts = [] }: Container,
  field: string,
  volumes: ReadonlySet<string>,
): readonly FieldError[] {
  const paths = new Set<string>();
  return volumeMounts.flatMap(({ name, mountPath }, index) => {
    const at = indexed(field, index);
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(child(at, "name")));
    else if (!volumes.has(name)) errors.push(notFound(child(at, "name"), name));
    if (mountPath === "") errors.push(required(child(at, "mountPath")));
    if (paths.has(mountPath)) errors.push(invalid(child(at, "mountPath"), mountPath, "must be unique"));
    paths.add(mountPath);
    return errors;
  });
}
