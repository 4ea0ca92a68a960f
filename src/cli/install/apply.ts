/** `snapkeep install --apply`: definitions, namespaces, objects, certificates; then it waits until everything is ready. */
import { type ManifestObject, namespaceOf, object } from "../../api/manifests/component.ts";
import type { CodedMessage } from "../../api/plan.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { KubeApi } from "../../kube/api.ts";
import { certificateDefaults, renewInCluster } from "../certs/renew.ts";
import { type ApplyOptions, applyPlan, crdProblem, servedPlan, verdictOf } from "./apply-plan.ts";
import type { Found } from "./judge.ts";
import { isTrusted, withLivePolicy, withoutRefusals } from "./live-policy.ts";
import { labelled } from "./ownership.ts";
import { readForApply, servedIn } from "./read.ts";
import type { Resources } from "./resources.ts";
import { type Waiting, waitUntilGone, waitUntilReady, waitUntilServed, waitUntilTrusted } from "./rollout.ts";
import { describe, type InstallPlan } from "./selection.ts";
import { withServices } from "./webhook-address.ts";

export interface ApplyContext extends ApplyOptions {
  readonly api: KubeApi;
  readonly resources: Resources;
  readonly waiting: Waiting;
  say(line: string): void;
}

export async function applyAll(plan: InstallPlan, context: ApplyContext): Promise<void> {
  const { resources, waiting, say } = context;
  const { existing, refusal, crds, kept, ending, marked, namespaces } = applyPlan(
    await readForApply(plan, resources, waiting.world.now()),
    context,
  );
  for (const line of existing) say(`already there: ${line}`);
  if (refusal !== undefined) throw refused(refusal);
  for (const line of kept) say(line);
  await waitUntilGone(resources, ending, waiting);
  for (const crd of crds) await applyCrd(crd, context);
  if (crds.length > 0) say(`${crds.length} CustomResourceDefinitions applied`);
  await waitUntilServed(resources, plan.crds, waiting);
  resources.forget();
  for (const namespace of marked) await resources.replace(namespace);
  for (const namespace of namespaces) {
    await resources.apply(namespace);
    say(`${describe(namespace)} created`);
  }
  const isServed = await servedIn(plan.objects, resources);
  const { before, workloads, after, unserved } = servedPlan(plan.objects, isServed);
  // Pods start when the rights and certificates that they need are there.
  for (const object of before) await applyObject(object, context);
  await makeCertificates(plan, context);
  for (const object of workloads) await applyObject(object, context);
  say(`${before.length + workloads.length} objects applied`);
  for (const line of unserved) say(line);
  await waitUntilReady(resources, workloads, waiting);
  for (const configuration of after) await applyWhenReady(configuration, plan, context);
  say("everything is ready");
}

/** It refuses requests that the webhook does not judge: first the API server has to trust the certificate. */
async function applyWhenReady(object: ManifestObject, plan: InstallPlan, context: ApplyContext): Promise<void> {
  const { resources, say } = context;
  const stored = await resources.read(object);
  if (!isTrusted(stored)) {
    await resources.apply(withoutRefusals(object));
    await makeCertificates(plan, context);
    await waitUntilTrusted(resources, [object], context.waiting);
  }
  await resources.apply(withLivePolicy(object, stored));
  say(`${describe(object)} applied`);
}

const refused = (message: CodedMessage): Fault => new Fault("FailedPrecondition", message);

async function applyObject(object: ManifestObject, { resources, waiting }: ApplyContext): Promise<void> {
  const stored = await resources.read(object);
  const asked = withServices(object, stored);
  if (asked !== undefined) await resources.replace(asked);
  await resources.apply(withLivePolicy(object, stored));
  waiting.progress(() => `applied ${describe(object)}`);
}

/** Somebody else keeps writing the definition: then there is a second owner. */
const conflictsMax = 5;

/** A migration may begin after the definition was judged: the write names the version that was read, and is judged again if that is old. */
async function applyCrd(judged: Found, { resources, keepsCrds }: ApplyContext): Promise<void> {
  let found = judged;
  for (let conflicts = 0; ; conflicts += 1) {
    const verdict = verdictOf(found, { keepsCrds });
    const problem = crdProblem(found.object, verdict, "nothing but CustomResourceDefinitions was changed");
    if (problem !== undefined) throw refused(problem);
    if (verdict.kind !== "apply") return;
    try {
      await resources.apply(found.object, { instead: found.stored ?? "nothing" });
      return;
    } catch (reason) {
      if (!isFault(reason, "Conflict") || conflicts === conflictsMax) throw reason;
    }
    found = { object: found.object, stored: await resources.read(found.object) };
  }
}

async function makeCertificates({ rows, installation }: InstallPlan, context: ApplyContext): Promise<void> {
  const { api, resources, waiting, say } = context;
  const { world, signal } = waiting;
  if (installation.certificates !== "self") return;
  for (const row of rows) {
    const { certificateSecret: name, service } = row;
    if (name === undefined || service === undefined) continue;
    const namespace = namespaceOf(row, installation);
    const options = { ...certificateDefaults, namespace, secret: name, service: service.name };
    await renewInCluster(api, options, world, signal, say);
    // Its data belongs to `snapkeep certs`; an uninstallation has to know whose it is.
    await resources.apply(labelled(object("v1", "Secret", { metadata: { name, namespace } }), installation));
  }
}
