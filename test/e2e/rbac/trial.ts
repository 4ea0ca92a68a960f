/** One component with all its rights but one: how far it comes, and which request is denied. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEntry } from "../harness/audit.ts";
import type { ControlPlane, Token } from "../harness/control-plane.ts";
import type { Daemon } from "../harness/instance.ts";
import type { Outcome } from "./report.ts";
import { installation, resourceOf, type SingleRight, textOf } from "./rights.ts";

export interface Step {
  /** A statement that is true while the component has all its rights. */
  readonly check: string;
  /** Throws where it is not. */
  readonly prove: (trial: Trial) => Promise<void>;
}

export interface Life {
  readonly component: string;
  start(kubeconfig: string): Daemon | Promise<Daemon>;
  readonly steps: readonly Step[];
  /** Denied because a step has taken back what an owner lends. */
  isTakenBack?(denied: AuditEntry): boolean;
  /** Removes whatever is left, also where the component did not. */
  clean(trial: Trial): Promise<void>;
}

export interface Trial {
  /** Every object's name contains it, so that nothing is left of an earlier trial. */
  readonly id: string;
  /** Looks until it sees; ends with the trial. */
  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T>;
  /** How often the component has asked for this since it was started. */
  asked(verb: string, resource: string): number;
}

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";
const stepMsMax = 60_000;
const everyMs = 50;
export const noDenial = "no request is denied";

/** Not bound to any role but ours. Its namespace is that of the installation: the webhook probes in the namespace of its user. */
export const userOf = (component: string): string =>
  `system:serviceaccount:${installation.namespace}:trial-${component}`;
export const tokensOf = (components: readonly string[]): readonly Token[] =>
  components.map((component) => ({ token: `token-of-${component}`, user: userOf(component) }));

/** Grants exactly these, and waits until the API server knows it. */
export async function grant(
  plane: ControlPlane,
  component: string,
  rights: readonly SingleRight[],
  taken: SingleRight | undefined,
): Promise<void> {
  const left = rights.filter((right) => taken === undefined || textOf(right) !== textOf(taken));
  const name = `trial-${component}`;
  const places = new Set(rights.map(({ namespace }) => namespace));
  for (const place of places) {
    const at = place === undefined ? rbac : `${rbac}/namespaces/${place}`;
    const prefix = place === undefined ? "cluster" : "";
    const kind = place === undefined ? "ClusterRole" : "Role";
    const rules = left
      .filter(({ namespace }) => namespace === place)
      .map(({ group, resource, name: only, verb }) => ({
        apiGroups: [group],
        resources: [resource],
        verbs: [verb],
        ...(only === undefined ? {} : { resourceNames: [only] }),
      }));
    await put(plane, `${at}/${prefix}roles`, { metadata: { name }, rules });
    await put(plane, `${at}/${prefix}rolebindings`, {
      metadata: { name },
      roleRef: { kind, name, apiGroup },
      subjects: [{ kind: "User", name: userOf(component), apiGroup }],
    });
  }
  for (const right of rights) {
    const expected = left.includes(right);
    while ((await isAllowed(plane, right)) !== expected) await sleep(everyMs);
  }
}

type Named = { readonly metadata: { readonly name: string } } & Readonly<Record<string, unknown>>;

async function put({ request }: ControlPlane, path: string, body: Named): Promise<void> {
  const changed = await request("PUT", `${path}/${body.metadata.name}`, body);
  if (changed.status === 200 || changed.status === 201) return;
  const { status, text } = await request("POST", path, body);
  assert.ok(status === 201, text);
}

async function isAllowed({ request }: ControlPlane, right: SingleRight): Promise<boolean> {
  const [resource = "", subresource] = right.resource.split("/");
  const resourceAttributes = { ...right, resource, ...(subresource === undefined ? {} : { subresource }) };
  const { component, ...attributes } = resourceAttributes;
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: userOf(component), resourceAttributes: attributes },
  };
  const { status, text } = await request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body);
  assert.equal(status, 201, text);
  return (JSON.parse(text) as { status: { allowed: boolean } }).status.allowed;
}

/** The first request of the component that was denied since then. */
function deniedSince(
  plane: ControlPlane,
  { component, isTakenBack = () => false }: Pick<Life, "component" | "isTakenBack">,
  from: number,
): string | undefined {
  const entry = plane
    .auditLog(from)
    .filter(({ user, responseStatus }) => user.username === userOf(component) && responseStatus?.code === 403)
    .find((denied) => !isTakenBack(denied));
  if (entry === undefined) return undefined;
  const { resource = "", subresource, apiGroup: group = "" } = entry.objectRef ?? {};
  return `${entry.verb} ${resourceOf({ group, resource: [resource, subresource].filter(Boolean).join("/") })}`;
}

let trials = 0;

/** Plays the life until a check fails or a request is denied. */
export async function play(plane: ControlPlane, life: Life, right: SingleRight | undefined): Promise<Outcome> {
  const { component } = life;
  trials += 1;
  let isOver = false;
  const from = plane.auditPosition();
  const trial: Trial = {
    id: `t${trials}`,
    until: (what, look) => waitFor(what, look, () => isOver),
    asked: (verb, resource) =>
      plane
        .auditLog(from)
        .filter((entry) => entry.user.username === userOf(component))
        .filter((entry) => entry.verb === verb && entry.objectRef?.resource === resource).length,
  };
  const denied = () => deniedSince(plane, life, from);
  const denial = async (): Promise<string | undefined> => {
    while (!isOver) {
      const found = denied();
      if (found !== undefined) return found;
      await sleep(everyMs);
    }
    return undefined;
  };
  const daemon = await life.start(plane.kubeconfigFor(userOf(component), `token-of-${component}`));
  const outcomeOf = (found: Omit<Outcome, "component">): Outcome => ({
    component,
    ...(right === undefined ? {} : { right }),
    ...found,
  });
  try {
    const noticed = denial();
    for (const { check, prove } of life.steps) {
      const failed = prove(trial).then(
        () => undefined,
        (reason: Error) => reason,
      );
      const end = await Promise.race([failed, noticed]);
      const found = typeof end === "string" ? end : denied();
      if (found !== undefined) return outcomeOf({ check: `${noDenial}; tried: ${check}`, denied: found });
      if (end !== undefined) return outcomeOf({ check, ...(right === undefined ? { why: String(end) } : {}) });
    }
    await daemon.stop();
    const last = denied();
    return outcomeOf(last === undefined ? {} : { check: `${noDenial}; tried: the component stops`, denied: last });
  } finally {
    isOver = true;
    await daemon.stop();
    await life.clean({ ...trial, until: waitFor });
  }
}

async function waitFor<T>(what: string, look: () => Promise<T | undefined>, isOver = () => false): Promise<T> {
  const givesUpAt = performance.now() + stepMsMax;
  while (!isOver() && performance.now() < givesUpAt) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(everyMs);
  }
  throw new Error(`waited ${stepMsMax} ms: ${what}`);
}
