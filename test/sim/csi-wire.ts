/** The line between the sidecar and the driver. */
import type { Message } from "@bufbuild/protobuf";
import { Fault, isFault, isFinal } from "../../src/base/fault.ts";
import { unaryOf } from "../../src/csi/serve.ts";
import type { CsiCall, Unary } from "../../src/csi/wire.ts";
import type { LeaderGuard } from "../../src/runtime/leader-guard.ts";
import type { Backend } from "./backend.ts";
import type { Incarnation } from "./incarnation.ts";
import { bent, isMalformed, withoutAlias } from "./odd.ts";
import type { CsiSent, Recorder } from "./record.ts";
import type { Answer } from "./verdict.ts";
import { sourceIn } from "./volumes.ts";
import { carry, leaveLate, obey, type Stage } from "./wire.ts";

export function createCsiWire(
  harness: Stage,
  incarnation: Incarnation,
  backend: Backend,
  recorder: Recorder,
  refusal: LeaderGuard["ofCall"],
): Unary {
  const driver = unaryOf(backend.services);
  const { world } = harness;
  return async (call, signal) => {
    const asleep = incarnation.awake();
    if (asleep !== undefined) await asleep;
    // Asked once, at the start, before anything is at stake.
    if (isIntroduction(call)) return driver(call, signal);
    obey(refusal(call));
    const { subject, lock, volume, source } = partsOf(call, backend);
    const text = `${call.method.name} ${subject}`;
    const decidedMs = world.elapsed();
    const { boundary, verdict } = harness.strike(incarnation, "csi", text);
    if (verdict.heldBack === true)
      await leaveLate(harness, incarnation, { text, signal, refusal: () => refusal(call) });
    if (verdict.crash !== "before")
      recorder.take({
        type: "csi",
        id: boundary.n,
        atMs: world.elapsed(),
        decidedMs,
        process: incarnation.name,
        method: call.method.name as CsiSent["method"],
        subject,
        volume,
        source,
      });
    const reported = (outcome: "ok" | Fault): void => {
      if (!incarnation.alive()) return;
      const code = outcome === "ok" ? "ok" : outcome.code;
      const final = outcome === "ok" || isFinal(outcome);
      recorder.take({ type: "csi-end", id: boundary.n, atMs: world.elapsed(), outcome: code, final });
    };
    const perform = async (): Promise<Message> => {
      if (!mine) throw new Fault("Aborted", `an operation is pending for ${lock}`);
      const reply = await driver(call, signal).finally(() => backend.busy.delete(lock));
      return bent(backend.odd, call, reply);
    };
    const mine = verdict.effect && verdict.crash !== "before" && !backend.busy.has(lock);
    if (mine) backend.busy.add(lock);
    try {
      const reply = await untilAborted(signal, carry(harness, incarnation, verdict, { perform, answer: refuse }));
      reported(isMalformed(call, reply) ? new Fault("MalformedReply", "no id") : "ok");
      return reply;
    } catch (reason) {
      reported(Fault.from(reason));
      throw reason;
    }
  };
}

/** What the call is about, and the name under which the driver works on it: one call at a time. */
function partsOf({ request }: CsiCall, { snapshots, volumes }: Backend) {
  const { name = "", snapshotId = "", volumeId = "", sourceVolumeId = "" } = request as Partial<Record<string, string>>;
  const known = snapshots.get(withoutAlias(snapshotId)) ?? volumes.stored.get(withoutAlias(volumeId));
  const subject = name || snapshotId || volumeId;
  return { subject, lock: known?.name ?? subject, volume: sourceVolumeId, source: sourceIn(request as never) };
}

const isIntroduction = ({ method }: CsiCall): boolean =>
  method.parent.name === "Identity" || method.name.endsWith("GetCapabilities");

function refuse(answer: Answer): never {
  if (answer.kind === "code") throw new Fault(answer.code, `injected ${answer.code}`);
  throw new Fault("UnknownOutcome", "the connection to the driver broke");
}

/** The caller may stop waiting; the driver goes on. */
const untilAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = (): void =>
      reject(isFault(signal.reason) ? signal.reason : new Fault("Cancelled", "stopped waiting"));
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
