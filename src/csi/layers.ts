/** What every call needs, whichever end we are: one small layer each, wound around the call that does the work. */
import type { Message } from "@bufbuild/protobuf";
import type { Millis } from "../base/brand.ts";
import { Fault, unexpectedIn } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Fields, Log } from "../base/log.ts";
import { stackOf } from "../base/redact.ts";
import { type World, withDeadline } from "../base/world.ts";
import { lockNameOf } from "./lock-names.ts";
import { redactMessage, secretTextsOf } from "./redact.ts";
import { createScrub, type Scrub } from "./scrub.ts";
import { grpcNameOf } from "./status.ts";
import { type CsiCall, methodPathOf, type Unary } from "./wire.ts";

export type Layer = (next: Unary) => Unary;

/** The first layer named is the outermost. */
export const layered = (core: Unary, ...layers: readonly Layer[]): Unary =>
  layers.reduceRight((next, layer) => layer(next), core);

/** The shape of `csi_sidecar_operations_seconds`: method and status in the spelling that dashboards know. */
export interface Sample {
  readonly method: string;
  readonly status: string;
  readonly tookMs: Millis;
}

export const measured =
  (measure: (sample: Sample) => void, world: Pick<World, "elapsed">): Layer =>
  (next) =>
  async (call, signal) => {
    const startedAt = world.elapsed();
    const report = (fault?: Fault): void =>
      measure({ method: methodPathOf(call.method), status: grpcNameOf(fault), tookMs: world.elapsed() - startedAt });
    try {
      const reply = await next(call, signal);
      report();
      return reply;
    } catch (reason) {
      report(Fault.from(reason));
      throw reason;
    }
  };

/**
 * Everything that leaves this layer, as a log line or as an error, is free of the call's secrets. The original error is
 * not kept as a cause: it would carry them out.
 */
export const logged =
  (log: Log, world: Pick<World, "elapsed">): Layer =>
  (next) =>
  async (call, signal) => {
    const startedAt = world.elapsed();
    const fields = { method: methodPathOf(call.method), tookMs: 0 };
    try {
      const reply = await next(call, signal);
      fields.tookMs = Math.round(world.elapsed() - startedAt);
      log.trace("csi call finished", exchange(fields, call, reply));
      return reply;
    } catch (reason) {
      const scrub = scrubFor(call);
      const fault = scrubbed(Fault.from(reason), scrub);
      const unexpected = unexpectedIn(reason);
      const stack = unexpected && { stack: scrub(stackOf(unexpected)) };
      fields.tookMs = Math.round(world.elapsed() - startedAt);
      log.warn("csi call failed", { ...exchange(fields, call), code: fault.code, error: fault.message, ...stack });
      throw fault;
    }
  };

/** A getter costs nothing where debug messages are not written: redaction takes longer than many a call. */
function exchange(fields: Fields, call: CsiCall, reply?: Message): Fields {
  const { input, output } = call.method;
  const request = { get: () => redactMessage(input, call.request, scrubFor(call, reply)), enumerable: true };
  const answer = reply && { get: () => redactMessage(output, reply, scrubFor(call, reply)), enumerable: true };
  return Object.defineProperties({ ...fields }, answer === undefined ? { request } : { request, reply: answer });
}

function scrubFor({ method, request }: CsiCall, reply?: Message): Scrub {
  const ofReply = reply === undefined ? new Set<string>() : secretTextsOf(method.output, reply);
  return createScrub(secretTextsOf(method.input, request).union(ofReply));
}

const scrubbed = ({ code, message, retryAfterMs }: Fault, scrub: Scrub): Fault =>
  new Fault(code, shortened(scrub(message)), { retryAfterMs });

/** It gets into the status of objects, one for each that fails. After the scrubbing: half a secret would not be found. */
const shortened = (message: string): string =>
  message.length <= limits.csiErrorCharsMax ? message : `${message.slice(0, limits.csiErrorCharsMax - 1)}…`;

/** Ends the wait, not necessarily the work: the other side gets a cancellation, and the outcome is unknown. */
export const deadlined =
  (world: Pick<World, "after">): Layer =>
  (next) =>
  (call, parent) =>
    withDeadline(world, parent, call.timeoutMs, (signal) => next(call, signal), `${call.method.name}: no answer`);

export type Locks = ReturnType<typeof createLocks>;

export function createLocks() {
  const held = new Set<string>();
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (held.has(name)) throw new Fault("Aborted", `an operation is pending for ${name}: try again later`);
    held.add(name);
    try {
      return await work();
    } finally {
      held.delete(name);
    }
  };
}

/**
 * CSI asks a driver to answer ABORTED to a second call on a volume or snapshot while the first is under way. The lock
 * opens when the work has ended, not when the caller stops waiting for it.
 */
export const locked =
  (locks: Locks): Layer =>
  (next) =>
  (call, signal) => {
    const name = lockNameOf(call);
    return name === undefined ? next(call, signal) : locks(name, () => next(call, signal));
  };
