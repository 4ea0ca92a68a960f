/** What Kubernetes fills into a pod's spec, alone or as a template. Changes its argument. */
import { isObject, type JsonObject } from "../../base/json.ts";
import { ensure, part, setDefault } from "./check.ts";

const readable = 0o644;
const tokenSeconds = 3600;

const items = (object: JsonObject, key: string): readonly JsonObject[] => {
  const list = object[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
};

export function setPodSpecDefaults(spec: JsonObject): void {
  setDefault(spec, "restartPolicy", "Always");
  setDefault(spec, "terminationGracePeriodSeconds", 30);
  setDefault(spec, "dnsPolicy", "ClusterFirst");
  setDefault(spec, "securityContext", {});
  setDefault(spec, "schedulerName", "default-scheduler");
  if (spec.serviceAccountName === undefined && spec.serviceAccount !== undefined)
    spec.serviceAccountName = spec.serviceAccount;
  if (spec.serviceAccountName !== undefined) spec.serviceAccount = spec.serviceAccountName;
  const hostNetwork = spec.hostNetwork === true;
  for (const key of ["initContainers", "containers", "ephemeralContainers"])
    for (const container of items(spec, key)) setContainerDefaults(container, hostNetwork);
  for (const volume of items(spec, "volumes")) setVolumeDefaults(volume);
}

/** Only a pod of its own says this; in a template it is left open. */
export function setOwnPodDefaults(spec: JsonObject): void {
  setDefault(spec, "enableServiceLinks", true);
  for (const container of items(spec, "containers")) {
    const resources = ensure(container, "resources");
    const requests = { ...part(resources, "limits"), ...part(resources, "requests") };
    if (Object.keys(requests).length > 0) resources.requests = requests;
  }
}

function setContainerDefaults(container: JsonObject, hostNetwork: boolean): void {
  setDefault(container, "terminationMessagePath", "/dev/termination-log");
  setDefault(container, "terminationMessagePolicy", "File");
  setDefault(container, "imagePullPolicy", pullPolicyFor(String(container.image ?? "")));
  for (const port of items(container, "ports")) {
    setDefault(port, "protocol", "TCP");
    if (hostNetwork) setDefault(port, "hostPort", port.containerPort ?? 0);
  }
  for (const variable of items(container, "env")) {
    const { fieldRef } = part(variable, "valueFrom");
    if (isObject(fieldRef)) setDefault(fieldRef, "apiVersion", "v1");
  }
  for (const key of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[key];
    if (isObject(probe)) setProbeDefaults(probe);
  }
  for (const key of ["postStart", "preStop"]) {
    const handler = part(container, "lifecycle")[key];
    if (isObject(handler)) setHttpDefaults(handler);
  }
}

/** An image that may change under its name is looked for each time. */
function pullPolicyFor(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const [, tag = "latest"] = /:([^/:]+)$/.exec(image) ?? [];
  return tag === "latest" ? "Always" : "IfNotPresent";
}

function setProbeDefaults(probe: JsonObject): void {
  setHttpDefaults(probe);
  if (isObject(probe.grpc)) setDefault(probe.grpc, "service", "");
  setDefault(probe, "timeoutSeconds", 1);
  setDefault(probe, "periodSeconds", 10);
  setDefault(probe, "successThreshold", 1);
  setDefault(probe, "failureThreshold", 3);
}

function setHttpDefaults(handler: JsonObject): void {
  if (!isObject(handler.httpGet)) return;
  setDefault(handler.httpGet, "path", "/");
  setDefault(handler.httpGet, "scheme", "HTTP");
}

function setVolumeDefaults(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  for (const key of ["secret", "configMap", "downwardAPI", "projected"]) {
    const source = volume[key];
    if (isObject(source)) setDefault(source, "defaultMode", readable);
  }
  setFieldRefDefaults(part(volume, "downwardAPI"));
  if (isObject(volume.hostPath)) setDefault(volume.hostPath, "type", "");
  for (const source of items(part(volume, "projected"), "sources")) {
    if (isObject(source.serviceAccountToken)) setDefault(source.serviceAccountToken, "expirationSeconds", tokenSeconds);
    setFieldRefDefaults(part(source, "downwardAPI"));
  }
  const template = part(volume, "ephemeral").volumeClaimTemplate;
  if (isObject(template)) setDefault(ensure(template, "spec"), "volumeMode", "Filesystem");
}

function setFieldRefDefaults(source: JsonObject): void {
  for (const item of items(source, "items")) if (isObject(item.fieldRef)) setDefault(item.fieldRef, "apiVersion", "v1");
}
