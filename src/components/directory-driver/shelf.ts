/**
 * A shelf holds things, each in a folder of its own: its record beside its data. The folder tree is the database. A thing is made in
 * a hidden folder and moved into place with one rename, and goes the same way back: whoever looks sees all of it or nothing, whenever
 * the power fails. What lies half-made at start is thrown away.
 */
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { parse, print } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";

export interface Shelf<Item extends { readonly id: string }> {
  get(id: string): Item | undefined;
  /** By id, in order. */
  all(): readonly Item[];
  /** The folder of a thing, where its data is. */
  folder(id: string): string;
  /** `fill` puts the data into the folder it is given; only when it is done does the thing exist. */
  add(item: Item, fill: (folder: string) => Promise<void>): Promise<void>;
  /** Replaces the record, not the data. */
  update(item: Item): Promise<void>;
  remove(id: string): Promise<void>;
}

const recordFile = "record.json";

export async function openShelf<Item extends { readonly id: string }>(
  root: string,
  name: string,
  log: Log,
): Promise<Shelf<Item>> {
  const place = join(root, name);
  const making = join(root, `.making-${name}`);
  await rm(making, { recursive: true, force: true });
  await mkdir(place, { recursive: true, mode: 0o750 });
  await mkdir(making, { recursive: true, mode: 0o700 });
  const items = new Map<string, Item>();
  for (const id of await readdir(place)) {
    const item = await readRecord<Item>(join(place, id, recordFile));
    if (item?.id === id) items.set(id, item);
    else log.warn("folder without a readable record is left alone", { folder: join(place, id) });
  }
  let made = 0;
  const scratch = (id: string): string => join(making, `${id}-${++made}`);
  const folder = (id: string): string => join(place, id);

  return {
    get: (id) => items.get(id),
    all: () => [...items.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    folder,
    async add(item, fill) {
      const draft = scratch(item.id);
      try {
        await mkdir(draft, { mode: 0o750 });
        await fill(draft);
        await writeRecord(join(draft, recordFile), item);
        await rename(draft, folder(item.id));
        await syncFolder(place);
      } catch (reason) {
        await rm(draft, { recursive: true, force: true });
        throw reason;
      }
      items.set(item.id, item);
    },
    async update(item) {
      const draft = scratch(item.id);
      await writeRecord(draft, item);
      await rename(draft, join(folder(item.id), recordFile));
      await syncFolder(folder(item.id));
      items.set(item.id, item);
    },
    async remove(id) {
      const trash = scratch(id);
      await rename(folder(id), trash);
      await syncFolder(place);
      items.delete(id);
      await rm(trash, { recursive: true, force: true });
    },
  };
}

async function readRecord<Item>(path: string): Promise<Item | undefined> {
  try {
    return parse(await readFile(path, "utf8")) as unknown as Item;
  } catch {
    return undefined;
  }
}

async function writeRecord(path: string, item: unknown): Promise<void> {
  const file = await open(path, "w", 0o640);
  try {
    await file.writeFile(print(item));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename is on disk only once its folder is. */
async function syncFolder(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
