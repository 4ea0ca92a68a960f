/**
 * The records of mounted volumes, one JSON file each, with the names and fields of the driver we replace: after a swap of the programs,
 * in either direction, the other one finds the volumes. They hold no data of a Secret.
 */

import { constants } from "node:fs";
import { mkdir, open, readdir, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ShareKind } from "../../../api/share-lists.ts";
import { Fault } from "../../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../../base/fs-errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { unlessMissing } from "../../../node/mounts.ts";
import { nodeLimits } from "./limits.ts";
import { isVolumeId, targetOf } from "./plan-request.ts";
import { sourceKinds, type VolumeSpec } from "./types.ts";

export interface VolumeRecord {
  readonly spec: VolumeSpec;
  /** The Secret or ConfigMap that the content is of, as `sourceKey` writes it; upstream's records do not say. */
  readonly source?: string | undefined;
}

export interface Records {
  /** Those that can be read, and the names of files that cannot, each with the reason. */
  all(): Promise<{ readonly records: readonly VolumeRecord[]; readonly skipped: Readonly<Record<string, string>> }>;
  write(record: VolumeRecord): Promise<void>;
  /** No mistake when there is none. */
  remove(id: string): Promise<void>;
}

export function createRecords(folder: string): Records {
  const pathOf = (id: string): string => {
    if (!isVolumeId(id)) throw new Fault("Internal", `no record can have the name ${JSON.stringify(id)}`);
    return join(folder, id);
  };
  return {
    async all() {
      const names = await readdir(folder).catch(unlessMissing<string[]>([]));
      const records: VolumeRecord[] = [];
      const skipped: Record<string, string> = {};
      for (const name of names.filter(isVolumeId)) {
        const found = await readRecord(join(folder, name), name).catch((reason: unknown) => Fault.from(reason).message);
        if (typeof found === "string") skipped[name] = found;
        else records.push(found);
      }
      return { records, skipped };
    },
    async write(record) {
      const path = pathOf(record.spec.id);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A dot at the beginning: what a crash leaves behind is no record.
      const draft = join(folder, `.${record.spec.id}.new`);
      await unlink(draft).catch(unlessMissing(undefined));
      try {
        await writeFile(draft, JSON.stringify(recordJson(record)), { mode: 0o600, flag: "wx" });
        await rename(draft, path);
      } catch (reason) {
        throw new Fault("Internal", `the record ${path} cannot be written: ${fsErrorText(reason)}`);
      }
    },
    remove: (id) => unlink(pathOf(id)).catch(unlessMissing(undefined)),
  };
}

/** Never through a symbolic link. */
async function readRecord(path: string, name: string): Promise<VolumeRecord> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((reason: unknown) => {
    throw new Fault("Internal", errorCodeOf(reason) === "ELOOP" ? "a symbolic link" : fsErrorText(reason));
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Fault("Internal", "not a file");
    if (found.size > nodeLimits.recordBytesMax) throw new Fault("Internal", `${found.size} bytes are too many`);
    return recordIn(JSON.parse(await file.readFile("utf8")) as JsonValue, name);
  } finally {
    await file.close();
  }
}

function recordIn(value: JsonValue, name: string): VolumeRecord {
  if (!isObject(value)) throw new Fault("Internal", "not a JSON object");
  const text = (field: string): string => {
    const found = value[field];
    if (typeof found !== "string" || found === "") throw new Fault("Internal", `the field ${field} is missing`);
    return found;
  };
  const id = text("volID");
  if (id !== name) throw new Fault("Internal", `the record is of volume ${JSON.stringify(id)}`);
  const kind = text("sharedDataKind");
  const shareKind = (Object.keys(sourceKinds) as ShareKind[]).find((share) => sourceKinds[share] === kind);
  if (shareKind === undefined) throw new Fault("Internal", `sharedDataKind is ${JSON.stringify(kind)}`);
  const pod = {
    namespace: text("podNamespace"),
    name: text("podName"),
    uid: text("podUID"),
    serviceAccount: text("podSA"),
  };
  const target = targetOf(text("targetPath"));
  const spec = { id, target, shareKind, share: text("sharedDataId"), pod, refresh: value.refresh !== false };
  return { spec, source: typeof value.source === "string" ? value.source : undefined };
}

/** What upstream calls the anchor: it is also the source that the mount table shows. */
export const anchorOf = ({ id, pod }: Pick<VolumeSpec, "id" | "pod">): string => `${pod.namespace}-${pod.name}-${id}`;

/** Upstream's number for a mounted file system. */
const mountAccess = 16;

const recordJson = ({ spec, source }: VolumeRecord): JsonObject => ({
  volID: spec.id,
  volName: anchorOf(spec),
  volSize: 0,
  volPathAnchorDir: anchorOf(spec),
  volPathBindMountDir: "",
  volAccessType: mountAccess,
  targetPath: spec.target,
  sharedDataKind: sourceKinds[spec.shareKind],
  sharedDataId: spec.share,
  podNamespace: spec.pod.namespace,
  podName: spec.pod.name,
  podUID: spec.pod.uid,
  podSA: spec.pod.serviceAccount,
  refresh: spec.refresh,
  ...(source === undefined ? {} : { source }),
});
