/** Writes that keep earlier ones out, and the notes that fence.ts keeps of them (docs/decisions/0025). */
import type { KubeObject } from "../api/types.ts";
import { isFault } from "../base/fault.ts";
import type { Fence } from "./fence.ts";

/** Sends an object that has the finalizer or not. Without a reply nobody knows what has become of it, and it may still land. */
export async function replaceNoted<T extends KubeObject>(
  fence: Fence,
  finalizer: string,
  object: T,
  send: () => Promise<T>,
): Promise<T> {
  const isMarked = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(finalizer) === true;
  if (!isMarked(object)) fence.willRemove(object);
  const reply = await send();
  if (isMarked(reply)) fence.hasWritten(object);
  else fence.forget(object.metadata.uid);
  return reply;
}

/** Who loses against so many others in a row gives up, and is called again. */
const triesMax = 4;

/**
 * Writes until a write of ours has been carried out: every request that was decided for an earlier version fails from then on. The write
 * has to change something, because the API server gives no new version to an object that a write leaves as it was. When another
 * writer was faster, what it has written is read first.
 */
export async function writeUntilCarriedOut(write: () => Promise<void>, reread: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await write();
    } catch (reason) {
      if (!isFault(reason, "Conflict", "AlreadyExists", "NotFound") || tries === triesMax) throw reason;
      await reread();
    }
}
