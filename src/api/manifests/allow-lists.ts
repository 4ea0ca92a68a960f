/** The ConfigMaps that list the shares with reserved names, as they are installed, and the right to read them. */
import type { ConfigMap } from "kubernetes-types/core/v1.js";
import { allowListSources } from "../share-lists.ts";
import { type Installation, type ManifestObject, object, type Right } from "./component.ts";

const lists = Object.values(allowListSources);

export const allowListObjects = ({ namespace }: Installation): readonly ManifestObject[] =>
  lists.map(({ configMap: name, installed: data }) =>
    object<ConfigMap>("v1", "ConfigMap", { metadata: { name, namespace }, data }),
  );

export const allowListRight: Right = {
  apiGroups: [""],
  resources: ["configmaps"],
  resourceNames: lists.map(({ configMap }) => configMap),
  verbs: ["get"],
  why: "These list the shares that may have a reserved name. They are read once at the start.",
};
