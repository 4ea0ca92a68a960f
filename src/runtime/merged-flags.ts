/**
 * One table of flags for several controllers: a row that all of them have is one flag. Where two controllers have different rows under one
 * name, each has its own flag, with the controller's name before it.
 */
import type { Flag, FlagTable, Options } from "./flag-kinds.ts";
import { flagName } from "./flags.ts";

export interface MergedTable {
  /** Its keys are told by `optionsOf`. */
  readonly table: Readonly<Record<never, never>>;
  /** The key of a controller's row in the table. */
  keyOf(controller: string, key: string): string;
  /** The options of one controller, as its own command would give them. */
  optionsOf<T extends FlagTable>(controller: string, flags: T, merged: Readonly<Record<string, unknown>>): Options<T>;
}

/** `shared` names rows that are one flag although they differ, and says what it means then. */
export function mergeFlags(tables: Readonly<Record<string, FlagTable>>, shared: FlagTable): MergedTable {
  const isOne = (key: string): boolean =>
    Object.hasOwn(shared, key) ||
    new Set(Object.values(tables).flatMap((table) => (table[key] === undefined ? [] : [table[key]]))).size === 1;
  const keyOf = (controller: string, key: string): string =>
    isOne(key) ? key : `${controller}${key.charAt(0).toUpperCase()}${key.slice(1)}`;
  const rowOf = (controller: string, key: string, flag: Flag<unknown>): Flag<unknown> =>
    isOne(key)
      ? (shared[key] ?? flag)
      : { ...flag, name: `${controller}-${flagName(key, flag)}`, deprecated: {}, group: `Only ${controller}` };
  const rows = Object.entries(tables).flatMap(([controller, table]) =>
    Object.entries(table).map(([key, flag]) => [keyOf(controller, key), rowOf(controller, key, flag)] as const),
  );
  return {
    keyOf,
    table: Object.fromEntries(rows),
    optionsOf: <T extends FlagTable>(controller: string, flags: T, merged: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(
        Object.keys(flags).map((key) => [key, merged[keyOf(controller, key)]]),
      ) as unknown as Options<T>,
  };
}
