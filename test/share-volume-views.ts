/** Views of the node driver of shares: of one mounted volume, and of one request for it. All is well unless a test says otherwise. */

import { noMemory, type VolumeMemory } from "../src/components/shared-resource/node/memory.ts";
import type { VolumeFacts, VolumeView } from "../src/components/shared-resource/node/observe.ts";
import type {
  PublishFacts,
  PublishMemory,
  PublishView,
} from "../src/components/shared-resource/node/observe-publish.ts";
import { nothingAsked } from "../src/components/shared-resource/node/observe-publish.ts";
import type { SourceState, VolumeSpec, Written } from "../src/components/shared-resource/node/types.ts";

export const source = { kind: "Secret", namespace: "owner", name: "x" } as const;
export const otherSource = { ...source, name: "y" } as const;
export const usable = { kind: "usable", source } as const;
export const present = (digest: string): SourceState => ({ kind: "present", content: { digest, bytes: 4_096 } });
export const written = (digest: string | undefined): Written => ({ digest, source: "Secret owner x" });

export const aVolume: VolumeSpec = {
  id: "csi-1",
  target: "/pods/csi-1/mount",
  shareKind: "SharedSecret",
  share: "one",
  pod: { namespace: "team", name: "p", uid: "u", serviceAccount: "reader" },
  refresh: true,
};

/** A volume that shows the current set. */
export function volumeView(facts: Partial<VolumeFacts> = {}, memory: Partial<VolumeMemory> = {}): VolumeView {
  return {
    facts: {
      spec: aVolume,
      refresh: true,
      share: usable,
      review: "allowed",
      source: present("1"),
      full: undefined,
      ...facts,
    },
    memory: { ...noMemory, written: written("1"), follows: source, ...memory },
    nowMs: 0,
  };
}

/** A request that has just come, for a volume that is not mounted. */
export function publishView(facts: Partial<PublishFacts> = {}, memory: Partial<PublishMemory> = {}): PublishView {
  return {
    facts: {
      request: { ...aVolume, readOnly: true, group: undefined },
      known: undefined,
      refresh: true,
      share: usable,
      full: undefined,
      ...facts,
    },
    memory: { ...nothingAsked, ...memory },
    nowMs: 0,
  };
}
