/** The embedded API server calls the real webhook over TLS; promotion looks at what comes back. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startHarness } from "../../../test/command-harness.ts";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { freePort } from "../../../test/e2e/harness/ports.ts";
import { snapshotConfiguration, snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import type { Draft } from "../../api/types.ts";
import { realWorld } from "../../base/world.ts";
import { createAuthority } from "../../runtime/certificates.ts";

const configuration = { kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName } as const;

test("promote sets Fail only if the webhook admits and rejects correctly, and --demote sets Ignore", async (t) => {
  const { client, start } = await startHarness(t);
  const folder = temporaryFolder(t);
  const authority = createAuthority("test", realWorld.now());
  const issued = authority.issue({ commonName: "webhook", ipv4: ["127.0.0.1"] });
  writeFileSync(join(folder, "tls.crt"), issued.certificate);
  writeFileSync(join(folder, "tls.key"), issued.key);
  const port = await freePort();
  const policy = async () => (await client.get(configuration)).webhooks?.[0]?.failurePolicy;
  const promote = async (...flags: readonly string[]) => {
    const { code, said } = start("webhook", "promote", ...flags);
    return { code: await code, said: said() };
  };

  const missing = await promote();
  assert.deepEqual([missing.code, /there is no ValidatingWebhookConfiguration/.test(missing.said)], [1, true]);

  const place = {
    client: { url: `https://127.0.0.1:${port}` },
    authority: authority.certificate,
  };
  await client.create("ValidatingWebhookConfiguration", snapshotConfiguration(place) as unknown as Draft);
  const down = await promote();
  assert.equal(down.code, 1);
  assert.match(down.said, /an invalid VolumeSnapshot is allowed: the API server does not reach the webhook/);
  assert.equal(await policy(), "Ignore");

  const stored = await client.get(configuration);
  const failing = (stored.webhooks ?? []).map((webhook) => ({ ...webhook, failurePolicy: "Fail" as const }));
  await client.replace("ValidatingWebhookConfiguration", { ...stored, webhooks: failing });
  const downWithFail = await promote();
  assert.equal(downWithFail.code, 1);
  assert.match(
    downWithFail.said,
    /a valid VolumeSnapshot is refused \(.*\); the policy stays as it is; where it is Fail, snap/,
  );
  assert.equal(await policy(), "Fail");
  assert.deepEqual([(await promote("--demote")).code, await policy()], [0, "Ignore"]);
  assert.match((await promote("--demote")).said, /has failurePolicy Ignore already\n$/);

  const files = [`--tls-cert-file=${join(folder, "tls.crt")}`, `--tls-private-key-file=${join(folder, "tls.key")}`];
  const webhook = start("webhook", ...files, `--port=${port}`);
  await eventually("the webhook serves", () => webhook.said().includes("serving admission reviews"));
  const up = await promote();
  assert.deepEqual([up.code, await policy()], [0, "Fail"], up.said);
  assert.match((await promote()).said, /has failurePolicy Fail already: the webhook answers, and refuses as it should/);
  const demoted = await promote("--demote");
  assert.deepEqual([demoted.code, await policy()], [0, "Ignore"]);
});
