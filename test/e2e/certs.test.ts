/** `snapkeep certs --apply` on a real API server: a mistyped namespace breaks nothing, and no review fails while an authority is replaced. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { snapshotConfiguration, snapshotConfigurationName } from "../../src/api/manifests/webhook-configurations.ts";
import { startCommand } from "../command-line.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { until } from "./harness/until.ts";
import { createTestWebhook, type TestWebhook } from "./harness/webhook.ts";

const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const configuration = `${configurations}/${snapshotConfigurationName}`;
const service = "snapshot-validation-service";
const settleMs = 3_000;
const dayMs = 86_400_000;
const decoded = (text = ""): string => Buffer.from(text, "base64").toString("utf8");

describe("snapkeep certs --apply", () => {
  let plane: ControlPlane;
  let home: string;

  const certs = async (...argv: readonly string[]) => {
    const { code, said } = startCommand(
      "certs",
      "--apply",
      `--settle-time=${settleMs}ms`,
      `--kubeconfig=${plane.kubeconfig}`,
      ...argv,
    );
    return { code: await code, text: said.text };
  };
  const secretIn = async (namespace: string): Promise<Readonly<Record<string, string>> | undefined> => {
    const { status, text } = await plane.request(
      "GET",
      `/api/v1/namespaces/${namespace}/secrets/snapshot-validation-secret`,
    );
    if (status === 404) return undefined;
    const entries = Object.entries(JSON.parse(text).data as Record<string, string>);
    return Object.fromEntries(entries.map(([name, value]) => [name, decoded(value)]));
  };
  const bundle = async (): Promise<string> => {
    const { text } = await plane.request("GET", configuration);
    return decoded(JSON.parse(text).webhooks[0].clientConfig.caBundle);
  };
  const configure = async (client: Parameters<typeof snapshotConfiguration>[0]["client"], failurePolicy: string) => {
    await plane.request("DELETE", configuration);
    const { webhooks, ...draft } = snapshotConfiguration({ client }) as { webhooks: object[] };
    const all = webhooks.map((webhook) => ({ ...webhook, failurePolicy }));
    const { status, text } = await plane.request("POST", configurations, { ...draft, webhooks: all });
    assert.equal(status, 201, text);
  };

  before(async () => {
    plane = await useControlPlane();
    await installCrdsOn(plane, snapshotCrds(3));
    home = await newNamespace(plane, "certs");
  });
  after(async () => {
    await plane?.request("DELETE", configuration);
  });

  test("in another namespace than the Service's it is refused, and the working certificates stay", async () => {
    const elsewhere = await newNamespace(plane, "certs");
    await configure({ service: { namespace: home, name: service } }, "Ignore");
    assert.equal((await certs(`--namespace=${home}`)).code, 0);
    const before = { bundle: await bundle(), secret: await secretIn(home) };
    assert.ok(before.bundle === before.secret?.["ca.crt"]);
    for (const flags of [
      [`--namespace=${elsewhere}`],
      [`--namespace=${elsewhere}`, "--force"],
      ["--service=other", `--namespace=${home}`],
    ]) {
      const { code, text } = await certs(...flags);
      assert.equal(code, 1, text);
      assert.match(text, new RegExp(`asks Service ${home}/${service}; nothing was changed.*\\[SNAP-807\\]`));
    }
    assert.deepEqual({ bundle: await bundle(), secret: await secretIn(home) }, before);
    assert.equal(await secretIn(elsewhere), undefined);
  });

  describe("the webhook with its shipped flags and rights", () => {
    const place = "default";
    const lasts = (certificate = ""): number =>
      certificate === "" ? 0 : Date.parse(new X509Certificate(certificate).validTo) - Date.now();
    let webhook: TestWebhook;

    before(async () => {
      webhook = await createTestWebhook(plane);
      await configure({ service: { namespace: place, name: service } }, "Ignore");
      const short = ["--validity=240h", "--renew-before=1h"];
      const { code, text } = await certs(`--namespace=${place}`, ...short);
      assert.equal(code, 0, text);
    });
    after(async () => {
      await webhook?.stop();
      await plane?.request("DELETE", `/api/v1/namespaces/${place}/secrets/snapshot-validation-secret`);
    });

    test("renews a certificate that expires in ten days, and sets a caBundle that is gone; no request of it is denied", async () => {
      const old = await secretIn(place);
      assert.ok(lasts(old?.["tls.crt"]) < 11 * dayMs);
      await configure({ service: { namespace: place, name: service } }, "Ignore");
      const mark = plane.auditPosition();
      await webhook.start();
      await until({ what: "the webhook renews its certificate" }, async () =>
        lasts((await secretIn(place))?.["tls.crt"]) > 360 * dayMs ? true : undefined,
      );
      const renewed = await secretIn(place);
      assert.equal(renewed?.["ca.crt"], old?.["ca.crt"]);
      assert.equal(await bundle(), renewed?.["ca.crt"]);
      const denied = plane.auditLog(mark).filter(({ responseStatus }) => responseStatus?.code === 403);
      assert.deepEqual(denied, []);
    });
  });

  describe("while the API server asks a webhook", () => {
    let webhook: TestWebhook;
    let stop = false;
    let copying: Promise<void>;
    const snapshot = (source: object) =>
      plane.request("POST", `/apis/snapshot.storage.k8s.io/v1/namespaces/${home}/volumesnapshots?dryRun=All`, {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshot",
        metadata: { name: "probe" },
        spec: { source },
      });
    const apply = () => certs(`--namespace=${home}`, "--dns=localhost", "--force");

    /** As the kubelet does for a mounted Secret. */
    const copy = async (): Promise<void> => {
      const secret = await secretIn(home);
      if (secret?.["tls.crt"] === undefined) return;
      writeFileSync(webhook.keyFile, secret["tls.key"] ?? "");
      writeFileSync(webhook.certFile, secret["tls.crt"]);
    };

    before(async () => {
      webhook = await createTestWebhook(plane);
      await configure({ url: webhook.url.replace("127.0.0.1", "localhost") }, "Fail");
      const { code, text } = await apply();
      assert.equal(code, 0, text);
      await copy();
      await webhook.start();
      await until({ what: "the API server asks the webhook" }, async () =>
        (await snapshot({ persistentVolumeClaimName: "" })).text.includes("[SNAP-101]") ? true : undefined,
      );
      copying = (async () => {
        for (; !stop; await sleep(200)) await copy();
      })();
    });
    after(async () => {
      stop = true;
      await copying;
      await webhook?.stop();
    });

    /** A handshake as an API server makes it that trusts these authorities; resolves to the authority's problem. */
    const problemWith = (ca: string): Promise<string | undefined> =>
      new Promise((resolve) => {
        const { port } = new URL(webhook.url);
        const socket = connect({ host: "127.0.0.1", port: Number(port), servername: "localhost", ca });
        socket.once("secureConnect", () => socket.end(() => resolve(undefined)));
        socket.once("error", ({ message }) => resolve(message));
      });

    test("two new authorities in a row are served, and no review and no handshake fails, not even of an API server that reads late", async () => {
      const first = (await secretIn(home))?.["tls.crt"];
      const problems: string[] = [];
      const seen: { readonly atMs: number; readonly ca: string }[] = [];
      let [reviews, handshakes] = [0, 0];
      let isOver = false;
      const ask = async (): Promise<void> => {
        for (; !isOver; await sleep(20)) {
          const { status, text } = await snapshot({ persistentVolumeClaimName: "data" });
          if (status !== 201) problems.push(text);
          reviews += 1;
        }
      };
      const shake = async (): Promise<void> => {
        for (; !isOver; await sleep(100)) {
          seen.push({ atMs: performance.now(), ca: await bundle() });
          const late = seen.findLast(({ atMs }) => performance.now() - atMs > settleMs / 2);
          if (late === undefined) continue;
          const problem = await problemWith(late.ca);
          if (problem !== undefined) problems.push(`handshake: ${problem}`);
          handshakes += 1;
        }
      };
      const asking = [ask(), shake()];
      for (const turn of [1, 2]) {
        const { code, text } = await apply();
        assert.equal(code, 0, `turn ${turn}: ${text}`);
        assert.match(text, /waiting 3 s, until every API server has read the caBundle/);
      }
      const served = await secretIn(home);
      assert.notEqual(served?.["tls.crt"], first);
      await until({ what: "the webhook serves the last certificate" }, async () =>
        (await problemWith(served?.["ca.crt"] ?? "")) === undefined ? true : undefined,
      );
      isOver = true;
      await Promise.all(asking);
      assert.deepEqual(problems, []);
      assert.ok(reviews > 10 && handshakes > 10, `${reviews} reviews, ${handshakes} handshakes`);
    });
  });
});
