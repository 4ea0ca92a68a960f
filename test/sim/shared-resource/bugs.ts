/** Seeded bugs: each is a mistake that somebody made, or could make, and breaks a promise that a monitor watches. */
import { isObject, type JsonObject, type JsonValue } from "../../../src/base/json.ts";
import { planShare } from "../../../src/components/shared-resource/controller/plan.ts";
import { planVolume } from "../../../src/components/shared-resource/node/plan.ts";
import { planPublish } from "../../../src/components/shared-resource/node/plan-publish.ts";
import type { FileSet } from "../../../src/components/shared-resource/node/types.ts";
import type { Sabotage } from "./simulation.ts";

export interface Bug {
  readonly name: string;
  readonly breaks: readonly string[];
  /** One of so many seeds finds it. */
  readonly seedsMax: number;
  sabotage(): Sabotage;
}

const verdict = (allowed: boolean): JsonValue => ({ status: { allowed } });
/** What is said of a pod's account where the server says nothing; about the driver's own rights nothing is said. */
const afterFailure =
  (allowed: boolean): NonNullable<Sabotage["api"]> =>
  (api) => ({
    ...api,
    postPath: (path, ...more) =>
      api.postPath(path, ...more).catch((reason: unknown) => {
        if (!path.endsWith("/subjectaccessreviews")) throw reason;
        return verdict(allowed);
      }),
  });

/** What was decided is shown, whatever has become of the permission. */
const looksOnlyWhenPlanned: NonNullable<Sabotage["host"]> = (host) => ({
  ...host,
  write: (target, files) => host.write(target, files, () => true),
});

export const bugs: readonly Bug[] = [
  {
    name: "takes a failed review for a permission",
    breaks: ["I-30"],
    seedsMax: 40,
    sabotage: () => ({ api: afterFailure(true) }),
  },
  {
    name: "takes a failed review for a denial, as the replaced driver does",
    breaks: ["I-31"],
    seedsMax: 40,
    sabotage: () => ({ api: afterFailure(false) }),
  },
  {
    name: "asks once and never again, so that a revoked permission lasts",
    breaks: ["I-31", "I-30"],
    seedsMax: 20,
    sabotage: () => {
      const known = new Map<string, JsonValue>();
      return {
        api: (api) => ({
          ...api,
          postPath: async (path, body, options) => {
            const key = JSON.stringify(body.spec);
            const answer = known.get(key) ?? (await api.postPath(path, body, options));
            known.set(key, answer);
            return answer;
          },
        }),
      };
    },
  },
  {
    name: "asks for the namespace's default service account",
    // Two subjects become one, which is asked about twice as often.
    breaks: ["I-30", "I-31", "requests"],
    seedsMax: 20,
    sabotage: () => ({
      api: (api) => ({
        ...api,
        postPath: async (path, body, options) => {
          const spec = isObject(body.spec) ? body.spec : {};
          const other: JsonObject = { ...body, spec: { ...spec, user: "system:serviceaccount:team-a:reader" } };
          const { resourceAttributes } = spec;
          const attributes = isObject(resourceAttributes) ? { ...resourceAttributes, namespace: "team-a" } : {};
          return api.postPath(
            path,
            { ...other, spec: { ...spec, ...(other.spec as JsonObject), resourceAttributes: attributes } },
            options,
          );
        },
      }),
    }),
  },
  {
    name: "writes the files one by one where the pod sees them",
    breaks: ["I-33"],
    seedsMax: 10,
    sabotage: () => ({
      host: (host) => {
        const shown = new Map<string, FileSet>();
        return {
          ...host,
          write: async (target, files, mayShow) => {
            const mixed = new Map(shown.get(target) ?? []);
            for (const [name, bytes] of files) {
              mixed.set(name, bytes);
              await host.write(target, new Map(mixed), mayShow);
            }
            shown.set(target, files);
            return host.write(target, files, mayShow);
          },
        };
      },
    }),
  },
  {
    name: "leaves old files when keys are gone",
    breaks: ["I-33"],
    seedsMax: 20,
    sabotage: () => ({
      host: (host) => {
        const before = new Map<string, FileSet>();
        return {
          ...host,
          write: (target, files, mayShow) => {
            const all = new Map([...(before.get(target) ?? []), ...files]);
            before.set(target, all);
            return host.write(target, all, mayShow);
          },
        };
      },
    }),
  },
  {
    name: "does not empty a volume",
    breaks: ["I-31"],
    seedsMax: 10,
    sabotage: () => ({ host: (host) => ({ ...host, wipe: async () => undefined }) }),
  },
  {
    name: "forgets mounted volumes when it is restarted",
    breaks: ["I-31"],
    seedsMax: 40,
    sabotage: () => ({
      host: (host) => ({ ...host, records: { ...host.records, all: async () => ({ records: [], skipped: {} }) } }),
    }),
  },
  {
    name: "leaves the record of an unpublished volume",
    breaks: ["I-33"],
    seedsMax: 10,
    sabotage: () => ({
      host: (host) => ({ ...host, records: { ...host.records, remove: async () => undefined } }),
    }),
  },
  {
    name: "misses the deletion of Secrets and ConfigMaps",
    breaks: ["I-31"],
    seedsMax: 40,
    sabotage: () => ({
      api: (api) => ({
        ...api,
        watch: (kind, query, take) =>
          api.watch(kind, query, (event) => {
            if (event.kind !== "gone" || (kind !== "Secret" && kind !== "ConfigMap")) take(event);
          }),
      }),
    }),
  },
  {
    name: "reads the Secret of another share",
    breaks: ["I-30", "I-31"],
    seedsMax: 20,
    sabotage: () => ({
      api: (api) => ({
        ...api,
        list: async (kind, query) => {
          const listed = await api.list(kind, query);
          if (kind !== "SharedSecret") return listed;
          const objects = listed.objects.map((share) => ({
            ...share,
            spec: { secretRef: { namespace: "owner", name: "x" } },
          }));
          return { ...listed, objects: objects as unknown as typeof listed.objects };
        },
      }),
    }),
  },
  {
    name: "lists the pods of the cluster, which its role does not allow",
    breaks: ["I-39"],
    seedsMax: 1,
    sabotage: () => ({
      api: (api) => ({
        ...api,
        list: async (kind, query) => {
          if (kind === "SharedSecret") await api.list("Pod").catch(() => undefined);
          return api.list(kind, query);
        },
      }),
    }),
  },
  {
    name: "empties a volume when it is not known whether the pod may use the share",
    breaks: ["I-31"],
    seedsMax: 40,
    sabotage: () => ({
      plans: {
        volume: ({ facts, memory, nowMs }) =>
          planVolume({ facts: { ...facts, review: facts.review ?? "denied" }, memory, nowMs }),
      },
    }),
  },
  {
    name: "writes what is new when it is not known whether the pod may use the share",
    breaks: ["I-30"],
    seedsMax: 40,
    sabotage: () => ({
      plans: {
        volume: ({ facts, memory, nowMs }) =>
          planVolume({ facts: { ...facts, review: facts.review ?? "allowed" }, memory, nowMs }),
      },
      host: looksOnlyWhenPlanned,
    }),
  },
  {
    name: "publishes a volume without waiting for the review",
    breaks: ["I-30"],
    seedsMax: 10,
    sabotage: () => ({
      plans: {
        publish: (view) => {
          const { memory } = view;
          const review = { kind: "answered", value: "allowed", after: memory.source?.of } as const;
          return planPublish({ ...view, memory: { ...memory, review } });
        },
      },
      host: looksOnlyWhenPlanned,
    }),
  },
  {
    name: "has a controller that ages its looks by the wall clock",
    breaks: ["I-40"],
    seedsMax: 40,
    sabotage: () => {
      const lookedAt = new Map<string, number>();
      return {
        plan: (view) => {
          const { look } = view.memory;
          if (look === undefined) return planShare(view);
          const key = `${view.facts.share.metadata.uid} ${look.atMs}`;
          const atMs = lookedAt.get(key) ?? view.nowMs;
          lookedAt.set(key, atMs);
          return planShare({ ...view, memory: { ...view.memory, look: { ...look, ageMs: view.nowMs - atMs } } });
        },
      };
    },
  },
];
