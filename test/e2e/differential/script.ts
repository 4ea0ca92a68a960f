/**
 * Request scripts: the same requests go to the embedded API server and to a real kube-apiserver, and the answers must be
 * equal once what is different by nature (uids, versions, times) is out of the way.
 *
 * In paths and bodies "$NS" stands for a namespace of the script's own, "$ID" for a word of its own, for names of
 * cluster-wide objects; a runner may be given more such words.
 */
import type { JsonObject } from "../../../src/base/json.ts";

export type PatchType = "json" | "merge" | "strategic" | "apply";
/** Users of the token file besides the administrator; they may do nothing until a role is bound to them. */
export type Person = "alice" | "bob";

export interface Step {
  readonly method: string;
  readonly path: string;
  /** Sent as it is when a string. */
  readonly body?: unknown;
  readonly type?: PatchType | string;
  readonly as?: Person;
  readonly accept?: string;
  /** Repeats the request until the answer satisfies this, because background work has to come around. */
  readonly until?: (body: JsonObject, status: number) => boolean;
  /** Also compares metadata.managedFields. */
  readonly managedFields?: boolean;
  /** Setup only: nothing is compared. */
  readonly unseen?: boolean;
}

export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
}

export const script = (name: string, ...steps: readonly Step[]): Script => ({ name, steps });

type More = Partial<Omit<Step, "method" | "path" | "body">>;
export const create = (path: string, body: unknown, more: More = {}): Step => ({ method: "POST", path, body, ...more });
export const get = (path: string, more: More = {}): Step => ({ method: "GET", path, ...more });
export const replace = (path: string, body: unknown, more: More = {}): Step => ({ method: "PUT", path, body, ...more });
export const patch = (type: PatchType, path: string, body: unknown, more: More = {}): Step => ({
  method: "PATCH",
  path,
  body,
  type,
  ...more,
});
export const remove = (path: string, more: More & { readonly body?: unknown } = {}): Step => ({
  method: "DELETE",
  path,
  ...more,
});

/** A watch that ends by itself after a second; its events are compared. */
export const watch = (path: string, query = "", more: More = {}): Step =>
  get(`${path}?watch=true&timeoutSeconds=1${query === "" ? "" : `&${query}`}`, more);

/** Is asked until it is gone. */
export const gone = (path: string): Step => get(path, { until: (_, status) => status === 404 });
export const inPhase = (path: string, phase: string): Step =>
  get(path, { until: ({ status }) => (status as JsonObject | undefined)?.phase === phase });
