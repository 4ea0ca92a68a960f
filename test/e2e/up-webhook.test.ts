/** The webhook of `snapkeep up`, as a user of kubectl meets it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startCommand } from "../command-line.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { until } from "./harness/until.ts";

const snapshotOf = (name: string, claim: string): string =>
  JSON.stringify({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: { name },
    spec: { source: { persistentVolumeClaimName: claim } },
  });
const defaultClass = (name: string): string =>
  JSON.stringify({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotClass",
    metadata: { name, annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
    driver: "driver.example",
    deletionPolicy: "Delete",
  });

test("kubectl prints the webhook's message for an invalid VolumeSnapshot on `snapkeep up`, and Ctrl-C leaves nothing listening", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-up-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, "kubeconfig");
  const { said, stop, code } = startCommand("up", "--tour=false", "--kubeconfig-out", kubeconfig);
  await until({ what: "up is up" }, async () => (said.text.includes("Ctrl-C ends it") ? true : undefined));
  const kubectl = createKubectl(kubeconfig);
  const create = (input: string) => kubectl(["create", "--context=snapkeep", "-f", "-"], { input });
  const refused = await create(snapshotOf("bad", ""));
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /admission webhook "snapshot\.webhook-validation\.storage\.sigs\.k8s\.io" denied the request: spec\.source: exactly one of .*\[SNAP-101\]\n$/,
  );
  assert.equal((await create(snapshotOf("good", "data"))).code, 0);
  assert.equal((await create(defaultClass("gold"))).code, 0);
  await until({ what: "the webhook knows the default class" }, async () =>
    (await create(defaultClass("silver"))).stderr.includes("[SNAP-121]")
      ? true
      : kubectl(["delete", "--context=snapkeep", "volumesnapshotclass", "silver"]).then(() => undefined),
  );
  const { stdout } = await kubectl([
    "get",
    "--context=snapkeep",
    "validatingwebhookconfigurations",
    "-o=jsonpath={.items[*].webhooks[*].clientConfig.url}",
  ]);
  stop();
  assert.equal(await code, 0, said.text);
  await assert.rejects(once(connect(Number(new URL(stdout).port), "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
});
