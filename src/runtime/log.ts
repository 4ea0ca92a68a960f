/**
 * Writes a component's log, one line per message: klog's look for people ("I1115 09:40:54.123456 name] message k=v"), or
 * JSON with the field names of Kubernetes' own components. Fields pass through `redact`. A log never throws: what cannot
 * be printed is said to be unprintable, and what cannot be written is lost.
 */
import { debugVerbosity, type Fields, type Log, traceVerbosity } from "../base/log.ts";
import { redact } from "../base/redact.ts";
import type { World } from "../base/world.ts";
import type { Writer } from "./command.ts";

export interface LogOptions {
  readonly format: "text" | "json";
  /** From -v: at 4 and above debug messages are written, at 5 and above also traces. */
  readonly verbosity: number;
  /** Who speaks: the component. */
  readonly name: string;
  readonly world: Pick<World, "now">;
  readonly out: Writer;
}

type Level = "trace" | "debug" | "info" | "warn" | "error";
type Format = (level: Level, at: number, name: string, message: string, fields: Fields) => string;

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
      verbosity,
      trace: verbosity >= traceVerbosity ? at("trace") : ignore,
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

const verbosities: Readonly<Record<Level, number>> = {
  trace: traceVerbosity,
  debug: debugVerbosity,
  info: 0,
  warn: 0,
  error: 0,
};

/** klog has no letter for debug: to it that is information of a higher verbosity. */
const letters: Readonly<Record<Level, string>> = { trace: "I", debug: "I", info: "I", warn: "W", error: "E" };

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
    v: verbosities[level],
    ...(redact(fields) as Fields),
  });

const formats: Readonly<Record<LogOptions["format"], Format>> = { text, json };

const oneLine = (message: string): string => message.replace(/\s*\n\s*/g, " ");
