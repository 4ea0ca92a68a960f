/**
 * The only place where components write to the cluster. Actions come from plans; here they are sent, and every reply goes
 * back into the stores at once, so that the next plan sees what this one did.
 *
 * - Nothing is sent by a process that no longer leads.
 * - A write names the incarnation it was decided for (`ref.uid`, which the client turns into a precondition of patch and
 *   delete): an object of the same name that came later is left alone.
 * - Create finds something of that name: the plan was made without seeing it. It is read into the store and the run ends
 *   as a conflict; whether that object is ours (names are computed, so a lost reply leaves exactly this) is the next
 *   plan's decision, made by looking at it.
 * - Delete finds nothing: that is what was wanted.
 * - A write is refused as a conflict: the newer version is on its way, most likely. If the next one is refused at the very same
 *   version it is not, because a watch can be silent for long, and the object is read.
 * - Confirm asks the server itself: a cache can be behind by as long as a watch can be silent, and a list can come from the
 *   past. If it was, it learns what is true, and the run ends as a conflict. So does relist, for a whole kind.
 */
import type { KindName } from "../api/kinds.ts";
import type { ClusterAction, CodedEvent, Ref } from "../api/plan.ts";
import type { KubeObject, ObjectOf } from "../api/types.ts";
import { keyIn } from "../base/brand.ts";
import { Fault, isFault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { createLru } from "../base/lru.ts";
import type { KubeApi } from "../kube/api.ts";
import type { Store } from "../kube/store.ts";
import type { AnyStores } from "../kube/stores.ts";

export type ActionHandler<Action> = (action: Action, signal: AbortSignal) => Promise<void>;

/** One handler per kind of action. A component adds handlers of its own kinds to those of `createActionHandlers`. */
export type ActionHandlers<Action extends { readonly kind: string }> = {
  readonly [K in Action["kind"]]: ActionHandler<Extract<Action, { readonly kind: K }>>;
};

/** The handler that is found under an action's kind is the one that takes it. The compiler cannot follow that through a union. */
export const perform = <Action extends { readonly kind: string }>(
  handlers: ActionHandlers<Action>,
  action: Action,
  signal: AbortSignal,
): Promise<void> => (handlers[action.kind as Action["kind"]] as ActionHandler<Action>)(action, signal);

export interface ActionHandlersOptions {
  readonly api: KubeApi;
  readonly stores: AnyStores;
  /** False as soon as the lease may be somebody else's; absent where there is no election. */
  readonly leading?: (() => boolean) | undefined;
  /** Must return at once and never throw: an event is a courtesy. */
  readonly record: (about: KubeObject, event: CodedEvent) => void;
}

/** Thrown instead of writing when the lease is gone. */
export const notLeading = (): Fault =>
  new Fault("Aborted", "this replica no longer holds the lease, so it writes nothing more");

type ActionOf<K extends ClusterAction["kind"]> = Extract<ClusterAction, { readonly kind: K }>;

export function createActionHandlers({
  api,
  stores,
  leading = () => true,
  record,
}: ActionHandlersOptions): ActionHandlers<ClusterAction> {
  /** The last version of each object that the server has answered, until a write is sent: its reply may be lost, not its effect. */
  const answered = createLru<string>(limits.answeredVersionsMax);
  const applyReply = (kind: KindName, object: KubeObject | undefined): void => {
    if (object === undefined) return;
    answered.set(object.metadata.uid, object.metadata.resourceVersion);
    stores[kind]?.applyReply(object as ObjectOf<never>);
  };
  const applyDeletion = ({ kind, namespace, name, uid }: Ref): void => {
    if (uid !== undefined) stores[kind]?.applyDeletion(keyIn(namespace, name), uid);
  };
  const mustLead = (): void => {
    if (!leading()) throw notLeading();
  };
  const mayWrite = ({ uid }: Ref): void => {
    mustLead();
    if (uid !== undefined) answered.delete(uid);
  };

  const read = async ({ uid: _, ...named }: Ref, signal: AbortSignal): Promise<KubeObject | undefined> => {
    try {
      return await api.get(named, { signal });
    } catch (reason) {
      if (!isFault(reason, "NotFound")) throw reason;
      return undefined;
    }
  };
  const learn = (ref: Ref, found: KubeObject | undefined): void => {
    if (found === undefined) applyDeletion(ref);
    else applyReply(ref.kind, found);
  };

  /** The version of each object at which a write was refused last. */
  const refused = createLru<string>(limits.answeredVersionsMax);
  const learnFrom = async (reason: unknown, ref: Ref, signal: AbortSignal): Promise<void> => {
    if (isFault(reason, "NotFound")) applyDeletion(ref);
    const known = stores[ref.kind]?.get(keyIn(ref.namespace, ref.name))?.metadata;
    if (!isFault(reason, "Conflict") || known === undefined) return;
    if (refused.get(known.uid) !== known.resourceVersion) refused.set(known.uid, known.resourceVersion);
    else learn(ref, await read(ref, signal));
  };

  const create: ActionHandler<ActionOf<"create">> = async ({ ref, object }, signal) => {
    mustLead();
    try {
      applyReply(ref.kind, await api.create(ref.kind, object, { signal }));
    } catch (reason) {
      if (!isFault(reason, "AlreadyExists") || stores[ref.kind] === undefined) throw reason;
      learn(ref, await read(ref, signal));
      throw new Fault("Conflict", `${ref.kind} ${keyIn(ref.namespace, ref.name)} exists already`, { cause: reason });
    }
  };

  const patch: ActionHandler<ActionOf<"patch">> = async (action, signal) => {
    mayWrite(action.ref);
    try {
      applyReply(
        action.ref.kind,
        await api.patch(action.ref, action.patch, { signal, subresource: action.subresource }),
      );
    } catch (reason) {
      await learnFrom(reason, action.ref, signal);
      throw reason;
    }
  };

  const replace: ActionHandler<ActionOf<"replace">> = async ({ ref, object, subresource }, signal) => {
    mayWrite(ref);
    try {
      applyReply(ref.kind, await api.replace(ref.kind, object as ObjectOf<never>, { signal, subresource }));
    } catch (reason) {
      await learnFrom(reason, ref, signal);
      throw reason;
    }
  };

  const remove: ActionHandler<ActionOf<"delete">> = async ({ ref, resourceVersion }, signal) => {
    mayWrite(ref);
    try {
      const left = await api.delete(ref, { signal, uid: ref.uid, resourceVersion });
      learn(ref, left);
    } catch (reason) {
      await learnFrom(reason, ref, signal);
      if (!isFault(reason, "NotFound")) throw reason;
    }
  };

  const confirm: ActionHandler<ActionOf<"confirm">> = async ({ ref, resourceVersion, trustsReplies }, signal) => {
    if (trustsReplies && ref.uid !== undefined && answered.get(ref.uid) === resourceVersion) return;
    const found = await read(ref, signal);
    if (found?.metadata.resourceVersion === resourceVersion) return;
    learn(ref, found);
    throw new Fault("Conflict", `${ref.kind} ${keyIn(ref.namespace, ref.name)} is not as the cache had it`);
  };

  const relist: ActionHandler<ActionOf<"relist">> = async ({ ref: { kind } }, signal) => {
    const store = stores[kind] as Store<KindName> | undefined;
    const listed = await api.list(kind, { signal });
    let isChanged = false;
    const unsubscribe = store?.onChange(() => {
      isChanged = true;
    });
    store?.take({ kind: "all", ...listed });
    unsubscribe?.();
    if (isChanged) throw new Fault("Conflict", `the ${kind} objects are not as the cache had them`);
  };

  const event: ActionHandler<ActionOf<"event">> = async ({ about, event: text }) => {
    if (leading()) record(about, text);
  };

  return { create, patch, replace, delete: remove, confirm, relist, event };
}
