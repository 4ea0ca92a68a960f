/**
 * Between a sidecar and the socket of its driver: passes everything on, and on command keeps a call before the driver sees it, or its
 * reply after it has had its effect. It reads the frames of HTTP/2 as far as it needs to: which call, and which reply belongs to it.
 */
import { rmSync } from "node:fs";
import { createServer, type Socket, connect as socketConnect } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { CreateVolumeRequestSchema } from "../src/csi/gen/csi_pb.js";

export type KeptCall = "CreateVolume" | "DeleteVolume";

export interface Kept {
  /** Resolves when a call, or its reply, is being kept. */
  readonly held: Promise<void>;
  /** What is kept gets on; what has not come yet will not be kept. */
  release(): void;
}

export interface CsiRelay {
  readonly socket: string;
  /** The next such call: "before" the driver sees it, or "after" the driver has done it and before its reply arrives. */
  keep(call: KeptCall, when: "before" | "after"): Kept;
  close(): Promise<void>;
}

interface Keeping {
  readonly call: KeptCall;
  readonly when: "before" | "after";
  /** Told of the call: from now on the pieces go to `kept` instead. */
  begin(connection: Connection): void;
  isReached(): void;
}

interface Connection {
  readonly client: Socket;
  readonly driver: Socket;
  /** What is kept of either direction, in order; undefined: it passes. */
  keptCall: Buffer[] | undefined;
  keptReply: Buffer[] | undefined;
  /** The stream whose reply is to be kept. */
  awaited: { readonly stream: number; readonly keeping: Keeping } | undefined;
}

export async function createCsiRelay(driverSocket: string, socket: string): Promise<CsiRelay> {
  const keepings = new Set<Keeping>();
  const connections = new Set<Connection>();

  const onCall = (connection: Connection, frame: Frame): void => {
    const call = callIn(frame);
    const keeping = [...keepings].find((one) => one.call === call);
    if (keeping === undefined) return;
    keepings.delete(keeping);
    keeping.begin(connection);
    if (keeping.when === "after") connection.awaited = { stream: frame.stream, keeping };
    else {
      connection.keptCall = [];
      keeping.isReached();
    }
  };
  const onReply = (connection: Connection, { stream }: Frame): void => {
    if (connection.awaited?.stream !== stream) return;
    connection.keptReply = [];
    connection.awaited.keeping.isReached();
    connection.awaited = undefined;
  };

  const server = createServer((client) => {
    const driver = socketConnect(driverSocket);
    const connection: Connection = {
      client,
      driver,
      keptCall: undefined,
      keptReply: undefined,
      awaited: undefined,
    };
    connections.add(connection);
    const calls = createFrameReader(prefaceBytes);
    const replies = createFrameReader(0);
    client.on("data", (chunk: Buffer) => {
      for (const frame of calls(chunk)) {
        if (connection.keptCall === undefined) onCall(connection, frame);
        pass(frame.bytes, connection.keptCall, driver);
      }
    });
    driver.on("data", (chunk: Buffer) => {
      for (const frame of replies(chunk)) {
        if (connection.keptReply === undefined) onReply(connection, frame);
        pass(frame.bytes, connection.keptReply, client);
      }
    });
    const end = (): void => {
      connections.delete(connection);
      client.destroy();
      driver.destroy();
    };
    for (const side of [client, driver]) side.on("error", () => undefined).on("close", end);
  });
  rmSync(socket, { force: true });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(socket, resolve));

  return {
    socket,
    keep: (call, when) => {
      const held = Promise.withResolvers<void>();
      let kept: Connection | undefined;
      const begin = (connection: Connection): void => {
        kept = connection;
      };
      const keeping: Keeping = { call, when, begin, isReached: held.resolve };
      keepings.add(keeping);
      return {
        held: held.promise,
        release: () => {
          keepings.delete(keeping);
          if (kept !== undefined) release(kept);
        },
      };
    },
    close: async () => {
      for (const { client } of connections) client.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function pass(bytes: Buffer, kept: Buffer[] | undefined, to: Socket): void {
  if (kept !== undefined) kept.push(bytes);
  else to.write(bytes);
}

function release(connection: Connection): void {
  for (const bytes of connection.keptCall ?? []) connection.driver.write(bytes);
  for (const bytes of connection.keptReply ?? []) connection.client.write(bytes);
  connection.keptCall = undefined;
  connection.keptReply = undefined;
  connection.awaited = undefined;
}

interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
  /** As it came. */
  readonly bytes: Buffer;
}

/** What a client sends before its first frame. */
const prefaceBytes = 24;
const headBytes = 9;
const dataType = 0;
/** Before each message of gRPC: whether it is compressed, and its length. */
const messageHeadBytes = 5;

/** Cuts a direction of a connection into frames; what comes before the first one is passed on as a frame of no type. */
function createFrameReader(before: number): (chunk: Buffer) => readonly Frame[] {
  let rest = Buffer.alloc(0);
  let isBegun = before === 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    const cut = (length: number): Buffer => {
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      return bytes;
    };
    for (;;) {
      if (!isBegun) {
        if (rest.length < before) return frames;
        isBegun = true;
        const bytes = cut(before);
        frames.push({ type: -1, stream: 0, payload: bytes, bytes });
      }
      if (rest.length < headBytes || rest.length < headBytes + rest.readUIntBE(0, 3)) return frames;
      const bytes = cut(headBytes + rest.readUIntBE(0, 3));
      const stream = bytes.readUInt32BE(5) & 0x7fffffff;
      frames.push({ type: bytes.readUInt8(3), stream, payload: bytes.subarray(headBytes), bytes });
    }
  };
}

/** Only these two requests of a provisioner have a name or an id first, and only one of them wants capabilities. */
function callIn({ type, payload }: Frame): KeptCall | undefined {
  if (type !== dataType || payload.length <= messageHeadBytes) return undefined;
  try {
    const { name, volumeCapabilities } = fromBinary(CreateVolumeRequestSchema, payload.subarray(messageHeadBytes));
    if (name === "") return undefined;
    return volumeCapabilities.length > 0 ? "CreateVolume" : "DeleteVolume";
  } catch {
    return undefined;
  }
}
