/**
 * Several controllers in one process. They share its connections, its metrics and its health, and nothing else: each has a lease of its own
 * and takes turns, as many as it needs.
 *
 *   start → watch ─┬─▶ lead ──▶ run ──▶ lease lost, or failed ──▶ drained ──▶ start again
 *                  └─ caches stay current while another replica leads
 *
 * One controller's turn ends without the others noticing. Only a turn that does not end ends the process: what it has sent may still have
 * an effect, while another replica leads.
 */
import { backoffMs } from "../base/backoff.ts";
import { Fault, loggable, unexpectedIn } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { controllerUnder } from "../base/world.ts";
import { createGrpcChannel, type GrpcChannel } from "../csi/grpc.ts";
import { createSharedStores, type SharedStores } from "../kube/shared-stores.ts";
import { type ComponentSpec, type ConnectedInput, connectFor, userAgentOf } from "./component.ts";
import { type Connection, findKinds, retryUntil } from "./connect.ts";
import { type Component, type Frame, runFrame } from "./frame.ts";
import type { Metrics } from "./metrics.ts";
import { createTurn, type TurnOptions } from "./turn.ts";

export interface ControllerRow {
  /** How --controllers and the health pages call it. */
  readonly name: string;
  readonly spec: Pick<ComponentSpec, "name" | "kinds" | "start">;
  readonly options: TurnOptions;
}

/** Returns the exit code. */
export const runControllers = (input: ConnectedInput, name: string, rows: readonly ControllerRow[]): Promise<number> =>
  runFrame(input, { name, unstarted: "starting", health: { "leader-election": () => undefined } }, async (frame) => {
    const connection = await connectFor(input, frame, { userAgent: name, kinds: [], waitMsMax: 0 });
    frame.onClose(connection.close);
    const parts = { input, frame, connection, channelTo: createChannels(frame), shared: createSharedStores() };
    const controllers = rows.map((row) => createController(row, parts));
    frame.show({
      run: () => Promise.resolve(),
      ready: () => firstOf(controllers.map(({ problem }) => problem())),
      health: Object.fromEntries(controllers.map(({ name: of, health }) => [of, health])),
    });
    frame.log.info("started", { version: input.version, server: connection.target.server.origin });
    const failures = await Promise.all(controllers.map(({ run }) => run()));
    for (const failure of failures) if (failure !== undefined) throw failure;
  });

const firstOf = (problems: readonly (string | undefined)[]): string | undefined =>
  problems.find((problem) => problem !== undefined);

/** One connection per socket. */
function createChannels({ onClose }: Pick<Frame, "onClose">): (address: string) => GrpcChannel {
  const channels = new Map<string, GrpcChannel>();
  return (address) => {
    const channel = channels.get(address) ?? createGrpcChannel(address);
    if (!channels.has(address)) onClose(channel.close);
    channels.set(address, channel);
    return channel;
  };
}

const restart = { startMs: 1_000, maxMs: 60_000 } as const;

interface Parts {
  readonly input: ConnectedInput;
  readonly frame: Frame;
  readonly connection: Connection;
  channelTo(address: string): GrpcChannel;
  readonly shared: SharedStores;
}

function createController(
  { name, spec, options }: ControllerRow,
  { input, frame, connection, channelTo, shared }: Parts,
) {
  const { world } = frame;
  const log = frame.log.with({ component: spec.name });
  const metrics = createTurnMetrics(frame.metrics);
  let shown: Component | undefined;
  let problem: string | undefined = "starting";
  let failures = 0;

  /** Resolves with what the controller failed with; a stop is no failure. */
  const takeTurn = async (): Promise<Fault | undefined> => {
    const drain = createDrain(frame);
    const failure = await turnWithin(drain).then(() => undefined, Fault.from);
    return drain.isOverdue() ? new StillAtWork(name) : failure;
  };

  const turnWithin = async (drain: Drain): Promise<void> => {
    const { own: over, release } = controllerUnder(frame.signal);
    const { signal } = over;
    const closers: (() => unknown)[] = [];
    const turn = createTurn(options, { ...spec, start: async (context) => drain.bound(await spec.start(context)) });
    const show = (component: Component): void => {
      shown = component;
      problem = undefined;
      failures = 0;
      log.info("controller started");
    };
    metrics.begin();
    try {
      const clients = connection.clientsOf({
        userAgent: userAgentOf(spec.name, input.version),
        ...{ log, refusal: turn.guard.ofRequest },
      });
      const waiting = { world, log, signal, waitMsMax: Number.POSITIVE_INFINITY };
      await retryUntil(waiting, (deadline) => findKinds(clients.api, spec.kinds, deadline));
      const place = { world, log, metrics, signal, show, onClose: (close: () => unknown) => void closers.push(close) };
      await turn.run(place, clients, { channelTo, shared });
    } finally {
      shown = undefined;
      over.abort(new Fault("Cancelled", "the turn is over"));
      await turn.settled();
      turn.end();
      for (const close of closers.reverse()) await close();
      release();
    }
  };

  return {
    name,
    problem: (): string | undefined => {
      const missing = problem ?? shown?.ready?.();
      return missing === undefined ? undefined : `${name}: ${missing}`;
    },
    health: (): string | undefined => firstOf(Object.values(shown?.health ?? {}).map((check) => check())),
    /** Returns what went wrong while the process was stopped: the other controllers end in peace. Rejects when the process must end. */
    run: async (): Promise<Fault | undefined> => {
      for (;;) {
        const ended = await takeTurn();
        if (ended instanceof StillAtWork) throw ended;
        if (frame.signal.aborted) return ended?.code === "Cancelled" ? undefined : ended;
        const fault = ended ?? new Fault("Internal", "the work ended by itself");
        problem = fault.message;
        const retryMs = backoffMs(restart, failures++, world.random());
        const say = unexpectedIn(fault) === undefined ? log.warn : log.error;
        say("controller ended, and starts again", { reason: loggable(fault), retryMs: Math.round(retryMs) });
        await world.sleep(retryMs, frame.signal).catch(() => undefined);
        if (frame.signal.aborted) return undefined;
      }
    },
  };
}

/** What a turn has begun did not end. Only the end of the process stops it for certain. */
class StillAtWork extends Fault {
  constructor(name: string) {
    super(
      "Aborted",
      `the ${name} lost its lease and its work did not end within ${limits.controllerDrainMsMax / 1_000} s; ending, so that nothing is written while another replica leads`,
    );
  }
}

type Drain = ReturnType<typeof createDrain>;

/** Work that was told to stop, and the time that it may take. */
function createDrain({ world, signal: stop }: Pick<Frame, "world" | "signal">) {
  let isOverdue = false;
  const run = async (component: Component, leading: AbortSignal): Promise<void> => {
    const { own: working, release } = controllerUnder(leading);
    const ended = new AbortController();
    const overdue = async (): Promise<void> => {
      await new Promise<void>((resolve) => {
        if (working.signal.aborted) resolve();
        else working.signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await world.sleep(limits.controllerDrainMsMax, ended.signal);
      // A process that is stopped has a time limit of its own.
      isOverdue = !stop.aborted;
    };
    try {
      await Promise.race([component.run(working.signal), overdue()]);
    } finally {
      // A part that fails must not leave the others at work.
      working.abort(new Fault("Cancelled", "the turn is over"));
      ended.abort();
      release();
    }
  };
  return {
    isOverdue: () => isOverdue,
    bound: (component: Component): Component => ({ ...component, run: (leading) => run(component, leading) }),
  };
}

/** Gauges that are looked up at each scrape are those of the turn: what was before is gone. */
function createTurnMetrics(metrics: Metrics): Metrics & { begin(): void } {
  let updates: (() => void)[] = [];
  metrics.refresh(() => {
    for (const update of updates) update();
  });
  return {
    ...metrics,
    refresh: (update) => void updates.push(update),
    begin: () => {
      updates = [];
    },
  };
}
