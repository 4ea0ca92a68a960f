/** What strangers inside the cluster can do to the webhook's ports: nothing that keeps probes and reviews from being answered. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect as tlsConnect } from "node:tls";
import { parseAllDocuments } from "yaml";
import { parseQuantity, wholeUnits } from "../../src/base/quantity.ts";
import { useControlPlane } from "./harness/shared.ts";
import { until } from "./harness/until.ts";
import { createTestWebhook, type TestWebhook } from "./harness/webhook.ts";

/** Reads the memory limit of the container that ships, in bytes. */
function shippedMemory(): number {
  const file = resolve(import.meta.dirname, "../../deploy/kustomize/base/webhook/workload.yaml");
  const [limit = assert.fail("the Deployment has no memory limit")] = parseAllDocuments(readFileSync(file, "utf8"))
    .map((document) => document.toJS())
    .map(({ spec }) => spec?.template?.spec?.containers?.[0]?.resources?.limits?.memory)
    .filter((memory) => memory !== undefined);
  return Number(wholeUnits(parseQuantity(limit)));
}

const review = JSON.stringify({
  kind: "AdmissionReview",
  apiVersion: "admission.k8s.io/v1",
  request: {
    uid: "1",
    operation: "CREATE",
    resource: { group: "snapshot.storage.k8s.io", version: "v1", resource: "volumesnapshots" },
    object: { metadata: { name: "a", namespace: "default" }, spec: { source: {} } },
  },
});

/** The largest review that can be legal, and less than what is refused as too large. */
const bodyBytes = 6 * 2 ** 20;

describe("the webhook among strangers", () => {
  let webhook: TestWebhook;
  const sockets = new Set<Socket>();
  before(async () => {
    webhook = await createTestWebhook(await useControlPlane());
    await webhook.start();
  });
  after(async () => {
    leave();
    await webhook?.stop();
  });

  const leave = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const hold = <T extends Socket>(socket: T): T => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    return socket;
  };
  const post = (): Promise<{ readonly status: number | undefined; readonly body: string }> =>
    new Promise((settle, reject) => {
      const call = httpsRequest(
        `${webhook.url}/volumesnapshots`,
        {
          method: "POST",
          ca: webhook.authority.certificate,
          agent: false,
          headers: { "content-type": "application/json" },
        },
        (answer) => {
          let body = "";
          answer.setEncoding("utf8").on("data", (text: string) => {
            body += text;
          });
          answer.on("end", () => settle({ status: answer.statusCode, body }));
        },
      );
      call.on("error", reject).end(review);
    });
  const reviewed = async (): Promise<void> => {
    const { status, body } = await post();
    assert.equal(status, 200, body);
    assert.match(body, /\[SNAP-101\]/);
  };
  const probed = async (): Promise<void> => {
    const answer = await fetch(`${webhook.metricsUrl}/healthz`);
    assert.equal(answer.status, 200, await answer.text());
  };
  const refusals = async (reason: string): Promise<number> => {
    const text = await (await fetch(`${webhook.metricsUrl}/metrics`)).text();
    const line = new RegExp(`^snapshot_webhook_refused_connections_total\\{reason="${reason}"\\} (\\d+)$`, "m").exec(
      text,
    );
    return Number(line?.[1] ?? 0);
  };
  const peakMemory = (): number => {
    const status = readFileSync(`/proc/${webhook.daemon().pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  };
  const portOf = (url: string): number => Number(new URL(url).port);
  const idle = async (url: string, count: number): Promise<void> => {
    for (let index = 0; index < count; index++) {
      const socket = hold(connect(portOf(url), "127.0.0.1"));
      // As many at once as the listening socket can queue.
      if (index % 100 === 99) await once(socket, "connect");
    }
  };

  test("5,000 connections that never begin TLS keep no probe and no review waiting", async () => {
    for (let round = 0; round < 5; round++) {
      await idle(webhook.url, 1_000);
      await reviewed();
      await probed();
    }
    assert.ok((await refusals("connections")) > 3_000);
    // Those that are left are closed a few seconds later.
    await until({ what: "the handshakes that wait are given up" }, async () => (sockets.size === 0 ? true : undefined));
    assert.ok((await refusals("timeout")) > 0);
  });

  test("500 idle connections to the metrics keep no probe waiting", async () => {
    await idle(webhook.metricsUrl, 500);
    await probed();
    await reviewed();
    leave();
  });

  test("90 bodies that do not end stay below the memory limit that ships, and a review is answered", async () => {
    const chunk = Buffer.alloc(2 ** 20, " ");
    const head = `POST /volumesnapshots HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${bodyBytes}\r\n\r\n`;
    const half = async (): Promise<void> => {
      const socket = hold(
        tlsConnect({ port: portOf(webhook.url), host: "127.0.0.1", ca: webhook.authority.certificate }),
      );
      const gone = new Promise<void>((settle) => void socket.once("close", () => settle()));
      socket.write(head);
      for (let sent = 0; sent < bodyBytes - chunk.length; sent += chunk.length)
        await Promise.race([gone, new Promise((settle) => socket.write(chunk, settle))]);
      await Promise.race([gone, new Promise((settle) => socket.write(chunk.subarray(1), settle))]);
    };
    for (let round = 0; round < 9; round++) {
      await Promise.all(Array.from({ length: 10 }, half));
      await reviewed();
    }
    assert.ok((await refusals("bodies")) >= 70);
    await probed();
    const { memory, running, lastWords } = webhook.daemon();
    assert.ok(running(), lastWords());
    assert.equal(memory?.oomKills() ?? 0, 0, lastWords());
    const [peak, limit] = [peakMemory(), shippedMemory()];
    assert.ok(peak < limit, `${Math.round(peak / 2 ** 20)} MiB of ${limit / 2 ** 20} MiB`);
    if (memory !== undefined) assert.equal(Number(wholeUnits(parseQuantity(memory.limit))), limit);
    leave();
  });
});
