/** Seeing to it that what was written is on the disk: of a file, a folder (a rename is there only once its folder is) or a device. */
import { open } from "node:fs/promises";

export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, "r");
  await file.sync().finally(() => file.close());
}
