/** A cluster of the years before v1: CRDs that serve v1beta1 alone and do not check what later ones do. */
import assert from "node:assert/strict";
import { snapshotCrds } from "../../../src/api/crds/index.ts";
import { snapshotKindsServed } from "./components.ts";
import { installCrds } from "./crds.ts";
import { type TestServer, type testServers, testServerWith } from "./snapshot-suites.ts";

export const snapshotGroup = "snapshot.storage.k8s.io";

export const groundOfV1beta1 = (
  ground: keyof typeof testServers,
  featureGates: Readonly<Record<string, boolean>> = {},
): Promise<TestServer> =>
  testServerWith(
    ground,
    { versions: { [snapshotGroup]: "v1beta1" } },
    async (client) => {
      await installCrds(client, snapshotCrds(1));
      await snapshotKindsServed(client);
    },
    featureGates,
  );

/** Which of these requests ask the group for something in another version. */
export function callsOutside(version: string, sent: readonly string[]): readonly string[] {
  const calls = sent.filter((request) => request.includes(`/${snapshotGroup}/`));
  assert.ok(calls.length > 0);
  const inVersion = new RegExp(` /apis/${snapshotGroup}/${version}(/|$)`);
  return calls.filter((request) => !inVersion.test(request));
}
