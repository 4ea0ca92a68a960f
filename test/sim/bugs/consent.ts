/** Wrong decisions about sources of other namespaces. */
import { kindRows } from "../../../src/api/kinds.ts";
import type { KubeObject, ReferenceGrant } from "../../../src/api/types.ts";
import type { ProvisionerAction } from "../../../src/components/csi-provisioner/plan-steps.ts";
import type { VolumeView } from "../../../src/components/csi-provisioner/volumes/observe.ts";
import { planVolume } from "../../../src/components/csi-provisioner/volumes/plan.ts";
import type { KubeApi, PathReader } from "../../../src/kube/api.ts";
import type { Sabotage } from "../components.ts";
import { type Bug, type Change, changed, toSabotage } from "./bug.ts";

const inVolume = (change: Change<VolumeView, ProvisionerAction>): Sabotage => ({
  planVolume: toSabotage(changed(planVolume, change)),
});

type Reading = (path: string, read: () => Promise<unknown>) => Promise<unknown>;
/** Changes what the components read of single objects: by kind and by path. */
const reading = (change: Reading): Sabotage => ({
  api: (api) => {
    const paths = api as KubeApi & PathReader;
    const get: KubeApi["get"] = (ref, options) =>
      change(`${ref.kind} ${ref.namespace}/${ref.name}`, () => api.get(ref, options)) as never;
    const getPath: PathReader["getPath"] = (path, options) => change(path, () => paths.getPath(path, options)) as never;
    return { ...api, get, getPath } as KubeApi;
  },
});

/** A grant that names both kinds wherever it names one. */
function widened<T extends KubeObject>(object: T): T {
  if (object.kind !== "ReferenceGrant") return object;
  const { spec } = object as unknown as ReferenceGrant;
  const from = (spec?.from ?? []).flatMap((item) => [
    { ...item, group: "", kind: "PersistentVolumeClaim" },
    { ...item, group: kindRows.VolumeSnapshotLink.group, kind: "VolumeSnapshotLink" },
  ]);
  return { ...object, spec: { ...spec, from } };
}

const withoutConsent = (action: ProvisionerAction): ProvisionerAction => {
  if (action.kind !== "csi" || action.call.method !== "create") return action;
  const { consent: _, ...call } = action.call;
  return { ...action, call: { ...call, secret: action.call.secret } };
};

const isOfLink = (action: ProvisionerAction): boolean =>
  action.kind === "csi" && action.call.method === "create" && action.call.consent?.link !== undefined;

export const consentBugs: readonly Bug[] = [
  {
    name: "asks nobody right before CreateVolume",
    source: "A4-4: the cache alone is asked",
    scenario: "across-namespaces-by-ref",
    breaks: ["I-21"],
    seedsMax: 3,
    sabotage: () => inVolume({ plan: (plan) => ({ ...plan, actions: plan.actions.map(withoutConsent) }) }),
  },
  {
    name: "asks nobody where a link names the snapshot",
    source: "GHSA-fcrp-7gc2-93g7: a second kind of reference skipped the check",
    scenario: "across-namespaces-by-link",
    breaks: ["I-21"],
    seedsMax: 5,
    sabotage: () =>
      inVolume({
        plan: (plan) => ({
          ...plan,
          actions: plan.actions.map((action) => (isOfLink(action) ? withoutConsent(action) : action)),
        }),
      }),
  },
  {
    name: "asks the driver about a call that was never sent",
    source: "found by seed 180 of across-namespaces-revoked",
    scenario: "across-namespaces-revoked",
    breaks: ["I-20", "I-21"],
    seedsMax: 60,
    sabotage: () =>
      inVolume({
        view: (view) =>
          view.facts.claim === undefined ? { ...view, memory: { ...view.memory, isUncertain: true } } : view,
      }),
  },
  {
    name: "fills a claim with nothing where nobody consents",
    source: "A4-3: denied becomes empty",
    scenario: "across-namespaces-by-the-wrong-grant",
    breaks: ["I-23"],
    seedsMax: 3,
    sabotage: () =>
      inVolume({
        view: (view) => {
          const { source } = view.facts;
          const isDenied = "access" in source && source.access.kind === "denied";
          return isDenied ? { ...view, facts: { ...view.facts, source: { kind: "none" } } } : view;
        },
      }),
  },
  {
    name: "takes a grant for claims and one for links for the same",
    source: "GHSA-fcrp-7gc2-93g7: a second kind of reference",
    scenario: "across-namespaces-by-the-wrong-grant",
    breaks: ["I-21"],
    seedsMax: 10,
    sabotage: () => ({
      api: (api) => {
        const { api: wrapped } = reading(async (_, read) => widened((await read()) as KubeObject));
        return {
          ...api,
          ...wrapped?.(api),
          list: async (...call) => {
            const { objects, ...rest } = await api.list(...call);
            return { ...rest, objects: objects.map(widened) } as never;
          },
          watch: (kind, query, take) =>
            api.watch(kind, query, (event) =>
              take(event.kind === "bookmark" ? event : ({ ...event, object: widened(event.object) } as never)),
            ),
        };
      },
    }),
  },
  {
    name: "gives a claim the volume whose id it has learnt after the grant was revoked",
    source: "I-22: learnt to delete, published instead",
    scenario: "across-namespaces-revoked-for-good",
    breaks: ["I-21", "I-22"],
    seedsMax: 150,
    sabotage: () =>
      inVolume({
        view: (view) => {
          const { source } = view.facts;
          return "access" in source && view.memory.reply.kind === "created"
            ? {
                ...view,
                facts: { ...view.facts, source: { ...source, access: { kind: "none" } as never } },
                memory: { ...view.memory, isLearning: false, isAdopted: false },
              }
            : view;
        },
      }),
  },
];
