/**
 * What a component says to its operator: a constant message and fields, so that logs can be searched by message.
 * The writer lives in runtime/log.ts; this layer does no I/O.
 */
export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** The same log with fields added to every line. */
  with(fields: Fields): Log;
}

const ignore = (): void => undefined;
export const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, with: () => silent };
