/** What each look at a volume, a stored volume or a source needs beside the caches, as it is at that moment. */
import type { World } from "../../base/world.ts";
import type { GrantFrom } from "../../rules/reference-grant.ts";
import type { GrantFacts } from "../../rules/source-access.ts";
import type { AttributesReader } from "./claims/attributes-reader.ts";
import type { ControllerParts } from "./controllers.ts";
import type { ProvisionerMemory } from "./memory.ts";
import type { DriverFacts, OptionalKinds, ProvisionerOptions } from "./options.ts";
import type { SnapshotReader } from "./sources/snapshot-reader.ts";

export interface ContextParts {
  readonly memory: ProvisionerMemory;
  readonly attributes: Pick<AttributesReader, "get">;
  readonly reader: Pick<SnapshotReader, "pair">;
  readonly optional: OptionalKinds;
  readonly options: ProvisionerOptions;
  readonly identity: string;
  readonly world: Pick<World, "now">;
  driver(): DriverFacts;
}

export function createContexts(parts: ContextParts): ControllerParts["context"] {
  const { memory, attributes, reader, options, identity, world, driver } = parts;
  const { snapshots, grants, links, mayProtectSnapshots } = parts.optional;
  const isOn = ({ kind }: GrantFrom): boolean =>
    kind === "VolumeSnapshotLink" ? links !== undefined : options.crossNamespace === true;
  const grantFacts = (): GrantFacts => ({ isOn, find: grants?.finder() });
  return {
    volume: () => ({
      ...{ attributes, options, identity, links },
      memory: memory.ofVolumes,
      intents: memory.intents,
      driver: driver(),
      snapshots: reader,
      grants: grantFacts(),
      watchesSnapshots: snapshots.current() !== undefined,
      protectsSnapshots: snapshots.current() !== undefined && mayProtectSnapshots(),
      nowMs: world.now(),
    }),
    stored: () => ({ memory: memory.ofStored, driver: driver(), ownNode: options.ownNode, nowMs: world.now() }),
    source: () => ({
      memory: memory.ofSources,
      driver: driver().name,
      snapshots: mayProtectSnapshots() ? snapshots.current() : undefined,
      reader,
      nowMs: world.now(),
    }),
  };
}
