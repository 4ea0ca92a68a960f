import assert from "node:assert/strict";
import { test } from "node:test";
import { aCreateCall } from "../../../../test/volume-plans.ts";
import type { Ref } from "../../../api/plan.ts";
import type { KubeApi } from "../../../kube/api.ts";
import type { Consent } from "../driver/call.ts";
import { createConsentCheck } from "./consent.ts";

const snapshots = "snapshot.storage.k8s.io";
const consent: Consent = {
  from: { group: snapshots, kind: "VolumeSnapshotLink", namespace: "test" },
  to: { group: snapshots, kind: "VolumeSnapshot", namespace: "prod", name: "monday" },
  uid: "u-monday",
  link: { name: "link", uid: "u-link" },
};

test("link and snapshot are asked for at once, and the grant when both are known", async () => {
  const asked: string[] = [];
  const replies = { link: Promise.withResolvers<object>(), snapshot: Promise.withResolvers<object>() };
  const ask = (what: keyof typeof replies): Promise<never> => {
    asked.push(what);
    return replies[what].promise as Promise<never>;
  };
  const isConsented = createConsentCheck({
    api: {
      get: ({ kind }: Ref) => ask(kind === "VolumeSnapshot" ? "snapshot" : "link"),
    } as unknown as Pick<KubeApi, "get">,
    grants: {
      finder: () => () => ({ metadata: { name: "lend" } }) as never,
      isStill: async () => {
        asked.push("grant");
        return true;
      },
    },
  });
  const call = aCreateCall({ source: { kind: "snapshot", handle: "snap-1" } });
  const checked = isConsented(call, consent, new AbortController().signal);
  assert.deepEqual(asked, ["link", "snapshot"]);
  replies.snapshot.resolve({ metadata: { uid: "u-monday" } });
  await Promise.resolve();
  assert.deepEqual(asked, ["link", "snapshot"]);
  replies.link.resolve({
    metadata: { namespace: "test", name: "link", uid: "u-link" },
    spec: { source: { namespace: "prod", name: "monday" } },
  });
  assert.equal(await checked, true);
  assert.deepEqual(asked, ["link", "snapshot", "grant"]);
});
