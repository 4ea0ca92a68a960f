/**
 * Writes a component's log, one line per message: klog's look for people ("I1115 09:40:54.123456 name] message k=v"), or
 * JSON with the field names of Kubernetes' own components. Fields pass through `redact`. A log never throws: what cannot
 * be printed is said to be unprintable, and what cannot be written is lost.
 */
import type { Fields, Log } from "../base/log.ts";
import { redact } from "../base/redact.ts";
import type { World } from "../base/world.ts";
import type { Writer } from "./command.ts";

export interface LogOptions {
  readonly format: "text" | "json";
  /** From -v: at 4 and above, debug messages are written. */
  readonly verbosity: number;
  /** Who speaks: the component. */
  readonly name: string;
  readonly world: Pick<World, "now">;
  readonly out: Writer;
}

type Level = "debug" | "info" | "warn" | "error";
type Format = (level: Level, at: number, name: string, message: string, fields: Fields) => string;

/** As in Kubernetes, where decisions are logged at 4. */
const debugVerbosity = 4;

export function createLog({ format, verbosity, name, world, out }: LogOptions): Log {
  const print = formats[format];
  const write = (level: Level, message: string, fields: Fields): void => {
    try {
      out.write(`${print(level, world.now(), name, message, fields)}\n`);
    } catch {
      attempt(() => out.write(`${print(level, world.now(), name, message, { fields: "unprintable" })}\n`));
    }
  };
  const withFields = (bound: Fields): Log => {
    const at =
      (level: Level) =>
      (message: string, fields: Fields = {}): void =>
        write(level, message, { ...bound, ...fields });
    const ignore = (): void => undefined;
    return {
      debug: verbosity >= debugVerbosity ? at("debug") : ignore,
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (more) => withFields({ ...bound, ...more }),
    };
  };
  return withFields({});
}

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // There is no other place to report it.
  }
}

/** klog has no letter for debug: to it that is information of a higher verbosity. */
const letters: Readonly<Record<Level, string>> = { debug: "I", info: "I", warn: "W", error: "E" };

const text: Format = (level, at, name, message, fields) => {
  const iso = new Date(at).toISOString();
  const head = `${letters[level]}${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, 23)}000 ${name}]`;
  const pairs = Object.entries(redact(fields) as Fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `${head} ${oneLine(message)}${pairs.join("")}`;
};

const json: Format = (level, at, name, message, fields) =>
  JSON.stringify({
    ts: at,
    level,
    logger: name,
    msg: message,
    v: level === "debug" ? debugVerbosity : 0,
    ...(redact(fields) as Fields),
  });

const formats: Readonly<Record<LogOptions["format"], Format>> = { text, json };

const oneLine = (message: string): string => message.replace(/\s*\n\s*/g, " ");
