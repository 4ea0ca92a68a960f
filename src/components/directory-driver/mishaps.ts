/** Trouble on demand: answers a number of calls of a method with a fault instead of doing them, or after having done them. */
import { Fault, type FaultCode, faults } from "../../base/fault.ts";
import { Controller, Identity, Node } from "../../csi/gen/csi_pb.js";
import type { Layer } from "../../csi/layers.ts";

export interface Mishap {
  readonly method: string;
  readonly code: FaultCode;
  /** How many calls it befalls. */
  readonly times: number;
  /** The work is done and only the answer is lost. */
  readonly afterwards: boolean;
}

const shape = /^(\w+)=(\w+?)(?:\*(\d+))?(:after)?$/;

const methods: ReadonlySet<string> = new Set(
  [Identity, Controller, Node].flatMap((service) => service.methods.map(({ name }) => name)),
);

/** "CreateSnapshot=Unavailable*2" or "DeleteSnapshot=DeadlineExceeded:after"; undefined when it is not written like that. */
export function parseMishap(text: string): Mishap | undefined {
  const [, method = "", word = "", count = "1", after] = shape.exec(text) ?? [];
  const code = (Object.keys(faults) as FaultCode[]).find((name) => name.toLowerCase() === word.toLowerCase());
  const times = Number(count);
  if (code === undefined || !methods.has(method) || !(Number.isSafeInteger(times) && times > 0)) return undefined;
  return { method, code, times, afterwards: after !== undefined };
}

export function mishapLayer(mishaps: readonly Mishap[]): Layer {
  const left = mishaps.map((mishap) => ({ ...mishap }));
  return (next) => async (call, signal) => {
    const due = left.find(({ method, times }) => times > 0 && method === call.method.name);
    if (due === undefined) return next(call, signal);
    due.times -= 1;
    if (due.afterwards) await next(call, signal);
    throw new Fault(due.code, `${due.method} fails because --fault says so, ${due.times} more to come`);
  };
}
