/** What a command of the advice would do to the data of a cluster: the advice of `explain` must not harm, whoever follows it blindly. */
import type { ClusterObject } from "./cluster.ts";

interface Advice {
  readonly says: string;
  readonly command?: string | undefined;
}

/** Never advised, whatever the state: finalizers removed by hand, and data deleted by force. */
const alwaysHarmful = /"finalizers":\s*(null|\[\])|patch\b.*finalizers|--force\b|--grace-period=0/;
/** Deleting one of these ends data, or the only trace of it. */
const holdsData = /^(volumesnapshotcontent|vsc|persistentvolume|pv|customresourcedefinition|crd|namespace|ns)s?$/;

/** Why the advice would harm; empty: it would not. */
export function harmIn(next: readonly Advice[], objects: readonly ClusterObject[]): readonly string[] {
  const text = next.map(({ says, command = "" }) => `${says}\n${command}`).join("\n");
  const commands = next.flatMap(({ command }) => (command === undefined ? [] : [command]));
  return [
    ...(alwaysHarmful.test(text) ? ["takes a finalizer off, or deletes by force"] : []),
    ...commands.flatMap((command) => deletionIn(command, objects)),
    ...commands.flatMap((command) => orphanIn(command, text, objects)),
  ];
}

function deletionIn(command: string, objects: readonly ClusterObject[]): readonly string[] {
  const [, kind = "", name = "", namespace] =
    /^kubectl delete (\S+) (\S+)(?: -n (\S+))?/.exec(command) ?? /^kubectl delete ([^/\s]+)\/(\S+)/.exec(command) ?? [];
  if (kind === "") return [];
  if (holdsData.test(kind)) return [`deletes ${kind} ${name}`];
  const meant = objects.find(
    (each) =>
      each.kind.toLowerCase() === kind.replace(/s$/, "") &&
      each.metadata.name === name &&
      (namespace === undefined || each.metadata.namespace === namespace),
  );
  if (kind.startsWith("volumesnapshot") && !isDataGoing(meant, objects))
    return [`deletes snapshot ${name} with its data`];
  const isBound = (meant?.spec as { volumeName?: unknown } | undefined)?.volumeName !== undefined;
  return kind.startsWith("persistentvolumeclaim") && isBound ? [`deletes claim ${name} with its volume`] : [];
}

/** A snapshot whose content is being deleted already loses nothing more. */
const isDataGoing = (snapshot: ClusterObject | undefined, objects: readonly ClusterObject[]): boolean =>
  objects.some(
    ({ kind, metadata, spec }) =>
      kind === "VolumeSnapshotContent" &&
      metadata.deletionTimestamp !== undefined &&
      (spec as { volumeSnapshotRef?: { name?: unknown } }).volumeSnapshotRef?.name === snapshot?.metadata.name,
  );

/** Who lets a content go without the driver's deletion has to know by which handle the data is found again. */
function orphanIn(command: string, text: string, objects: readonly ClusterObject[]): readonly string[] {
  const [, name] =
    /^kubectl patch (?:volumesnapshotcontent|vsc)[ /](\S+) .*"deletionPolicy":"Retain"/.exec(command) ?? [];
  if (name === undefined) return [];
  const content = objects.find(({ kind, metadata }) => kind === "VolumeSnapshotContent" && metadata.name === name);
  const { status, spec } = (content ?? {}) as {
    status?: { snapshotHandle?: string };
    spec?: { source?: { snapshotHandle?: string } };
  };
  const handle = status?.snapshotHandle ?? spec?.source?.snapshotHandle;
  return handle !== undefined && text.includes(handle) ? [] : [`lets ${name} go without naming the handle of its data`];
}
