/** The ConfigMaps that list the shares with reserved names, as they are installed, and the right to read them. */
import type { ConfigMap } from "kubernetes-types/core/v1.js";
import { type Installation, type ManifestObject, object, type Right } from "./component.ts";

/** Name → data. The entry is the example of the requirement document. */
const lists: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "ocp-sharedsecret-list": { "openshift-etc-pki-entitlement": "openshift-config-managed:etc-pki-entitlement" },
  "ocp-sharedconfigmap-list": {},
};

export const allowListObjects = ({ namespace }: Installation): readonly ManifestObject[] =>
  Object.entries(lists).map(([name, data]) =>
    object<ConfigMap>("v1", "ConfigMap", { metadata: { name, namespace }, data }),
  );

export const allowListRight: Right = {
  apiGroups: [""],
  resources: ["configmaps"],
  resourceNames: Object.keys(lists),
  verbs: ["get"],
  why: "These list the shares that may have a reserved name. They are read once at the start.",
};
