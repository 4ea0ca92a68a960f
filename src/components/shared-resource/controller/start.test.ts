/** The controller on the embedded API server, with a clock that the test moves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  canary,
  condition,
  group,
  relistMs,
  secrets,
  startShareController,
  writesIn,
} from "../../../../test/share-controller.ts";

test("R8, R35, R41, R42: Available follows the reference on creation, on a change of the spec and on relist", async () => {
  const { world, ask, create, createSecret, available, end } = await startShareController();
  await create("secret", "keys", "keys");
  await world.advance(1_000);
  const missing = await available("keys");
  assert.deepEqual([missing?.status, missing?.reason], ["False", "ReferenceNotFound"]);
  assert.match(missing?.message ?? "", /^Secret team\/keys does not exist; .*\[SNAP-751\]$/);
  assert.equal(missing?.observedGeneration, 1);
  await createSecret("keys");
  await world.advance(30_000);
  assert.deepEqual([(await available("keys"))?.status, (await available("keys"))?.reason], ["True", "ReferenceFound"]);
  await world.run(
    ask("PATCH", `${group}/sharedsecrets/keys`, { spec: { secretRef: { name: "other" } } }, { type: "merge" }),
  );
  await world.advance(1_000);
  const changed = await available("keys");
  assert.deepEqual([changed?.status, changed?.observedGeneration], ["False", 2]);
  await end();
});

test("R35, R36: a clock that is set back or forward by an hour delays no look at a reference, and brings none forward", async () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    const { world, ask, create, createSecret, available, requests, end } = await startShareController();
    await create("secret", "keys", "keys");
    await world.advance(1_000);
    world.jump(jumpMs);
    await createSecret("keys");
    await world.advance(30_000);
    assert.equal((await available("keys"))?.status, "True", `set by ${jumpMs} ms`);
    world.jump(jumpMs);
    const looks = (): number =>
      requests.filter(({ method, path }) => method === "GET" && path === `${secrets}/keys`).length;
    const before = looks();
    await world.advance(relistMs - 60_000);
    assert.equal(looks(), before, `set by ${jumpMs} ms`);
    await world.run(ask("DELETE", `${secrets}/keys`));
    await world.advance(61_000);
    assert.equal((await available("keys"))?.status, "False", `set by ${jumpMs} ms`);
    await end();
  }
});

test("R36: a deleted reference is noticed no later than one relist interval after", async () => {
  const { world, ask, create, createSecret, available, end } = await startShareController();
  await createSecret("keys");
  await create("secret", "keys", "keys");
  await world.advance(1_000);
  assert.equal((await available("keys"))?.status, "True");
  await world.run(ask("DELETE", `${secrets}/keys`));
  await world.advance(relistMs);
  assert.equal((await available("keys"))?.status, "False");
  await end();
});

test("R35: a SharedConfigMap of the same name as a SharedSecret has a condition of its own", async () => {
  const { world, ask, create, createSecret, available, end } = await startShareController();
  await createSecret("same");
  await create("secret", "same", "same");
  await create("configMap", "same", "same");
  await world.advance(1_000);
  assert.equal((await available("same"))?.status, "True");
  assert.equal((await available("same", "sharedconfigmaps"))?.status, "False");
  await world.run(
    ask("POST", "/api/v1/namespaces/team/configmaps", { metadata: { name: "same" }, data: { key: canary } }),
  );
  await world.advance(30_000);
  assert.equal((await available("same", "sharedconfigmaps"))?.status, "True");
  await end();
});

test("R35: a reference that may not be read is Unknown, with the right that is missing", async () => {
  const { world, create, available, state, end } = await startShareController();
  state.forbidden = true;
  await create("secret", "keys", "keys");
  await world.advance(1_000);
  const unknown = await available("keys");
  assert.deepEqual([unknown?.status, unknown?.reason], ["Unknown", "ReferenceForbidden"]);
  assert.match(unknown?.message ?? "", /get secrets with resourceNames \[keys\] in namespace team \[SNAP-752\]$/);
  await end();
});

test("R5, R7, R38, R39: Ready and foreign conditions keep their place and content, and are in no request", async () => {
  const { world, create, createSecret, share, setStatus, requests, end } = await startShareController();
  await create("secret", "keys", "keys");
  await world.advance(1_000);
  const foreign = [condition("Ready", "False"), condition("example.com/Checked", "True")];
  const ours = (await share("keys")).status?.conditions ?? [];
  await setStatus("keys", [...foreign, ...ours]);
  await createSecret("keys");
  await world.advance(30_000);
  const after = (await share("keys")).status?.conditions ?? [];
  assert.deepEqual(after.slice(0, 2), foreign);
  assert.deepEqual([after[2]?.type, after[2]?.status, after.length], ["Available", "True", 3]);
  for (const { path, body } of writesIn(requests)) {
    assert.match(path, /\/status$/);
    assert.doesNotMatch(body, /Ready|Checked/);
  }
  await end();
});

test("R37: another writer of Available is not fought: one write per relist, none in between", async () => {
  const { world, create, createSecret, available, setStatus, requests, end } = await startShareController();
  await createSecret("keys");
  await create("secret", "keys", "keys");
  await world.advance(1_000);
  const before = writesIn(requests).length;
  await setStatus("keys", [condition("Available", "False")]);
  await world.advance(relistMs / 2);
  assert.equal(writesIn(requests).length, before);
  assert.equal((await available("keys"))?.status, "False");
  await world.advance(relistMs / 2);
  assert.equal(writesIn(requests).length, before + 1);
  assert.equal((await available("keys"))?.status, "True");
  await setStatus("keys", [condition("Available", "True")]);
  await world.advance(3 * relistMs);
  assert.equal(writesIn(requests).length, before + 1);
  assert.equal((await available("keys"))?.reason, "Theirs");
  await end();
});

test("R37: nothing is written while nothing changes, and lastTransitionTime stays", async () => {
  const { world, create, createSecret, available, requests, end } = await startShareController();
  await createSecret("keys");
  await create("secret", "keys", "keys");
  await world.advance(1_000);
  const first = await available("keys");
  await world.advance(5 * relistMs);
  assert.equal(writesIn(requests).length, 1);
  assert.deepEqual(await available("keys"), first);
  await end();
});

const secretFailures = "openshift_csi_share_sharedsecret_reserved_name_failures_controller_total";
const configMapFailures = "openshift_csi_share_sharedconfigmap_reserved_name_failures_controller_total";

test("R44, R48, R55: a share with a reserved name is counted once and gets an event; it is neither changed nor deleted", async () => {
  const { world, create, count, events, share, end } = await startShareController();
  assert.equal(await count(secretFailures), 0);
  await create("secret", "openshift-mine", "keys");
  await create("secret", "openshift-listed", "keys");
  await create("secret", "mine", "keys");
  await world.advance(3 * relistMs);
  assert.deepEqual([await count(secretFailures), await count(configMapFailures)], [1, 0]);
  await create("configMap", "openshift-listed", "keys");
  await world.advance(1_000);
  assert.deepEqual([await count(secretFailures), await count(configMapFailures)], [1, 1]);
  const about = (await events()).filter(({ reason }) => reason === "ReservedName");
  assert.equal(about.length, 2);
  assert.match(about[0]?.message ?? "", /\[SNAP-152\]$/);
  assert.equal((await share("openshift-mine")).status?.conditions?.length, 1);
  await end();
});

test("R48: a listed share that is changed to another reference is counted, and again for yet another one", async () => {
  const { world, ask, create, count, end } = await startShareController();
  await create("secret", "openshift-listed", "keys");
  await world.advance(1_000);
  assert.equal(await count(secretFailures), 0);
  for (const [index, name] of ["a", "b", "keys", "a"].entries()) {
    await world.run(
      ask("PATCH", `${group}/sharedsecrets/openshift-listed`, { spec: { secretRef: { name } } }, { type: "merge" }),
    );
    await world.advance(1_000);
    assert.equal(await count(secretFailures), [1, 2, 2, 3][index]);
  }
  await end();
});

const notTrue = "openshift_csi_share_condition_not_true_controller_total";

test("R65: True to False, True to Unknown and absent to False are counted once each", async () => {
  const { world, create, createSecret, setStatus, count, end } = await startShareController();
  await createSecret("keys");
  await create("secret", "keys", "keys");
  await world.advance(1_000);
  assert.equal(await count(notTrue), 0);
  const steps: readonly (readonly [string, number])[] = [
    ["True", 0],
    ["False", 1],
    ["Unknown", 1],
    ["True", 1],
    ["Unknown", 2],
    ["False", 2],
  ];
  for (const [status, expected] of steps) {
    await setStatus("keys", [condition("Available", "True"), condition("Ready", status)]);
    await world.advance(1_000);
    assert.equal(await count(notTrue), expected, status);
  }
  await create("secret", "none", "none");
  await world.advance(2 * relistMs);
  assert.equal(await count(notTrue), 3);
  await end();
});

test("R71: shares that are not true are counted by severity, now", async () => {
  const { world, ask, create, setStatus, count, end } = await startShareController();
  await create("secret", "mine", "none");
  await create("secret", "openshift-listed", "none");
  await world.advance(1_000);
  const counts = async () =>
    Promise.all(["info", "warning", "critical"].map((severity) => count(`openshift_csi_share_not_true_${severity}`)));
  assert.deepEqual(await counts(), [1, 1, 0]);
  await setStatus("mine", [condition("Available", "True"), condition("Ready", "True")]);
  await world.run(ask("DELETE", `${group}/sharedsecrets/openshift-listed`));
  await world.advance(1_000);
  assert.deepEqual(await counts(), [0, 0, 0]);
  await end();
});

test("the shares of each kind are counted, as the operator of the replaced driver does", async () => {
  const { world, ask, create, count, end } = await startShareController();
  const counts = () => Promise.all(["secret", "configmap"].map((kind) => count(`openshift_csi_share_${kind}`)));
  assert.deepEqual(await counts(), [0, 0]);
  for (const name of ["one", "two"]) await create("secret", name, "keys");
  await create("configMap", "one", "keys");
  await world.advance(1_000);
  assert.deepEqual(await counts(), [2, 1]);
  await world.run(ask("DELETE", `${group}/sharedsecrets/one`));
  await world.advance(1_000);
  assert.deepEqual(await counts(), [1, 1]);
  await end();
});

test("R67, R69: the controller's counters have no labels, end in _controller_total, and are 0 from the start", async () => {
  const { count, end } = await startShareController();
  for (const metric of [secretFailures, configMapFailures, notTrue]) assert.equal(await count(metric), 0);
  await end();
});

test("R79: while the Service of the webhook has no ready endpoint there is an event WebhookServerFailed", async () => {
  const { world, ask, count, events, state, end } = await startShareController();
  const endpoints = "openshift_csi_share_webhook_endpoints";
  assert.equal(await count(endpoints), -1);
  const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const created = await world.run(
    ask("POST", configurations, {
      metadata: { name: "validation.webhook.csidriversharedresource" },
      webhooks: [
        {
          name: "pod.csi.sharedresource.openshift.io",
          clientConfig: { service: { namespace: "team", name: "webhook" } },
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          failurePolicy: "Ignore",
        },
      ],
    }),
  );
  assert.equal(created.status, 201, created.text);
  await world.advance(30_000);
  const failed = (await events()).filter(({ reason }) => reason === "WebhookServerFailed");
  assert.equal(failed.length, 1);
  assert.match(failed[0]?.message ?? "", /^Failed to launch webhook server: .*\[SNAP-753\]$/);
  assert.equal(await count(endpoints), 0);
  state.slices = [{ endpoints: [{ conditions: { ready: true } }, { conditions: { ready: false } }, {}] }, {}];
  await world.advance(30_000);
  assert.equal(await count(endpoints), 2);
  await world.run(ask("DELETE", `${configurations}/validation.webhook.csidriversharedresource`));
  await world.advance(30_000);
  assert.equal(await count(endpoints), -1);
  await end();
});

test("R11, R75: no value of a Secret or ConfigMap is in a log line, an event, a request or a metric", async () => {
  const { world, create, createSecret, events, requests, said, end } = await startShareController();
  await createSecret("keys");
  await create("secret", "keys", "keys");
  await create("secret", "openshift-mine", "keys");
  await world.advance(2 * relistMs);
  const everything = [
    ...said,
    ...(await events()).map((event) => JSON.stringify(event)),
    ...requests.map((request) => JSON.stringify(request)),
  ].join("\n");
  assert.ok(!everything.includes(canary) && !everything.includes(Buffer.from(canary).toString("base64")));
  await end();
});
