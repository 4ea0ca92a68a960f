/** A driver's services as one function from call to reply; the socket in front of it is optional. */
import { create, type DescMethodUnary, type DescService, type Message } from "@bufbuild/protobuf";
import { Fault } from "../base/fault.ts";
import type { ServiceHandlers, Unary } from "./wire.ts";
import { methodPathOf, unaryMethodsOf } from "./wire.ts";

type Handler = (request: Message, signal: AbortSignal) => Promise<Message> | Message;

export interface Served {
  readonly service: DescService;
  readonly handlers: ReadonlyMap<DescMethodUnary, Handler>;
}

/** Pairs a service with its handlers, typed by the protocol file: `serve(Identity, { probe: () => ({}) })`. */
export function serve<S extends DescService>(service: S, handlers: ServiceHandlers<S>): Served {
  const byName = handlers as Readonly<Record<string, Handler | undefined>>;
  const known = unaryMethodsOf(service).flatMap((method): [DescMethodUnary, Handler][] => {
    const handler = byName[method.localName];
    return handler === undefined ? [] : [[method, handler]];
  });
  return { service, handlers: new Map(known) };
}

export function unaryOf(services: readonly Served[]): Unary {
  const handlers = new Map(services.flatMap((served) => [...served.handlers]));
  return async ({ method, request }, signal) => {
    const handler = handlers.get(method);
    if (handler === undefined) throw new Fault("Unimplemented", `this driver does not have ${methodPathOf(method)}`);
    try {
      return create(method.output, await handler(request, signal));
    } catch (reason) {
      if (reason instanceof Fault || signal.aborted) throw Fault.from(reason);
      // A bug of the driver, which the caller cannot fix: it is a reply with the code Internal.
      const unexpected = reason instanceof Error ? reason : undefined;
      throw new Fault("Internal", `${method.name}: ${unexpected?.message ?? String(reason)}`, { unexpected });
    }
  };
}
