/**
 * A proxy on loopback between a client and an HTTP/1.1 server that breaks things on command: it cuts connections, cuts
 * frames in half, lets streams fall silent, delays replies, and lets a request through while its reply gets lost. With
 * TLS it ends the client's connection itself and opens another one, so that it sees, and can break, what is inside.
 */
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
  connect as tcpConnect,
} from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer as createTlsServer, connect as tlsConnect } from "node:tls";

export interface FaultProxyOptions {
  readonly port: number;
  /** Present: both sides speak TLS. */
  readonly tls?: {
    /** What the proxy shows to clients. */
    readonly key: string;
    readonly certificate: string;
    /** Who signed what the server shows to the proxy. */
    readonly authority: string;
  };
}

/** Matches "METHOD /path?query" of the latest request on the connection. */
export type Match = (request: string) => boolean;

export interface FaultProxy {
  readonly port: number;
  /** Connections whose latest request matches. */
  count(match?: Match): number;
  /** All of these act on the connections that match now, and return how many that were. */
  disconnect(match?: Match): number;
  /** Half of the next reply passes. "cut": then the connection breaks; "end": the reply ends properly, half a frame short. */
  truncate(how: "cut" | "end", match?: Match): number;
  /** The connection stays, and nothing comes through any more. */
  stall(match?: Match): number;
  /** Puts a frame of our own into a chunked reply. */
  inject(frame: string, match?: Match): number;
  /** The next request that matches gets through, its reply never does; resolves when that has happened. */
  loseReply(match: Match): Promise<void>;
  /** The next request that matches is kept on its way until it is released. */
  hold(match: Match): Hold;
  /** Every request that matches gets this status from the proxy and never arrives, as with a failing server, until reset. */
  answer(status: number, match: Match): Refusing;
  /** Takes back every `answer` that was not ended. */
  answerNoMore(): void;
  /** Every request from now on, whether it arrives or not, in a list that grows. */
  record(): readonly string[];
  /** Every piece of a reply comes so much later, until set to 0. */
  delayReplies(ms: number): void;
  /** Nobody listens, until set to false: the kernel refuses new connections. Those that are open stay. */
  refuse(on: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface Hold {
  /** Resolves when a request is being kept. */
  readonly held: Promise<void>;
  /** What is kept gets on; what has not come yet will not be kept. */
  release(): void;
}

export interface Refusing {
  /** How many it were so far. */
  count(): number;
  end(): void;
}

interface Relay {
  readonly client: Socket;
  readonly server: Socket;
  request: string;
  mode: "open" | "refused" | "stalled" | "losing" | "truncate-cut" | "truncate-end";
  /** Whatever was passed on last ended a chunk: something else may be put in here. */
  atBoundary: boolean;
  /** What this relay's next reply is to be lost for. */
  loss: Loss | undefined;
  /** What the client has sent since its request is held. */
  kept: Buffer[] | undefined;
  /** Replies pass in order, delayed or not. */
  passing: Promise<void>;
}

interface Loss {
  readonly match: Match;
  readonly done: () => void;
}

interface Holding {
  readonly match: Match;
  readonly keep: (relay: Relay) => void;
}

interface Refusal {
  readonly status: number;
  readonly match: Match;
  count: number;
}

const anything: Match = () => true;

export async function createFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const relays = new Set<Relay>();
  const losses: Loss[] = [];
  const holds = new Set<Holding>();
  const refusals = new Set<Refusal>();
  const records: string[][] = [];
  let delayMs = 0;

  const accept = (client: Socket): void => {
    client.on("error", () => undefined);
    const server = dial(options);
    // As both ends do: otherwise a request in two packets waits 40 ms for the delayed acknowledgement of the first.
    for (const socket of [client, server]) socket.setNoDelay(true);
    const passing = Promise.resolve();
    const relay: Relay = {
      client,
      server,
      request: "",
      mode: "open",
      atBoundary: false,
      loss: undefined,
      kept: undefined,
      passing,
    };
    relays.add(relay);
    client.on("close", () => {
      relays.delete(relay);
      server.destroy();
      // There was no reply to lose: its sender or the server was killed. The next one will do.
      if (relay.loss !== undefined) losses.push(relay.loss);
    });
    server
      .on("error", () => undefined)
      .on("close", (broken) => {
        // After all pending data, and never on a stalled stream: a silent network reports nothing.
        void relay.passing.then(() => {
          if (relay.mode === "stalled") return;
          if (broken) client.destroy();
          else client.end();
        });
      });
    client.on("data", (chunk: Buffer) => {
      if (noteRequest(relay, chunk, losses, records)) keepIfHeld(relay, holds);
      if (relay.kept !== undefined) relay.kept.push(chunk);
      else if (!isRefused(relay, refusals)) server.write(chunk);
    });
    server.on("data", (chunk: Buffer) => {
      relay.passing = relay.passing.then(async () => {
        if (delayMs > 0) await sleep(delayMs);
        passOn(relay, chunk);
      });
    });
  };

  let listener = await listen(options, accept, 0);
  const { port } = listener.address() as AddressInfo;
  const each = (match: Match, act: (relay: Relay) => void): number => {
    const chosen = [...relays].filter(({ request, mode }) => match(request) && mode !== "stalled");
    for (const relay of chosen) act(relay);
    return chosen.length;
  };

  return {
    port,
    count: (match = anything) => each(match, () => undefined),
    disconnect: (match = anything) => each(match, ({ client }) => void client.destroy()),
    truncate: (how, match = anything) =>
      each(match, (relay) => {
        relay.mode = how === "cut" ? "truncate-cut" : "truncate-end";
      }),
    stall: (match = anything) =>
      each(match, (relay) => {
        relay.mode = "stalled";
      }),
    inject: (frame, match = anything) =>
      each(
        (request) => match(request),
        (relay) => void (relay.atBoundary && relay.client.write(chunkOf(Buffer.from(frame)))),
      ),
    loseReply: (match) => new Promise((done) => void losses.push({ match, done })),
    hold: (match) => hold(holds, match),
    answer: (status, match) => {
      const refusal: Refusal = { status, match, count: 0 };
      refusals.add(refusal);
      return { count: () => refusal.count, end: () => void refusals.delete(refusal) };
    },
    answerNoMore: () => refusals.clear(),
    record: () => {
      const record: string[] = [];
      records.push(record);
      return record;
    },
    delayReplies: (ms) => {
      delayMs = ms;
    },
    refuse: async (on) => {
      if (!on) listener = await listen(options, accept, port);
      else listener.close();
    },
    close: async () => {
      for (const { client } of relays) client.destroy();
      await new Promise((resolve) => void listener.close(resolve));
    },
  };
}

function listen({ tls }: FaultProxyOptions, accept: (client: Socket) => void, port: number): Promise<Server> {
  const server: Server =
    tls === undefined
      ? createTcpServer(accept)
      : createTlsServer({ key: tls.key, cert: tls.certificate }, accept).on("tlsClientError", () => undefined);
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(server));
  });
}

const dial = ({ port, tls }: FaultProxyOptions): Socket =>
  tls === undefined
    ? tcpConnect({ port, host: "127.0.0.1" })
    : tlsConnect({ port, host: "127.0.0.1", ca: tls.authority });

const requestLine = /^([A-Z]+ \S+) HTTP\/1\.1\r\n/;

/** Whether a request begins here. */
function noteRequest(relay: Relay, chunk: Buffer, losses: Loss[], records: readonly string[][]): boolean {
  const [, request] = requestLine.exec(chunk.toString("latin1", 0, 4_096)) ?? [];
  if (request === undefined) return false;
  relay.request = request;
  for (const record of records) record.push(request);
  relay.atBoundary = false;
  const index = losses.findIndex(({ match }) => match(request));
  if (index === -1) return true;
  relay.mode = "losing";
  relay.loss = losses.splice(index, 1)[0];
  return true;
}

function hold(holds: Set<Holding>, match: Match): Hold {
  const held = Promise.withResolvers<void>();
  let relay: Relay | undefined;
  const holding: Holding = {
    match,
    keep: (kept) => {
      holds.delete(holding);
      relay = kept;
      kept.kept = [];
      held.resolve();
    },
  };
  holds.add(holding);
  return {
    held: held.promise,
    release: () => {
      holds.delete(holding);
      for (const chunk of relay?.kept ?? []) relay?.server.write(chunk);
      if (relay !== undefined) relay.kept = undefined;
    },
  };
}

const keepIfHeld = (relay: Relay, holds: ReadonlySet<Holding>): void =>
  [...holds].find(({ match }) => match(relay.request))?.keep(relay);

/** Answers in the server's place, and has the client open another connection for the next request. */
function isRefused(relay: Relay, refusals: ReadonlySet<Refusal>): boolean {
  if (relay.mode === "refused") return true;
  const refusal = [...refusals].find(({ match }) => match(relay.request));
  if (refusal === undefined) return false;
  refusal.count += 1;
  relay.mode = "refused";
  const { status } = refusal;
  const body = JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code: status,
    message: "not now",
  });
  const head = [`HTTP/1.1 ${status} Refused`, "Content-Type: application/json", `Content-Length: ${body.length}`];
  relay.client.end([...head, "Connection: close", "", body].join("\r\n"));
  return true;
}

function passOn(relay: Relay, chunk: Buffer): void {
  const { client, mode } = relay;
  switch (mode) {
    case "open":
      client.write(chunk);
      relay.atBoundary = chunk.subarray(-2).equals(Buffer.from("\r\n"));
      break;
    case "refused":
    case "stalled":
      break;
    case "losing":
      client.destroy();
      relay.loss?.done();
      relay.loss = undefined;
      break;
    case "truncate-cut":
      client.write(chunk.subarray(0, chunk.length >> 1), () => client.destroy());
      break;
    case "truncate-end":
      relay.mode = "stalled";
      client.end(endingHalfway(chunk));
  }
}

/** Half of the chunk's payload as a whole chunk, then the chunk that ends the body: HTTP sees nothing wrong. */
function endingHalfway(chunk: Buffer): Buffer {
  const head = chunk.indexOf("\r\n") + 2;
  const payload = chunk.subarray(head, head + Number.parseInt(chunk.toString("latin1", 0, head), 16));
  return Buffer.concat([chunkOf(payload.subarray(0, payload.length >> 1)), Buffer.from("0\r\n\r\n")]);
}

const chunkOf = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${payload.length.toString(16)}\r\n`), payload, Buffer.from("\r\n")]);
