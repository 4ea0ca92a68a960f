/** The bridge between generated messages and grpc-js: paths, bytes, and what a service looks like from either end. */
import {
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";

/** One call on its way: what the layers around it see. */
export interface CsiCall {
  readonly method: DescMethodUnary;
  readonly request: Message;
  readonly timeoutMs: number;
}

export type Unary = (call: CsiCall, signal: AbortSignal) => Promise<Message>;

export interface UnaryCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** "/csi.v1.Controller/CreateVolume": the name on the wire, and the `method_name` of metrics. */
export const methodPathOf = (method: DescMethodUnary): string => `/${method.parent.typeName}/${method.name}`;

export type ServiceClient<S extends DescService> = {
  readonly [M in keyof S["method"]]: S["method"][M] extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageInitShape<Input>, options?: UnaryCallOptions) => Promise<MessageShape<Output>>
    : never;
};

/** What a driver implements; a method left out answers UNIMPLEMENTED. */
export type ServiceHandlers<S extends DescService> = {
  readonly [M in keyof S["method"]]?: S["method"][M] extends DescMethodUnary<infer Input, infer Output>
    ? (
        request: MessageShape<Input>,
        signal: AbortSignal,
      ) => Promise<MessageInitShape<Output>> | MessageInitShape<Output>
    : never;
};

export function unaryMethodsOf(service: DescService): readonly DescMethodUnary[] {
  return service.methods.filter((method): method is DescMethodUnary => method.methodKind === "unary");
}

export const encoderOf =
  (schema: DescMessage) =>
  (message: Message): Buffer => {
    const bytes = toBinary(schema, message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };

export const decoderOf =
  (schema: DescMessage) =>
  (bytes: Uint8Array): Message =>
    fromBinary(schema, bytes);
