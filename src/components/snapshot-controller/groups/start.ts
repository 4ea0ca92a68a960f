/** The group side from the snapshot-controller's parts: it runs while the group kinds are served. */
import type { VolumeSnapshot } from "../../../api/types.ts";
import { keyOf } from "../../../api/types.ts";
import { type Key, keyIn } from "../../../base/brand.ts";
import { ownerGroupOf } from "../../../rules/group-members.ts";
import type { ComponentContext } from "../../../runtime/component.ts";
import { createServedPart } from "../../../runtime/served-part.ts";
import type { Membership } from "../observe.ts";
import { createGroupControllers, type GroupDeps } from "./index.ts";

interface GroupPartOptions {
  readonly context: Pick<ComponentContext, "api" | "world" | "log">;
  readonly recheckMs?: number | undefined;
}

export interface GroupPart {
  /** Whether the group of a member exists. */
  stateOf(snapshot: VolumeSnapshot): Membership;
  /** Works while the kinds are served. `trigger` is told of members whose group has gone. */
  run(
    signal: AbortSignal,
    deps: Omit<GroupDeps, "api" | "world" | "log">,
    trigger: (snapshot: Key) => void,
  ): Promise<void>;
}

export function createGroupPart({ context, recheckMs }: GroupPartOptions): GroupPart {
  const { api, world, log } = context;
  const kinds = ["VolumeGroupSnapshot", "VolumeGroupSnapshotContent", "VolumeGroupSnapshotClass"] as const;
  const served = createServedPart({ api, world, log, name: "group snapshots", kinds, recheckMs });
  let part: ReturnType<typeof createGroupControllers> | undefined;
  return {
    stateOf: (snapshot) => {
      const owner = ownerGroupOf(snapshot);
      if (owner === undefined) return { kind: "none" };
      if (served.isServed() === false) return { kind: "gone", evidence: [] };
      const store = part?.stores.VolumeGroupSnapshot;
      if (store?.isSynced() !== true) return { kind: "unknown" };
      const { namespace } = snapshot.metadata;
      const found = store.get(keyIn(namespace, owner.name));
      if (found?.metadata.uid === owner.uid) return { kind: "held" };
      // A group that a list has missed still holds its members: the server is asked.
      const ref = { kind: "VolumeGroupSnapshot", namespace, name: owner.name } as const;
      return {
        kind: "gone",
        evidence: [{ kind: "confirm", ref, resourceVersion: found?.metadata.resourceVersion }],
      };
    },
    run: (signal, deps, trigger) =>
      served.run(signal, async (stop) => {
        part = createGroupControllers({ ...deps, api, world, log });
        part.stores.VolumeGroupSnapshot.onChange((before, after) => {
          if (before === undefined || after !== undefined) return;
          for (const snapshot of deps.stores.VolumeSnapshot.by("group", before.metadata.uid)) trigger(keyOf(snapshot));
        });
        await part.run(stop);
        part = undefined;
      }),
  };
}
