/** A command of the program: one small file that says what it takes, how it is used and what it does. */
import type { KindName } from "../api/kinds.ts";
import { Fault } from "../base/fault.ts";
import type { World } from "../base/world.ts";
import type { FlagTable, Options } from "./flag-kinds.ts";
import type { Environment, Parsed } from "./flags.ts";
import type { Example } from "./help.ts";
import type { MetricTable } from "./metrics.ts";

export interface Writer {
  write(text: string): unknown;
}

/** Everything a command may touch of the process it runs in. */
export interface CommandContext {
  readonly environment: Environment;
  /** Aborts on SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  readonly world: World;
  readonly out: Writer;
  readonly error: Writer;
  readonly version: string;
  /** The width of the terminal that help is written for; unknown where there is none. */
  readonly columns?: number | undefined;
  /** All of standard input, for commands that take "-". */
  readInput?(): Promise<string>;
  /** Leaves the last words of a component where its supervisor looks for them. */
  writeTerminationMessage?(line: string): void;
}

export interface CommandInput<T extends FlagTable> extends CommandContext {
  readonly options: Options<T>;
  readonly given: Parsed<T>["given"];
  readonly positionals: readonly string[];
}

export interface CommandModule<T extends FlagTable = FlagTable> {
  readonly flags: T;
  readonly examples: readonly Example[];
  /** Shown in the usage line, for example "FILE…". Absent: a positional argument is a mistake. */
  readonly takes?: string;
  /** Whose names complete an argument; several kinds are written before it, as in "pvc/data". */
  readonly completes?: Readonly<Record<string, KindName>>;
  readonly metrics?: MetricTable;
  /** What flags and arguments together may not say: one line with the remedy, or undefined. */
  check?(options: Options<T>, positionals: readonly string[]): string | undefined;
  /** The exit code; throwing prints one line and is a failure. */
  run(input: CommandInput<T>): Promise<number>;
}

/** Checks the types of a command where it is written, and forgets them where all commands meet. */
export const defineCommand = <const T extends FlagTable>(command: CommandModule<T>): CommandModule =>
  command as unknown as CommandModule;

/** For `check`: what a value is refused with, if it is. */
export function complaintOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (reason) {
    return Fault.from(reason).message;
  }
}

/** A row of the command table: what is known without loading the command's module. */
export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  /** A component serves until it is stopped; a tool does one thing. */
  readonly kind: "tool" | "component";
  load(): Promise<{ readonly command: CommandModule }>;
}
