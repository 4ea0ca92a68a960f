/** `snapkeep install --admission` typed at clusters in several states, on a real API server that evaluates the policies. */
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { createResources } from "../../src/cli/install/resources.ts";
import { policyInstallRows, removePolicies } from "../install-policies.ts";
import { playInstallRow } from "../install-table.ts";
import { type Connection, connect } from "./harness/client.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { sessionOn } from "./harness/install-session.ts";

describe("install with admission policies", () => {
  let plane: ControlPlane;
  let connection: Connection;
  before(async () => {
    plane = await startControlPlane();
    await installCrdsOn(plane, snapshotCrds(3));
    connection = await connect(plane.kubeconfig);
  });
  after(() => {
    connection?.close();
    plane?.stop();
  });

  for (const [index, row] of policyInstallRows.entries())
    test(`${row.command}: the cluster ${row.cluster}`, async () => {
      const resources = createResources(connection.client, new AbortController().signal);
      const session = sessionOn(plane.kubeconfig, connection);
      await playInstallRow(row, session, `policies-${index}`).finally(() => removePolicies({ resources }));
    });
});
