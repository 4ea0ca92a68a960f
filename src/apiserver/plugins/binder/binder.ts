/** The volume binder at work: looks, takes the one next step, looks again. */
import type { Millis } from "../../../base/brand.ts";
import { defaultClass } from "../../admission/plugins.ts";
import type {
  ApiObject,
  Background,
  BackgroundContext,
  CreateBackground,
  Registry,
  StoreEvent,
} from "../../contracts.ts";
import { createTeller } from "./events.ts";
import { type BinderIndex, boundCollections, createBinderIndex, placeOf } from "./index.ts";
import { type BinderView, planClaim, planVolume, type Step } from "./plan.ts";
import { claimRefOf, classNameOf, phaseOf, volumeNameOf } from "./words.ts";

const { claims, volumes, classes } = boundCollections;

const claimKey = (place: string): string => `claim ${place}`;
const volumeKey = (name: string): string => `volume ${name}`;

/** Binding takes four writes, some cases one or two more; whoever needs more steps than this goes in circles. */
const stepsMax = 12;

export const createBinder: CreateBackground = (context: BackgroundContext): Background => {
  const { registry } = context;
  const tell = createTeller(context, "persistentvolume-controller");
  const index = createBinderIndex();
  const view = viewOf(registry, index);

  const look = (key: string): Step => {
    const [kind, place = ""] = key.split(" ");
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
    keysFor: (event) => {
      index.observe(event);
      return keysFor(event, index);
    },
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
      // The registry settles metadata in place, and this one is that of the stored object.
      return wasNewest ? { ...object, metadata: { ...object.metadata } } : undefined;
    },
    status ? { subresource: "status" } : {},
  );
  return wasNewest;
}

const viewOf = (registry: Registry, index: BinderIndex): BinderView => ({
  candidates: (claim) =>
    [...index.promisedTo(placeOf(claim)), ...index.free(classNameOf(claim) ?? "")]
      .map((name) => registry.get(volumes, "", name))
      .filter((volume) => volume !== undefined),
  defaultClass: () => defaultClass(registry),
  volume: (name) => registry.get(volumes, "", name),
  claim: (namespace, name) => registry.get(claims, namespace, name),
  storageClass: (name) => registry.get(classes, "", name),
});

function keysFor({ collection, now: { object }, type }: StoreEvent, index: BinderIndex): readonly string[] {
  if (collection === claims) {
    const volume = volumeNameOf(object);
    const promised = type === "DELETED" ? index.promisedTo(placeOf(object)) : [];
    return [claimKey(placeOf(object)), ...(volume === "" ? [] : [volumeKey(volume)]), ...promised.map(volumeKey)];
  }
  if (collection === volumes) return [volumeKey(object.metadata.name ?? ""), ...claimsConcerned(object, index)];
  return collection === classes ? index.waiting().map(claimKey) : [];
}

/** A volume that is promised concerns its claim; one that is free concerns every claim that waits for its class. */
function claimsConcerned(volume: ApiObject, index: BinderIndex): readonly string[] {
  const ref = claimRefOf(volume);
  if (ref !== undefined) return [claimKey(`${ref.namespace ?? ""}/${ref.name ?? ""}`)];
  return phaseOf(volume) === "Available" ? index.waitingFor(classNameOf(volume) ?? "").map(claimKey) : [];
}
