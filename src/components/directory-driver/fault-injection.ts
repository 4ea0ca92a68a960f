/** Trouble on demand: answers a number of calls of a method with a fault instead of doing them, or after having done them. */
import { Fault, type FaultCode, faults } from "../../base/fault.ts";
import { nearest } from "../../base/nearest.ts";
import { Controller, GroupController, Identity, Node } from "../../csi/gen/csi_pb.js";
import type { Layer } from "../../csi/layers.ts";

export interface InjectedFault {
  readonly method: string;
  readonly code: FaultCode;
  /** How many calls it befalls. */
  readonly times: number;
  /** The work is done and only the answer is lost. */
  readonly afterwards: boolean;
}

const shape = /^([^=]*)=([^*:]*)(?:\*([^:]*))?(:.*)?$/;

const methods: readonly string[] = [Identity, Controller, GroupController, Node].flatMap((service) =>
  service.methods.map(({ name }) => name),
);
const codes = Object.keys(faults) as readonly FaultCode[];

/** "CreateSnapshot=Unavailable*2" or "DeleteSnapshot=DeadlineExceeded:after"; or the part that is wrong, and what may stand there. */
export function parseInjectedFault(text: string): InjectedFault | string {
  const [matched, method = "", word = "", count = "1", after] = shape.exec(text) ?? [];
  if (matched === undefined)
    return `${JSON.stringify(text)} has no "=": expected METHOD=CODE, perhaps with *TIMES and :after`;
  const code = codes.find((name) => name.toLowerCase() === word.toLowerCase());
  if (!methods.includes(method)) return unknown(method, "CSI method", methods);
  if (code === undefined) return unknown(word, "code", codes);
  const times = Number(count);
  if (!(/^\d+$/.test(count) && Number.isSafeInteger(times) && times > 0))
    return `${JSON.stringify(count)} is not a number of times: expected a whole number of at least 1`;
  if (after !== undefined && after !== ":after")
    return `${JSON.stringify(after)} is unknown: expected :after or nothing`;
  return { method, code, times, afterwards: after !== undefined };
}

function unknown(word: string, what: string, words: readonly string[]): string {
  const meant = nearest(word, words);
  const hint = meant === undefined ? "" : `, did you mean ${meant}?`;
  return `${JSON.stringify(word)} is not a ${what}${hint} (one of ${words.join(", ")})`;
}

export function faultInjectionLayer(injectedFaults: readonly InjectedFault[]): Layer {
  const left = injectedFaults.map((injected) => ({ ...injected }));
  return (next) => async (call, signal) => {
    const due = left.find(({ method, times }) => times > 0 && method === call.method.name);
    if (due === undefined) return next(call, signal);
    due.times -= 1;
    if (due.afterwards) await next(call, signal);
    throw new Fault(due.code, `${due.method} fails because --fault says so, ${due.times} more to come`);
  };
}
