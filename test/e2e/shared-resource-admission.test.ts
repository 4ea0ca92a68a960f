/** Shared resources on the real API server: every kind × CREATE and UPDATE × webhook up and down, and the controller beside it. */
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { sharedResourceCrds } from "../../src/api/crds/shared-resource.ts";
import { sharedResourceControllerRow } from "../../src/api/manifests/shared-resource-controller.ts";
import { shareConfiguration, shareConfigurationName } from "../../src/api/manifests/webhook-configurations.ts";
import { allowListSources } from "../../src/api/share-lists.ts";
import type { Condition } from "../../src/api/types.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { startCommand } from "../command-line.ts";
import { shareVolume } from "../shared-resource-objects.ts";
import { startComponent } from "./harness/components.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import type { Daemon } from "./harness/instance.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { freePort } from "./harness/ports.ts";
import { judgedKinds, pathTo, stubCrds } from "./harness/share-objects.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { shipped } from "./harness/shipped.ts";
import { shippedAccount } from "./harness/shipped-accounts.ts";
import { until } from "./harness/until.ts";
import { createTestWebhook, type TestWebhook } from "./harness/webhook.ts";

const shares = "/apis/sharedresource.openshift.io/v1alpha1";
const lists = shipped.namespace;
const canary = "c4n4ry-s3cr3t";
const writable = [shareVolume("pki", { volumeAttributes: { sharedSecret: "pki" } })];
const readOnly = [shareVolume("pki", { readOnly: true, volumeAttributes: { sharedSecret: "pki" } })];
const shareKinds = {
  SharedSecret: ["sharedsecrets", "secretRef"],
  SharedConfigMap: ["sharedconfigmaps", "configMapRef"],
} as const;

describe("shared resources on a real API server", () => {
  let plane: ControlPlane;
  let webhook: TestWebhook;
  let team: string;
  let controllers: readonly { readonly daemon: Daemon; readonly port: number }[];
  let count = 0;
  const nextName = (prefix = "x"): string => `${prefix}-${++count}`;

  const post = (path: string, object: JsonObject) => plane.request("POST", path, object);
  const aShare = (kind: keyof typeof shareKinds, name: string, reference = "keys", namespace = team): JsonObject => ({
    apiVersion: "sharedresource.openshift.io/v1alpha1",
    kind,
    metadata: { name },
    spec: { [shareKinds[kind][1]]: { namespace, name: reference } },
  });
  const createShare = (kind: keyof typeof shareKinds, name: string, reference?: string, namespace?: string) =>
    post(`${shares}/${shareKinds[kind][0]}`, aShare(kind, name, reference, namespace));
  const scrape = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const sum = (texts: readonly string[], metric: string): number =>
    texts.reduce((total, text) => total + Number(new RegExp(`^${metric} (\\d+)$`, "m").exec(text)?.[1] ?? 0), 0);
  const byWebhook = async (metric: string): Promise<number> =>
    sum([await (await fetch(`${webhook.metricsUrl}/metrics`)).text()], `openshift_csi_share_${metric}_webhook_total`);
  const byControllers = async (metric: string): Promise<number> =>
    sum(
      await Promise.all(controllers.map(({ port }) => scrape(port))),
      `openshift_csi_share_${metric}_controller_total`,
    );
  const untilAsked = (isAsked: boolean) =>
    until({ what: `the webhook is ${isAsked ? "asked" : "not asked"}` }, async () => {
      const { status } = await plane.request("POST", `${pathTo(judgedKinds[0] as never, team)}?dryRun=All`, {
        ...judgedKinds[0]?.body(writable),
        metadata: { name: nextName("probe") },
      });
      return (status === 403) === isAsked ? true : undefined;
    });
  const turnOn = async () => {
    await webhook.start();
    await webhook.configure("shares", "Ignore");
    await untilAsked(true);
  };
  const turnOff = async () => {
    await webhook.stop();
    await untilAsked(false);
  };

  /** What the owner of a Secret grants beside the rights of the manifests. */
  const lend = async (): Promise<void> => {
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${team}`;
    await post(`${roles}/roles`, {
      metadata: { name: "lend" },
      rules: [{ apiGroups: [""], resources: ["secrets"], resourceNames: ["keys", "missing"], verbs: ["get"] }],
    });
    await post(`${roles}/rolebindings`, {
      metadata: { name: "lend" },
      roleRef: { kind: "Role", name: "lend", apiGroup: "rbac.authorization.k8s.io" },
      subjects: [{ kind: "ServiceAccount", namespace: lists, name: sharedResourceControllerRow.serviceAccount }],
    });
  };

  before(async () => {
    plane = await useControlPlane();
    for (const crd of [...sharedResourceCrds(), ...stubCrds])
      await plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    team = await newNamespace(plane, "shares");
    const served = [
      ...judgedKinds.map((kind) => pathTo(kind, team)),
      ...Object.values(shareKinds).map(([plural]) => `${shares}/${plural}`),
    ];
    for (const path of served)
      await until({ what: `${path} is served` }, async () =>
        (await plane.request("GET", path)).status === 200 ? true : undefined,
      );
    await shippedAccount(plane, "shared-resource-controller");
    const { configMap, installed } = allowListSources.SharedSecret;
    const listed = await plane.request("PUT", `/api/v1/namespaces/${lists}/configmaps/${configMap}`, {
      metadata: { name: configMap },
      data: { ...installed, "openshift-listed": `${team}:keys` },
    });
    assert.equal(listed.status, 200, listed.text);
    await post(`/api/v1/namespaces/${team}/secrets`, { metadata: { name: "keys" }, stringData: { password: canary } });
    webhook = await createTestWebhook(plane);
    const ports = [await freePort(), await freePort()];
    await lend();
    const start = async (port: number) => ({
      port,
      daemon: await startComponent(plane, "shared-resource-controller", [`--http-endpoint=127.0.0.1:${port}`, "--v=4"]),
    });
    controllers = await Promise.all(ports.map(start));
    await turnOn();
  });
  after(async () => {
    await webhook?.unconfigure("shares");
    await webhook?.stop();
    for (const { daemon } of controllers ?? []) await daemon.stop();
  });

  for (const row of judgedKinds) {
    const { kind, body, isMutable } = row;
    const named = (name: string, volumes: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
      ...body(volumes),
      metadata: { name, ...more },
    });
    test(`R2, R6, R20, R21, R27, R33, R54: with the webhook up, a ${kind} with a writable volume is not stored`, async () => {
      const path = pathTo(row, team);
      const name = nextName();
      const refused = await post(path, named(name, writable));
      assert.equal(refused.status, 403, refused.text);
      assert.match(
        (JSON.parse(refused.text) as { message: string }).message,
        /^admission webhook "pod\.csi\.sharedresource\.openshift\.io" denied the request: (template\.)?spec\..*csi\.readOnly: .*\[SNAP-151\]$/,
      );
      assert.equal((await plane.request("GET", `${path}/${name}`)).status, 404);
      const created = await post(path, named(name, readOnly));
      assert.equal(created.status, 201, created.text);
      if (!isMutable) return;
      const stored = JSON.parse(created.text) as JsonObject;
      const changed = await plane.request("PUT", `${path}/${name}`, { ...stored, ...body(writable) });
      assert.equal(changed.status, 403, changed.text);
    });
  }

  for (const kind of ["SharedSecret", "SharedConfigMap"] as const)
    test(`R3, R12, R15, R55, R63, R64: with the webhook up, a ${kind} with a reserved name is refused unless it is listed`, async () => {
      const metric = `${kind.toLowerCase()}_reserved_name_failures`;
      const before = await byWebhook(metric);
      const refused = await createShare(kind, nextName("openshift"));
      assert.equal(refused.status, 403, refused.text);
      assert.match(refused.text, /\[SNAP-152\]/);
      const listed = await createShare(kind, "openshift-listed");
      assert.equal(listed.status, kind === "SharedSecret" ? 201 : 403, listed.text);
      assert.equal((await createShare(kind, "openshift-listed", "keys", "other")).status, 403);
      assert.equal((await createShare(kind, nextName("mine"))).status, 201);
      assert.equal(await byWebhook(metric), before + (kind === "SharedSecret" ? 2 : 3));
    });

  test("R6, R12: the reference of a listed share cannot be changed, its labels can", async () => {
    const path = `${shares}/sharedsecrets/openshift-listed`;
    const stored = JSON.parse((await plane.request("GET", path)).text) as JsonObject & { metadata: JsonObject };
    const other = { ...stored, spec: { secretRef: { namespace: team, name: "other" } } };
    assert.equal((await plane.request("PUT", path, other)).status, 403);
    const labelled = { ...stored, metadata: { ...stored.metadata, labels: { a: "b" } } };
    assert.equal((await plane.request("PUT", path, labelled)).status, 200);
  });

  test("R14, R18: the entitlement overlay is accepted, the webhook lets its share in, and it grants that one Secret", async (t) => {
    const kubectl = createKubectl(plane.kubeconfig);
    const must = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await kubectl(args);
      assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    const overlay = resolve(
      import.meta.dirname,
      "../../deploy/kustomize/overlays/shared-resource-controller-entitlement",
    );
    const owner = "openshift-config-managed";
    // A suite before may have installed with this namespace on the shared control plane.
    if ((await plane.request("GET", `/api/v1/namespaces/${owner}`)).status === 404)
      await must("create", "namespace", owner);
    t.after(async () => {
      await must("delete", "--ignore-not-found", "-k", overlay);
      await must("delete", "--wait=false", "namespace", owner);
    });
    await must("apply", "--server-side", "--validate=strict", "--warnings-as-errors", "-k", overlay);
    const { spec } = JSON.parse(
      (await plane.request("GET", `${shares}/sharedsecrets/openshift-etc-pki-entitlement`)).text,
    );
    assert.deepEqual(spec, { secretRef: { namespace: owner, name: "etc-pki-entitlement" } });
    const mayRead = async (account: string, secret: string): Promise<string> =>
      (
        await kubectl([
          "auth",
          "can-i",
          "get",
          `secrets/${secret}`,
          "-n",
          owner,
          `--as=system:serviceaccount:${account}`,
        ])
      ).stdout.trim();
    for (const account of ["snapkeep-drivers:shared-resource-node", "snapkeep:shared-resource-controller"]) {
      assert.equal(await mayRead(account, "etc-pki-entitlement"), "yes", account);
      assert.equal(await mayRead(account, "other"), "no", account);
    }
  });

  test("R62: the roles that the guide prints let the driver read one Secret, and one service account use one share", async (t) => {
    const guide = readFileSync(resolve(import.meta.dirname, "../../docs/guides/shared-resources.md"), "utf8");
    const manifests = [...guide.matchAll(/```yaml\n(apiVersion:[\s\S]*?)```/g)].map(([, text = ""]) => text);
    const kubectl = createKubectl(plane.kubeconfig);
    for (const namespace of ["platform", "team"]) await kubectl(["create", "namespace", namespace]);
    t.after(() =>
      kubectl(["delete", "--wait=false", "namespace/platform", "namespace/team", "sharedsecret/platform-tls"]),
    );
    const { code, stderr } = await kubectl(["apply", "-f", "-"], { input: manifests.join("---\n") });
    assert.equal(code, 0, stderr);
    const can = async (account: string, namespace: string, ...what: readonly string[]): Promise<string> =>
      (
        await kubectl(["auth", "can-i", ...what, "-n", namespace, `--as=system:serviceaccount:${account}`])
      ).stdout.trim();
    const driver = "snapkeep-drivers:shared-resource-node";
    const use = ["use", "sharedsecrets.sharedresource.openshift.io/platform-tls"] as const;
    assert.deepEqual(
      [
        await can(driver, "platform", "watch", "secrets/tls"),
        await can(driver, "platform", "get", "secrets/other"),
        await can("snapkeep:shared-resource-controller", "platform", "get", "secrets/tls"),
        await can("team:web", "team", ...use),
        await can("team:other", "team", ...use),
        await can("team:web", "platform", ...use),
      ],
      ["yes", "no", "yes", "yes", "no", "no"],
    );
  });

  test("R29, R30, R31, R84: namespaces of the control plane and of the driver are exempt, all others are not", async () => {
    const pods = judgedKinds[0] as (typeof judgedKinds)[number];
    const cases: readonly (readonly [string, Record<string, string>, number])[] = [
      ["runlevel-0", { runlevel: "0" }, 201],
      ["runlevel-1", { runlevel: "1" }, 201],
      ["runlevel-2", { runlevel: "2" }, 403],
      ["run-level-0", { "openshift.io/run-level": "0" }, 201],
      ["run-level-1", { "openshift.io/run-level": "1" }, 201],
      ["skipped", { "csi.sharedresource.openshift.io/skip-validation": "true" }, 201],
      ["not-skipped", { "csi.sharedresource.openshift.io/skip-validation": "false" }, 403],
      ["openshift-foo", {}, 403],
    ];
    for (const [name, labels, expected] of cases) {
      await post("/api/v1/namespaces", { metadata: { name, labels } });
      const { status, text } = await post(pathTo(pods, name), { ...pods.body(writable), metadata: { name: "pod" } });
      assert.equal(status, expected, `${name}: ${text}`);
    }
  });

  test("R46, R47, R72: a change of the allow-list counts after a restart, and judging sends no request", async () => {
    await plane.request("PUT", `/api/v1/namespaces/${lists}/configmaps/ocp-sharedsecret-list`, {
      metadata: { name: "ocp-sharedsecret-list" },
      data: { "openshift-listed": `${team}:keys`, "openshift-later": `${team}:keys` },
    });
    const mark = plane.auditPosition();
    assert.equal((await createShare("SharedSecret", "openshift-later")).status, 403);
    const asked = plane.auditLog(mark).filter(({ userAgent }) => userAgent?.startsWith("webhook/") === true);
    assert.deepEqual(
      asked.filter(({ objectRef }) => objectRef?.resource !== "volumesnapshotclasses"),
      [],
    );
    await webhook.stop();
    await webhook.start();
    await until({ what: "the webhook allows the added share" }, async () =>
      (await createShare("SharedSecret", "openshift-later")).status === 201 ? true : undefined,
    );
  });

  test("R28, R32, R44, R48, R53, R60, R80: with the webhook down, what it would refuse on CREATE and UPDATE is stored, counted by the controller, and can be changed after", async () => {
    await turnOff();
    const old = new Map<string, JsonObject>();
    for (const row of judgedKinds) {
      const name = nextName("old");
      const { status, text } = await post(pathTo(row, team), { ...row.body(writable), metadata: { name } });
      assert.equal(status, 201, text);
      old.set(`${pathTo(row, team)}/${name}`, JSON.parse(text) as JsonObject);
      if (!row.isMutable) continue;
      const path = `${pathTo(row, team)}/${nextName("turned")}`;
      const good = await post(pathTo(row, team), {
        ...row.body(readOnly),
        metadata: { name: path.split("/").at(-1) ?? "" },
      });
      const changed = { ...(JSON.parse(good.text) as JsonObject), spec: row.body(writable).spec as JsonObject };
      assert.equal((await plane.request("PUT", path, changed)).status, 200, `UPDATE of ${row.kind}`);
    }
    const [secretFailures, configMapFailures] = [
      "sharedsecret_reserved_name_failures",
      "sharedconfigmap_reserved_name_failures",
    ];
    const [secretsBefore, configMapsBefore] = [
      await byControllers(secretFailures),
      await byControllers(configMapFailures),
    ];
    for (const kind of ["SharedSecret", "SharedConfigMap"] as const)
      assert.equal((await createShare(kind, "openshift-while-down")).status, 201);
    const listed = `${shares}/sharedsecrets/openshift-listed`;
    const good = JSON.parse((await plane.request("GET", listed)).text) as JsonObject;
    const pointed = { ...good, spec: { secretRef: { namespace: team, name: "other" } } };
    assert.equal((await plane.request("PUT", listed, pointed)).status, 200);
    await until({ what: "the controller counts all three shares" }, async () =>
      (await byControllers(secretFailures)) === secretsBefore + 2 &&
      (await byControllers(configMapFailures)) === configMapsBefore + 1
        ? true
        : undefined,
    );
    await turnOn();
    for (const [path, stored] of old) {
      const { status, text } = await plane.request("PUT", path, {
        ...stored,
        metadata: { ...(stored.metadata as JsonObject), labels: { touched: "true" } },
      });
      assert.equal(status, 200, text);
    }
    assert.equal((await createShare("SharedSecret", nextName("openshift"))).status, 403);
    assert.equal((await plane.request("GET", `${shares}/sharedsecrets/openshift-while-down`)).status, 200);
    assert.equal((await plane.request("DELETE", `${shares}/sharedsecrets/openshift-while-down`)).status, 200);
  });

  test("R68, R78: an unreachable webhook shows in the log of the API server, and its latency in its metrics", async () => {
    const log = readFileSync(join(plane.folder, "kube-apiserver.log"), "utf8");
    assert.match(log, /failed calling webhook \\?"pod\.csi\.sharedresource\.openshift\.io\\?"/);
    const { text } = await plane.request("GET", "/metrics");
    const label = 'name="pod.csi.sharedresource.openshift.io"';
    for (const metric of [
      "apiserver_admission_webhook_admission_duration_seconds_bucket",
      "apiserver_admission_webhook_fail_open_count",
      "apiserver_admission_webhook_rejection_count",
    ])
      assert.ok(
        text.split("\n").some((line) => line.startsWith(`${metric}{`) && line.includes(label)),
        metric,
      );
  });

  test("R7, R35, R38: of two controllers one writes Available; Ready stays as its owner wrote it", async () => {
    const mark = plane.auditPosition();
    const name = nextName("watched");
    assert.equal((await createShare("SharedSecret", name)).status, 201);
    const path = `${shares}/sharedsecrets/${name}`;
    const conditions = async (): Promise<readonly Condition[]> =>
      (JSON.parse((await plane.request("GET", path)).text) as { status?: { conditions?: Condition[] } }).status
        ?.conditions ?? [];
    const available = async () => (await conditions()).find(({ type }) => type === "Available")?.status;
    await until({ what: "Available is True" }, async () => ((await available()) === "True" ? true : undefined));
    const ready = {
      type: "Ready",
      status: "False",
      reason: "Expired",
      message: "renew the entitlement",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const stored = JSON.parse((await plane.request("GET", path)).text) as JsonObject & {
      status: { conditions: object[] };
    };
    const withReady = { ...stored, status: { conditions: [ready, ...stored.status.conditions] } };
    assert.equal((await plane.request("PUT", `${path}/status`, withReady)).status, 200);
    const changed = JSON.parse((await plane.request("GET", path)).text) as JsonObject;
    const spec = { secretRef: { namespace: team, name: "missing" } };
    assert.equal((await plane.request("PUT", path, { ...changed, spec })).status, 200);
    await until({ what: "Available is False" }, async () => ((await available()) === "False" ? true : undefined));
    assert.deepEqual((await conditions())[0], ready);
    const writes = plane
      .auditLog(mark)
      .filter(({ userAgent, verb, objectRef }) =>
        Boolean(userAgent?.startsWith("shared-resource/") && verb === "patch" && objectRef?.name === name),
      );
    assert.deepEqual(
      writes.map(({ objectRef, responseStatus }) => `${objectRef?.subresource} ${responseStatus?.code}`),
      ["status 200", "status 200"],
    );
  });

  test("R79: a configuration gets an event WebhookServerFailed when its Service has no ready endpoint, and none before", async () => {
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    await webhook.unconfigure("shares");
    const service = { namespace: team, name: "webhook" };
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${team}/endpointslices`;
    const slice = (ready: boolean): JsonObject => ({
      metadata: { name: "webhook-1", labels: { "kubernetes.io/service-name": service.name } },
      addressType: "IPv4",
      ports: [{ port: 8443 }],
      endpoints: [
        { addresses: ["192.0.2.1"], conditions: { ready } },
        { addresses: ["192.0.2.2"], conditions: { ready: false } },
      ],
    });
    const sliced = await post(slices, slice(true));
    assert.equal(sliced.status, 201, sliced.text);
    const created = await post(path, shareConfiguration({ client: { service } }));
    assert.equal(created.status, 201, created.text);
    const { uid } = (JSON.parse(created.text) as { metadata: { uid: string } }).metadata;
    const events = async (): Promise<string> =>
      (
        await plane.request(
          "GET",
          `/api/v1/namespaces/default/events?fieldSelector=reason=WebhookServerFailed,involvedObject.uid=${uid}`,
        )
      ).text;
    // Of the two, only the leader looks.
    const untilFound = (endpoints: number) =>
      until({ what: `the leader finds ${endpoints} endpoints`, msMax: 60_000 }, async () => {
        const texts = await Promise.all(controllers.map(({ port }) => scrape(port)));
        return sum(texts, "openshift_csi_share_webhook_endpoints") === endpoints ? true : undefined;
      });
    try {
      await untilFound(1);
      assert.deepEqual((JSON.parse(await events()) as { items: readonly object[] }).items, []);
      const changed = await plane.request("PUT", `${slices}/webhook-1`, slice(false));
      assert.equal(changed.status, 200, changed.text);
      await until({ what: "the event is there", msMax: 60_000 }, async () =>
        (await events()).includes("Failed to launch webhook server") ? true : undefined,
      );
    } finally {
      await plane.request("DELETE", `${path}/${shareConfigurationName}`);
    }
  });

  test("R11: a bundle of snapkeep gather has shares, conditions, the configuration and leases, and no value of the Secret", async (t) => {
    await webhook.configure("shares", "Ignore");
    const folder = join(mkdtempSync(join(tmpdir(), "snapkeep-gather-")), "bundle");
    t.after(() => rmSync(join(folder, ".."), { recursive: true, force: true }));
    const { said, code } = startCommand(
      "gather",
      `--kubeconfig=${plane.kubeconfig}`,
      `--out=${folder}`,
      `--namespace=${team},${lists}`,
    );
    assert.equal(await code, 0, said.text);
    const files = globSync("**/*.*", { cwd: folder });
    const text = (file: string): string => readFileSync(join(folder, file), "utf8");
    assert.match(text("conditions.txt"), /^SharedSecret openshift-listed Available=/m);
    assert.match(text("objects/validatingwebhookconfigurations.yaml"), /validation\.webhook\.csidriversharedresource/);
    assert.match(text("objects/leases.yaml"), /shared-resource-controller-leader/);
    assert.match(text(`namespaces/${lists}/configmaps/ocp-sharedsecret-list.yaml`), /openshift-listed: /);
    assert.match(text(`namespaces/${team}/secrets.yaml`), /name: keys/);
    for (const file of files)
      assert.ok(![canary, Buffer.from(canary).toString("base64")].some((value) => text(file).includes(value)), file);
  });

  test("R11: no value of the Secret is in a log, an event or a metric", async () => {
    const logs = [webhook.daemon(), ...controllers.map(({ daemon }) => daemon)].map(({ log }) =>
      readFileSync(log, "utf8"),
    );
    const events = (await plane.request("GET", "/api/v1/events")).text;
    for (const reason of ["ReservedName", "WebhookServerFailed"]) assert.ok(events.includes(`"${reason}"`), reason);
    const texts = [...logs, events, ...(await Promise.all(controllers.map(({ port }) => scrape(port))))];
    for (const text of texts) {
      assert.ok(text.length > 0);
      assert.ok(!text.includes(canary) && !text.includes(Buffer.from(canary).toString("base64")));
    }
  });
});
