/** Waits for objects of the running cluster; a timeout says what the object, or its last warning, says. */
import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { KubeObject, ObjectOf } from "../../api/types.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import type { Stack } from "./stack.ts";

export interface WaitingContext {
  readonly stack: Pick<Stack, "client">;
  readonly world: World;
  readonly signal: AbortSignal;
}

const waitMsMax = 10_000;
const lookEveryMs = 20;

export async function until<K extends KindName>(
  { stack: { client }, world, signal }: WaitingContext,
  ref: Ref<K>,
  problem: string,
  holds: (object: ObjectOf<K>) => boolean,
): Promise<ObjectOf<K>> {
  const giveUpAt = world.elapsed() + waitMsMax;
  for (;;) {
    const object = await client.get(ref, { signal });
    if (holds(object)) return object;
    if (world.elapsed() > giveUpAt)
      throw new Fault("DeadlineExceeded", `${problem} after ${waitMsMax / 1000} s: ${await stateOf(client, object)}`);
    await world.sleep(lookEveryMs, signal);
  }
}

export async function untilGone(waiting: WaitingContext, ref: Ref): Promise<void> {
  try {
    await until(waiting, ref, `${ref.kind} ${ref.name} was not deleted`, () => false);
  } catch (reason) {
    if (!isFault(reason, "NotFound")) throw reason;
  }
}

/** Errors and warnings are written for people, the rest of a status is not. */
async function stateOf({ list }: Stack["client"], object: KubeObject): Promise<string> {
  const { metadata, status } = object as KubeObject & {
    readonly status?: { readonly error?: { readonly message?: string } };
  };
  if (status?.error?.message !== undefined) return status.error.message;
  // Events of a cluster-wide object lie in this namespace.
  const { objects } = await list("Event", { namespace: metadata.namespace ?? "default" });
  const warning = objects.findLast(
    ({ type, involvedObject }) => type === "Warning" && involvedObject?.uid === metadata.uid,
  );
  return warning?.message ?? `its status is ${JSON.stringify(status ?? {})}`;
}
