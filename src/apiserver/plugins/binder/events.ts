/** Tells people what the background work sees, as Events; the same thing about the same object once. */
import type { EventText } from "../../../api/plan.ts";
import { rfc3339 } from "../../../base/time.ts";
import type { ApiObject, BackgroundContext } from "../../contracts.ts";
import { Refusal } from "../../status.ts";

export type Tell = (about: ApiObject, event: EventText) => Promise<void>;

const rememberedMax = 10_000;

export function createTeller({ registry, world }: BackgroundContext, component: string): Tell {
  const told = new Set<string>();
  let count = 0;
  return async (about, { type, reason, message }) => {
    const { uid = "", name = "", namespace = "default", resourceVersion = "" } = about.metadata;
    const fingerprint = `${uid} ${reason} ${message}`;
    const events = registry.ofCollection("events");
    if (told.has(fingerprint) || events === undefined) return;
    if (told.size >= rememberedMax) told.clear();
    told.add(fingerprint);
    count += 1;
    const time = rfc3339(world.now());
    const event: ApiObject = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name}.${(world.now() * 1000 + (count % 1000)).toString(16)}`, namespace },
      involvedObject: {
        kind: about.kind,
        apiVersion: about.apiVersion,
        name,
        uid,
        resourceVersion,
        ...(about.metadata.namespace === undefined ? {} : { namespace }),
      },
      reason,
      message,
      type,
      source: { component },
      reportingComponent: component,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    try {
      await registry.create(events, event);
    } catch (refused) {
      // A namespace that is going away takes no events; nothing depends on one.
      if (!(refused instanceof Refusal)) throw refused;
    }
  };
}
