/** The request that removes the finalizer from the source of a clone gets no reply, and arrives when the next clone is being made. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { refOf } from "../../src/api/builders.ts";
import type { KubeApi } from "../../src/kube/api.ts";
import { brokenIn } from "./once-found.ts";

const found = {
  scenario: "clones-one-after-the-other",
  seed: 1,
  plan: "32:effect-after-the-deadline:1,35:effect-after-the-deadline:1",
};

test("a finalizer that may still be removed is renewed before the next CreateVolume is sent", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("a provisioner that trusts the finalizer in its cache would make a clone whose source is not protected", async () => {
  /** Reads the claim where its finalizers are only moved. */
  const withoutRenewal = (api: KubeApi): KubeApi => {
    let last: string | undefined;
    return {
      ...api,
      replace: async (kind, object, options) => {
        if (kind !== "PersistentVolumeClaim") return api.replace(kind, object, options);
        const names = object.metadata.finalizers?.toSorted().join();
        if (names === last) return api.get(refOf(kind, object), options);
        const reply = await api.replace(kind, object, options);
        last = reply.metadata.finalizers?.toSorted().join();
        return reply;
      },
    };
  };
  assert.deepEqual(await brokenIn(found, { api: withoutRenewal }), ["V-8"]);
});
