/** Trouble on demand: answers a number of calls of a method with a fault instead of doing them, or after having done them. */
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Fault, type FaultCode, faults } from "../../base/fault.ts";
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

/** "CreateSnapshot=Unavailable*2" or "DeleteSnapshot=DeadlineExceeded:after"; undefined when it is not written like that. */
export function parseMishap(text: string): Mishap | undefined {
  const [, method = "", code = "", times = "1", after] = shape.exec(text) ?? [];
  const known = (Object.keys(faults) as FaultCode[]).find((name) => name.toLowerCase() === code.toLowerCase());
  return known === undefined
    ? undefined
    : { method, code: known, times: Number(times), afterwards: after !== undefined };
}

export function mishapLayer(mishaps: readonly Mishap[]): Layer {
  const left = mishaps.map((mishap) => ({ ...mishap }));
  return (next) => async (call, signal) => {
    const due = left.find(({ method, times }) => times > 0 && method === (call.method as DescMethodUnary).name);
    if (due === undefined) return next(call, signal);
    due.times -= 1;
    if (due.afterwards) await next(call, signal);
    throw new Fault(due.code, `${due.method} fails because --fault says so, ${due.times} more to come`);
  };
}
