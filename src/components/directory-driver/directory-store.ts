/**
 * A directory store keeps items, each in a folder of its own: its record beside its data. The folder tree is the database. An item
 * is made in a hidden folder and moved into place with one rename, and is removed the same way: a reader sees all of it or nothing,
 * whenever the power fails. What a start finds half-made is removed.
 */
import { mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { isObject, parse, print } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { uuid, type World } from "../../base/world.ts";
import { makeFolder } from "../../node/folders.ts";
import { asFault } from "../../node/program.ts";
import { syncToDisk } from "../../node/sync.ts";
import { removeTree } from "./remove-tree.ts";

export interface DirectoryStore<Item extends { readonly id: string }> {
  get(id: string): Item | undefined;
  /** Sorted by id. */
  all(): readonly Item[];
  /** The folder of an item, where its data is. */
  folder(id: string): string;
  /** `fill` puts the data into the folder it is given; only when it is done does the item exist. */
  add(item: Item, fill: (folder: string) => Promise<void>): Promise<void>;
  /** Replaces the record, not the data. */
  update(item: Item): Promise<void>;
  /** Fails until the data is gone. Meanwhile the item does not exist, and asking again goes on with the removal. */
  remove(id: string): Promise<void>;
}

export interface DirectoryStoreOptions {
  readonly root: string;
  readonly name: string;
  readonly world: Pick<World, "random">;
  readonly log: Log;
  /** For tests: how a tree is removed. */
  readonly removeTree?: (path: string) => Promise<void>;
}

const recordFile = "record.json";
const makingFolder = (root: string, name: string): string => join(root, `.making-${name}`);

/** The folders that opening a store creates in the root. */
export const storeFolders = (root: string, name: string): readonly string[] => [
  makingFolder(root, name),
  join(root, name),
];

export async function openDirectoryStore<Item extends { readonly id: string }>(
  options: DirectoryStoreOptions,
): Promise<DirectoryStore<Item>> {
  const { root, name, world, removeTree: removeData = removeTree } = options;
  const place = join(root, name);
  const making = await emptyMakingFolder(options);
  await makeFolder(place, 0o750);
  const items = await readItems<Item>(place, options.log);
  /** Data of items that exist no more. After a restart it is among the leftovers, which each start removes. */
  const doomed = new Map<string, readonly string[]>();
  /** Never used before: a copying program that outlived a killed driver may still write to one it was given. */
  const scratch = (id: string): string => join(making, `${id}-${uuid(world)}`);
  const folder = (id: string): string => join(place, id);
  /** Whether another process has removed it. When the whole store folder is unreadable, nothing is known about its records. */
  const isRemoved = async (id: string): Promise<boolean> => !(await readdir(place)).includes(id);
  const takeDown = async (id: string): Promise<void> => {
    const trash = scratch(id);
    const moved = await rename(folder(id), trash).then(
      () => true,
      async (reason: unknown) => {
        if (!(await isRemoved(id))) throw reason;
        return false;
      },
    );
    items.delete(id);
    if (moved) doomed.set(id, [...(doomed.get(id) ?? []), trash]);
    await syncToDisk(place);
  };
  /** `make` works on a draft and moves it into the folder `into`. When it fails, nothing of the draft stays. */
  const putIn = async (item: Item, into: string, make: (draft: string) => Promise<void>): Promise<void> => {
    const draft = scratch(item.id);
    try {
      await make(draft);
    } catch (reason) {
      await removeOrSay(draft, options.log);
      throw asFault(reason);
    }
    items.set(item.id, item);
    await syncToDisk(into);
  };

  return {
    get: (id) => items.get(id),
    all: () => [...items.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    folder,
    add: (item, fill) =>
      putIn(item, place, async (draft) => {
        await mkdir(draft, { mode: 0o750 });
        await fill(draft);
        await writeRecord(join(draft, recordFile), item);
        await rename(draft, folder(item.id)).catch(whoIsInTheWay(folder(item.id)));
      }),
    update: (item) =>
      putIn(item, folder(item.id), async (draft) => {
        await writeRecord(draft, item);
        await rename(draft, join(folder(item.id), recordFile));
      }),
    async remove(id) {
      if (items.has(id)) await takeDown(id);
      for (const path of doomed.get(id) ?? []) await removeData(path);
      doomed.delete(id);
    },
  };
}

/** What resists is only said: it is tried again at the next start. */
const removeOrSay = (path: string, log: Log): Promise<void> =>
  removeTree(path).catch((reason: unknown) =>
    log.warn("incomplete volume or snapshot cannot be removed", { folder: path, error: String(reason) }),
  );

/**
 * What a killed driver was making is first moved aside, so that a program which still writes there by path finds nothing any
 * more, and then removed.
 */
async function emptyMakingFolder({ root, name, world, log }: DirectoryStoreOptions): Promise<string> {
  const making = makingFolder(root, name);
  const leftover = `.leftover-${name}-`;
  await rename(making, join(root, `${leftover}${uuid(world)}`)).catch(() => undefined);
  await makeFolder(making, 0o700);
  for (const found of (await readdir(root)).filter((entry) => entry.startsWith(leftover)))
    await removeOrSay(join(root, found), log);
  return making;
}

async function readItems<Item extends { readonly id: string }>(place: string, log: Log): Promise<Map<string, Item>> {
  const items = new Map<string, Item>();
  for (const id of await readdir(place)) {
    const item = await readRecord(join(place, id, recordFile));
    if (item?.id === id) items.set(id, item as unknown as Item);
    else log.warn("folder without a readable record is kept", { folder: join(place, id) });
  }
  return items;
}

async function readRecord(path: string): Promise<{ readonly [key: string]: unknown } | undefined> {
  try {
    const record = parse(await readFile(path, "utf8"));
    return isObject(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** A rename replaces no folder that holds something: one without a readable record, which we know nothing of. */
const whoIsInTheWay = (folder: string) => (reason: NodeJS.ErrnoException) => {
  if (!["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(reason.code ?? "")) throw reason;
  throw new Fault(
    "FailedPrecondition",
    `${folder} is in the way and has no readable record: look at it, and move it away`,
  );
};

async function writeRecord(path: string, item: unknown): Promise<void> {
  const file = await open(path, "w", 0o640);
  try {
    await file.writeFile(print(item));
    await file.sync();
  } finally {
    await file.close();
  }
}
