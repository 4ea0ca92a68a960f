/** VolumeSnapshotLinks, where they are served and may be read, found by what they point at. */
import { keyOf, type VolumeSnapshotLink } from "../api/types.ts";
import { type Key, keyIn } from "../base/brand.ts";
import { createOptionalStore, type OptionalStore, type OptionalStoreOptions } from "../kube/optional-store.ts";
import { linkedSource } from "../rules/data-source.ts";

export interface Links
  extends Pick<OptionalStore<"VolumeSnapshotLink">, "watch" | "known" | "isUndecided" | "lookSoon" | "onChange"> {
  /** Whether they can be read. */
  isServed(): boolean;
  get(key: Key): VolumeSnapshotLink | undefined;
  /** The snapshot that a link points at. */
  targetOf(link: Key): Key | undefined;
  /** Told of the snapshot that a link points at, when the link comes, changes or goes. */
  onTargetChange(listener: (snapshot: Key) => void): void;
  /** Keys of the links that point at the snapshot. */
  pointingAt(snapshot: Key): readonly Key[];
  /** Keys of the links from a namespace into another that needs to consent. */
  across(from: string, to: string): readonly Key[];
}

const targetIn = (link: VolumeSnapshotLink | undefined): Key | undefined => {
  const source = link && linkedSource(link);
  return source && keyIn(source.namespace, source.name);
};
const indexes = {
  target: (link: VolumeSnapshotLink) => targetIn(link),
  across: (link: VolumeSnapshotLink) => {
    const source = linkedSource(link);
    return source?.referrer && `${source.referrer.namespace} ${source.namespace}`;
  },
};

export function createLinks(options: Omit<OptionalStoreOptions<"VolumeSnapshotLink", never>, "indexes">): Links {
  const { current, ...optional } = createOptionalStore<"VolumeSnapshotLink", keyof typeof indexes>(
    "VolumeSnapshotLink",
    { ...options, indexes },
  );
  return {
    ...optional,
    isServed: () => current() !== undefined,
    get: (key) => current()?.get(key),
    targetOf: (key) => targetIn(current()?.get(key)),
    onTargetChange: (listener) =>
      optional.onChange((before, after) => {
        for (const target of new Set([targetIn(before), targetIn(after)])) if (target !== undefined) listener(target);
      }),
    pointingAt: (snapshot) => (current()?.by("target", snapshot) ?? []).map(keyOf),
    across: (from, to) => (current()?.by("across", `${from} ${to}`) ?? []).map(keyOf),
  };
}
