import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../../test/api-server.ts";
import { eventually } from "../../../test/csi-sockets.ts";
import { snapshotCrds } from "../../api/crds/index.ts";
import type { Handler } from "../../base/http.ts";
import { silent } from "../../base/log.ts";
import { createClient } from "../../kube/client.ts";
import { createApiFacts } from "./api-facts.ts";

for (const probeNamespace of ["default", undefined])
  test(`${probeNamespace === undefined ? "no dry run is sent" : "a dry run is sent to that namespace"} if the namespace of dry runs is ${probeNamespace ?? "not given"}`, async () => {
    const { handler, world } = startApiServer({ definitions: snapshotCrds(3) });
    const sent: string[] = [];
    const recorded: Handler = (request) => {
      sent.push(`${request.method} ${request.path}`);
      return handler(request);
    };
    const api = createClient({ handler: recorded, world });
    const facts = createApiFacts({ world, log: silent, probeNamespace, connect: async () => ({ api }) });
    const stop = new AbortController();
    const watching = facts.watch(stop.signal);
    await eventually("the classes are known", () => facts.otherDefaults("driver", "name") !== undefined);
    stop.abort();
    await watching;
    assert.deepEqual(
      sent.filter((request) => request.startsWith("POST")),
      probeNamespace === undefined
        ? []
        : [
            "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
            "POST /api/v1/namespaces/default/persistentvolumeclaims?dryRun=All",
          ],
    );
  });
