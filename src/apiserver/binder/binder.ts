/** The volume binder at work: looks, takes the one next step, looks again. */
import type { Millis } from "../../base/brand.ts";
import { defaultClass } from "../admission/plugins.ts";
import type { ApiObject, Background, BackgroundContext, CreateBackground, Registry, StoreEvent } from "../contracts.ts";
import { createTeller } from "./events.ts";
import { type BinderView, planClaim, planVolume, type Step } from "./plan.ts";
import { annotationOf, annotations, claimRefOf, classNameOf, phaseOf, volumeNameOf } from "./words.ts";

const claims = "persistentvolumeclaims";
const volumes = "persistentvolumes";
const classes = "storage.k8s.io/storageclasses";

const claimKey = (namespace: string, name: string): string => `claim ${namespace}/${name}`;
const volumeKey = (name: string): string => `volume ${name}`;
const keyOfClaim = ({ metadata }: ApiObject): string => claimKey(metadata.namespace ?? "", metadata.name ?? "");

/** Binding takes four writes, some cases one or two more; whoever needs more steps than this goes in circles. */
const stepsMax = 12;

export const createBinder: CreateBackground = (context: BackgroundContext): Background => {
  const { registry } = context;
  const tell = createTeller(context, "persistentvolume-controller");

  const look = (key: string): Step => {
    const [kind, place = ""] = key.split(" ");
    const view = viewOf(registry);
    if (kind === "volume") {
      const volume = view.volume(place);
      return volume === undefined ? { kind: "rest" } : planVolume(volume, view);
    }
    const [namespace = "", name = ""] = place.split("/");
    const claim = view.claim(namespace, name);
    return claim === undefined ? { kind: "rest" } : planClaim(claim, view);
  };

  return {
    name: "volume-binder",
    wakes: (event) => wakes(event, registry),
    async reconcile(key): Promise<Millis | undefined> {
      for (let steps = 0; steps < stepsMax; steps += 1) {
        const step = look(key);
        if (step.kind === "rest") return undefined;
        if (step.kind === "tell") {
          await tell(step.about, step.event);
          return undefined;
        }
        if (!(await write(registry, step))) return 0;
      }
      return undefined;
    },
  };
};

/** False: somebody else was faster, and what we saw is no longer so. */
async function write(registry: Registry, { object, status }: Step & { kind: "write" }): Promise<boolean> {
  const resource = registry.ofCollection(object.kind === "PersistentVolume" ? volumes : claims);
  if (resource === undefined) return false;
  const { namespace = "", name = "", resourceVersion } = object.metadata;
  let wasNewest = true;
  await registry.modify(
    resource,
    namespace,
    name,
    (current) => {
      wasNewest = current.metadata.resourceVersion === resourceVersion;
      return wasNewest ? object : undefined;
    },
    status ? { subresource: "status" } : {},
  );
  return wasNewest;
}

const viewOf = (registry: Registry): BinderView => ({
  get volumes() {
    return registry.list(volumes);
  },
  get defaultClass() {
    return defaultClass(registry);
  },
  volume: (name) => registry.get(volumes, "", name),
  claim: (namespace, name) => registry.get(claims, namespace, name),
  storageClass: (name) => registry.get(classes, "", name),
});

function wakes({ collection, now, type }: StoreEvent, registry: Registry): readonly string[] {
  const { object } = now;
  if (collection === claims) {
    const volume = volumeNameOf(object);
    const promised = type === "DELETED" ? volumesPromisedTo(object, registry) : [];
    return [keyOfClaim(object), ...(volume === "" ? [] : [volumeKey(volume)]), ...promised];
  }
  if (collection === volumes) return [volumeKey(object.metadata.name ?? ""), ...claimsConcerned(object, registry)];
  if (collection === classes) return waiting(registry).map(keyOfClaim);
  return [];
}

const volumesPromisedTo = ({ metadata }: ApiObject, registry: Registry): readonly string[] =>
  registry
    .list(volumes)
    .filter((volume) => claimRefOf(volume)?.uid === metadata.uid)
    .map(({ metadata: { name } }) => volumeKey(name ?? ""));

/** A volume that is promised concerns its claim; one that is free concerns every claim that waits for its class. */
function claimsConcerned(volume: ApiObject, registry: Registry): readonly string[] {
  const ref = claimRefOf(volume);
  if (ref !== undefined) return [claimKey(ref.namespace ?? "", ref.name ?? "")];
  if (phaseOf(volume) !== "Available") return [];
  const name = volume.metadata.name ?? "";
  return waiting(registry)
    .filter(
      (claim) => [name, ""].includes(volumeNameOf(claim)) && (classNameOf(claim) ?? "") === (classNameOf(volume) ?? ""),
    )
    .map(keyOfClaim);
}

const waiting = (registry: Registry): readonly ApiObject[] =>
  registry.list(claims).filter((claim) => annotationOf(claim, annotations.bindCompleted) === undefined);
