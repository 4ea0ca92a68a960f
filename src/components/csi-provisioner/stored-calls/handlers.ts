/** Performs what plans ask for of stored calls. Whatever a call was made from may be free when the call is gone. */
import { Fault } from "../../../base/fault.ts";
import type { ActionHandlers } from "../../../runtime/action-handlers.ts";
import type { Remembered } from "../driver/remembered.ts";
import type { VolumeName } from "../identity.ts";
import type { LookAgain } from "../look-again.ts";
import type { LogAction, ProvisionerAction } from "../plan-steps.ts";
import { sourcesOf } from "../sources/source.ts";
import type { IntentLog } from "./intent-log.ts";

export interface StoredCallParts {
  readonly intents: IntentLog;
  readonly remembered: Pick<Remembered, "forget" | "forgetReply" | "pause">;
  readonly lookAgain: Pick<LookAgain, "volume" | "freed">;
  /** A claim is there for the volume, and no PersistentVolume. */
  isWanted(name: VolumeName): boolean;
}

type StoredCallKind = "settleIntent" | "logIntent" | "publishing" | "forgetIntent" | "pause";
export type StoredCallHandlers = Pick<ActionHandlers<ProvisionerAction>, StoredCallKind>;
/** What is done before a call to the driver is sent. */
export type IntentWrites = Pick<
  ActionHandlers<LogAction>,
  "settleIntent" | "logIntent" | "publishing" | "requireIntent"
>;

export function createStoredCallHandlers({ intents, remembered, lookAgain, isWanted }: StoredCallParts): {
  readonly handlers: StoredCallHandlers;
  readonly beforeCalls: IntentWrites;
} {
  const freeing = <T>(name: VolumeName, remove: () => T): T => {
    const sources = sourcesOf(intents.get(name));
    const removed = remove();
    lookAgain.freed(sources);
    return removed;
  };
  const remove = (name: VolumeName): void => freeing(name, () => intents.remove(name));
  const beforeCalls: IntentWrites = {
    settleIntent: ({ name }, signal) => freeing(name, () => intents.settle(name, signal)),
    logIntent: ({ name, intent, from }, signal) => intents.add(name, intent, signal, from),
    publishing: ({ name, id }, signal) => intents.publishing(name, id, signal),
    requireIntent: async ({ name }) => {
      if (intents.get(name) === undefined)
        throw new Fault("Conflict", `the call of ${name} was settled when its volume was about to be deleted`);
    },
  };
  const { settleIntent, publishing } = beforeCalls;
  return {
    beforeCalls,
    handlers: {
      settleIntent,
      publishing,
      logIntent: async (action, signal) => {
        const before = sourcesOf(intents.get(action.name));
        await beforeCalls.logIntent(action, signal);
        // What the call names no more may be free.
        lookAgain.freed(before);
      },
      forgetIntent: async ({ name, forgetsReply }) => {
        remove(name);
        if (forgetsReply) remembered.forgetReply(name);
        // The claim may be served again: its source was granted while the call was given up.
        if (isWanted(name)) lookAgain.volume(name);
        else remembered.forget(name);
      },
      pause: async ({ name, forgetsIntent }) => {
        if (forgetsIntent) remove(name);
        lookAgain.volume(name, remembered.pause(name));
      },
    },
  };
}
