/** The publisher of capacity from the context of the provisioner's process. */
import type { Driver } from "../../../csi/driver.ts";
import type { ComponentContext } from "../../../runtime/component.ts";
import type { ProvisionerStores } from "../caches.ts";
import type { OwnNode } from "../driver/own-node.ts";
import { type CapacityPublisher, createCapacityPublisher } from "./index.ts";
import { capacityMetrics } from "./metrics.ts";
import type { CapacityOptions } from "./options.ts";

export function startCapacity(
  context: ComponentContext,
  options: CapacityOptions,
  { name, csi, capabilities }: Pick<Driver, "name" | "csi" | "capabilities">,
  stores: ProvisionerStores,
  ownNode: OwnNode | undefined,
): CapacityPublisher {
  if (capabilities()?.has("GET_CAPACITY") === false)
    context.log.warn("the driver does not announce GET_CAPACITY: it is asked for its capacity all the same", {
      remedy: "leave out --enable-capacity, and set storageCapacity of the CSIDriver to false",
    });
  const publisher = createCapacityPublisher({
    ...context,
    api: context.atRate?.(options.rate) ?? context.api,
    csi,
    driver: name,
    stores,
    ownNode,
    options,
  });
  const { goal, current, obsolete } = context.metrics.instruments(capacityMetrics);
  context.metrics.refresh(() => {
    const counts = publisher.counts();
    goal.set({}, counts.goal);
    current.set({}, counts.current);
    obsolete.set({}, counts.obsolete);
  });
  return publisher;
}
