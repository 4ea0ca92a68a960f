/** The driver's optional configuration file, with the keys of the driver we replace. Unknown keys are ignored, as there. */
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { parseDuration } from "../../base/duration.ts";
import { Fault } from "../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../base/fs-errors.ts";
import { isObject, type JsonValue } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";

export interface SharedResourceConfig {
  readonly shareRelistIntervalMs: number;
  /** False: no volume is updated, whatever its own attribute says. */
  readonly refreshResources: boolean;
}

export const defaultConfig: SharedResourceConfig = { shareRelistIntervalMs: 600_000, refreshResources: true };

/** Undefined: there is no such file. */
export async function readConfigFile(path: string): Promise<string | undefined> {
  if (path === "") return undefined;
  return readFile(path, "utf8").catch((reason: unknown) => {
    if (errorCodeOf(reason) === "ENOENT") return undefined;
    throw new Fault("FailedPrecondition", `--config ${path} cannot be read: ${fsErrorText(reason)}`);
  });
}

export function parseConfig(path: string, text: string | undefined, log: Log): SharedResourceConfig {
  const value = text === undefined ? {} : (yamlIn(path, text) ?? {});
  if (!isObject(value)) throw new Fault("FailedPrecondition", `--config ${path} must be a mapping of keys to values`);
  return {
    shareRelistIntervalMs: relistIn(value.shareRelistInterval, log),
    refreshResources: typeof value.refreshResources === "boolean" ? value.refreshResources : true,
  };
}

/** As upstream looks: every three seconds. */
const configPollMs = 3_000;

/** Resolves with true when the file has another text, and with false when the signal aborts. */
export async function whenConfigChanges(
  path: string,
  text: string | undefined,
  { world, signal }: { readonly world: Pick<World, "sleep">; readonly signal: AbortSignal },
): Promise<boolean> {
  while (!signal.aborted) {
    await world.sleep(configPollMs, signal).catch(() => undefined);
    const now = await readConfigFile(path).catch(() => text);
    if (now !== text) return true;
  }
  return false;
}

function yamlIn(path: string, text: string): JsonValue {
  try {
    return parse(text) as JsonValue;
  } catch (reason) {
    throw new Fault("FailedPrecondition", `--config ${path} is not YAML: ${Fault.from(reason).message}`);
  }
}

function relistIn(value: JsonValue | undefined, log: Log): number {
  if (value === undefined) return defaultConfig.shareRelistIntervalMs;
  const ms = typeof value === "string" ? parseDuration(value) : undefined;
  if (ms !== undefined && ms > 0) return ms;
  log.error("shareRelistInterval is not a duration, using the default", {
    value,
    defaultMs: defaultConfig.shareRelistIntervalMs,
  });
  return defaultConfig.shareRelistIntervalMs;
}
