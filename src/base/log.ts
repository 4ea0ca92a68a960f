/**
 * What a component says to its operator: a constant message and fields, so that logs can be searched by message.
 * The writer lives in runtime/log.ts; this layer does no I/O.
 */
export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  /** From -v. */
  readonly verbosity: number;
  /** From verbosity 5 on: each request that changes something, and each CSI call. */
  trace(message: string, fields?: Fields): void;
  /** From verbosity 4 on: each decision. */
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** The same log with fields added to every line. */
  with(fields: Fields): Log;
}

const ignore = (): void => undefined;
export const silent: Log = {
  verbosity: 0,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  with: () => silent,
};

/** As in Kubernetes, where decisions are logged at 4. */
export const debugVerbosity = 4;
export const traceVerbosity = 5;
