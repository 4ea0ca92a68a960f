/** Wrong hands: the decision is right, and what is done about it is not. */
import { isFault } from "../../../src/base/fault.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { KubeApi } from "../../../src/kube/api.ts";
import type { Sabotage } from "../components.ts";
import type { Bug } from "./bug.ts";

/** A delete names the object and its incarnation, at whatever version. */
export const deletesAnyVersion: Sabotage = {
  api: (api) => ({ ...api, delete: (ref, { resourceVersion: _, ...options } = {}) => api.delete(ref, options) }),
};

export const actBugs: readonly Bug[] = [
  {
    name: "writes without a resourceVersion",
    source: "I-37; A4-1",
    scenario: "delete",
    breaks: ["I-37"],
    seedsMax: 3,
    sabotage: () => ({
      api: (api) => ({
        ...api,
        patch: (ref, patch, options) => {
          const { uid: _, ...named } = ref;
          if (patch.type !== "merge") return api.patch(named as typeof ref, patch, options);
          const { resourceVersion: __, ...metadata } = (patch.body.metadata ?? {}) as JsonObject;
          return api.patch(named as typeof ref, { ...patch, body: { ...patch.body, metadata } }, options);
        },
      }),
    }),
  },
  {
    name: "deletes without a uid and a resourceVersion",
    source: "I-37; a policy set to Retain in the meantime",
    scenario: "delete",
    breaks: ["I-37"],
    seedsMax: 3,
    sabotage: () => deletesAnyVersion,
  },
  {
    name: "treats a failed write as successful",
    source: "A3-5: #1301",
    scenario: "delete",
    breaks: ["I-15", "O-2", "I-2", "I-17", "I-6", "I-20"],
    seedsMax: 150,
    sabotage: () => ({
      api: (api) => {
        const patch: KubeApi["patch"] = async (ref, change, options) => {
          try {
            return await api.patch(ref, change, options);
          } catch (reason) {
            if (!isFault(reason)) throw reason;
            return undefined as never;
          }
        };
        return { ...api, patch };
      },
    }),
  },
  {
    name: "writes a secret to an object",
    source: "CVE-2024-3744",
    scenario: "secrets",
    breaks: ["I-35"],
    seedsMax: 5,
    sabotage: () => ({
      api: (api) => {
        let leak = "";
        return {
          ...api,
          get: async (ref, options) => {
            const object = await api.get(ref, options);
            const [password] = Object.values((object as { data?: Record<string, string> }).data ?? {});
            if (ref.kind === "Secret" && password !== undefined) leak = Buffer.from(password, "base64").toString();
            return object;
          },
          patch: (ref, patch, options) =>
            api.patch(
              ref,
              leak !== "" && patch.type === "merge" && options?.subresource === undefined
                ? {
                    ...patch,
                    body: {
                      ...patch.body,
                      metadata: { ...(patch.body.metadata as JsonObject), labels: { login: leak } },
                    },
                  }
                : patch,
              options,
            ),
        };
      },
    }),
  },
  {
    name: "writes after the lease is lost",
    source: "I-37; leader paused for a minute",
    scenario: "two-leaders",
    breaks: ["I-37"],
    seedsMax: 200,
    sabotage: () => ({ leading: () => true }),
  },
];
