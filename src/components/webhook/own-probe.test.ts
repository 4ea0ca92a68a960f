/** The webhook's own dry run is not judged, whatever the namespace of the installation, and nothing else has this exemption. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../../test/api-server.ts";
import { eventually } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { claimConfiguration } from "../../api/manifests/webhook-configurations.ts";
import { createAdmissionWith } from "../../apiserver/index.ts";
import { Fault } from "../../base/fault.ts";
import type { Handler } from "../../base/http.ts";
import { silent } from "../../base/log.ts";
import { createClient } from "../../kube/client.ts";
import { platformAllowLists } from "../../rules/share-allow-lists.ts";
import { createMetrics } from "../../runtime/metrics.ts";
import { createApiFacts } from "./api-facts.ts";
import { createWebhook } from "./index.ts";
import { webhookMetrics } from "./metrics.ts";
import { isOwnProbe, probeName, serviceAccountNamespace, type UserInfo } from "./own-probe.ts";

const self: UserInfo = { username: "system:serviceaccount:storage:webhook", uid: "u-1" };
const probe = {
  operation: "CREATE",
  group: "",
  resource: "persistentvolumeclaims",
  dryRun: true,
  user: self,
  object: { metadata: { name: probeName } },
};

const rows: readonly {
  readonly given: string;
  readonly change: object;
  readonly exempt: boolean;
  readonly as?: object;
}[] = [
  { given: "the webhook's own dry run", change: {}, exempt: true },
  { given: "a write that is stored", change: { dryRun: false }, exempt: false },
  { given: "a dry run of another name", change: { object: { metadata: { name: "data" } } }, exempt: false },
  { given: "a dry run without a name", change: { object: { metadata: null } }, exempt: false },
  { given: "an update", change: { operation: "UPDATE" }, exempt: false },
  { given: "another resource", change: { resource: "persistentvolumes" }, exempt: false },
  { given: "another group", change: { group: "example.com" }, exempt: false },
  {
    given: "another user",
    change: { user: { ...self, username: "system:serviceaccount:team:webhook" } },
    exempt: false,
  },
  { given: "a user of the same name with another uid", change: { user: { ...self, uid: "u-2" } }, exempt: false },
  { given: "a user of the same name without a uid", change: { user: { ...self, uid: "" } }, exempt: false },
  { given: "a webhook that does not know itself yet", change: {}, exempt: false, as: {} },
  {
    given: "a user without a name, and a webhook without one",
    change: { user: { username: "", uid: "" } },
    exempt: false,
    as: { self: { username: "", uid: "" } },
  },
];
for (const { given, change, exempt, as = { self } } of rows)
  test(`${given} is ${exempt ? "not judged" : "judged"}`, () => {
    assert.equal(isOwnProbe({ ...probe, ...change }, (as as { self?: UserInfo }).self), exempt);
  });

test("the namespace of a service account is part of its name, and other users have none", () => {
  assert.deepEqual(
    [self.username, "admin", "system:serviceaccount:a:b:c", "system:serviceaccounts:a"].map((username) =>
      serviceAccountNamespace({ username, uid: "" }),
    ),
    ["storage", undefined, undefined, undefined],
  );
});

const elsewhere = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s", namespace: "other" };
const aClaim = (name: string) =>
  draftOf(
    "PersistentVolumeClaim",
    { namespace: "default", name },
    { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, dataSourceRef: elsewhere } },
  );

/** Two replicas, asked in turn, behind an API server with the feature gate; each user has a token of its name. */
async function setUp({ identityFails = false } = {}) {
  const users = new Map([
    ["webhook", { name: self.username, uid: self.uid, groups: ["system:masters", "system:authenticated"] }],
    ["tenant", { name: "tenant", groups: ["system:masters", "system:authenticated"] }],
  ]);
  const place = { client: { url: "https://hook.test" } };
  const state = { isServing: false, next: 0 };
  const replicas: Handler[] = [];
  const reach = () => (request: Parameters<Handler>[0]) => {
    if (!state.isServing) throw new Fault("Unavailable", "connection refused");
    state.next += 1;
    return (replicas[state.next % replicas.length] as Handler)(request);
  };
  const { handler, world } = startApiServer({
    plugins: [{ admission: () => createAdmissionWith({ reach }) }],
    featureGates: { AnyVolumeDataSource: true, CrossNamespaceVolumeDataSource: true },
    authenticate: ({ headers }) => users.get(headers["x-user"] ?? ""),
  });
  const sent: string[] = [];
  const as = (user: string) =>
    createClient({
      world,
      handler: async (request) => {
        sent.push(`${user} ${request.method} ${request.path}`);
        if (identityFails && request.path.endsWith("/selfsubjectreviews"))
          throw new Fault("PermissionDenied", "no right to ask");
        return handler({ ...request, headers: { ...request.headers, "x-user": user } });
      },
    });
  const tenant = as("tenant");
  await tenant.create("Namespace", draftOf("Namespace", { name: "storage" }, {}));
  await tenant.create("MutatingWebhookConfiguration", claimConfiguration(place) as never);
  const facts = [1, 2].map(() =>
    createApiFacts({ world, log: silent, probeNamespace: "default", connect: async () => ({ api: as("webhook") }) }),
  );
  for (const one of facts)
    replicas.push(
      createWebhook({
        world,
        log: silent,
        instruments: createMetrics().instruments(webhookMetrics),
        ready: () => undefined,
        otherDefaults: () => [],
        allowLists: () => platformAllowLists,
        self: one.self,
        gates: () => ({ anyVolumeDataSource: true, crossNamespace: one.keepsSourceNamespace() }),
      }),
    );
  const stop = new AbortController();
  const watching = Promise.all(facts.map((one) => one.watch(stop.signal)));
  const end = async () => {
    stop.abort();
    await watching;
  };
  return { world, state, facts, sent, tenant, end };
}

test("replicas that start at once learn of the gate from dry runs that they are asked about themselves", async () => {
  const { world, state, facts, sent, tenant, end } = await setUp();
  const learnt = () => facts.every((one) => one.keepsSourceNamespace());
  await eventually("both know who they are", () => facts.every((one) => one.self()?.uid === self.uid));
  await world.advance(1);
  assert.equal(learnt(), false, "nobody serves yet");
  state.isServing = true;
  // Replicas become ready within seconds: nobody waits for the next regular dry run.
  await world.advance(30_000, learnt);
  assert.equal(learnt(), true);
  const dryRuns = sent.filter((line) => line.startsWith("webhook POST /api/"));
  assert.deepEqual(
    [...new Set(dryRuns)],
    ["webhook POST /api/v1/namespaces/storage/persistentvolumeclaims?dryRun=All"],
  );
  const created = await tenant.create("PersistentVolumeClaim", aClaim("data"));
  assert.deepEqual(created.spec?.dataSourceRef, elsewhere);
  await end();
});

test("a tenant's dry run with the name of the probe is judged", async () => {
  const { world, state, facts, tenant, end } = await setUp();
  await eventually("both know who they are", () => facts.every((one) => one.self() !== undefined));
  state.isServing = true;
  await assert.rejects(tenant.create("PersistentVolumeClaim", aClaim(probeName), { dryRun: true }), /\[SNAP-13\d\]/);
  await world.advance(30_000);
  await end();
});

test("a webhook that may not ask who it is refuses sources of other namespaces", async () => {
  const { world, state, facts, tenant, end } = await setUp({ identityFails: true });
  state.isServing = true;
  await world.advance(900_000);
  assert.ok(facts.every((one) => !one.keepsSourceNamespace()));
  await assert.rejects(tenant.create("PersistentVolumeClaim", aClaim("data")), /\[SNAP-13\d\]/);
  await end();
});
