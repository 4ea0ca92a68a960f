/** `snapkeep install` on a real API server that has a webhook configuration with an address in place of a Service. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { installationLabel } from "../../src/api/manifests/component.ts";
import { snapshotConfiguration, snapshotConfigurationName } from "../../src/api/manifests/webhook-configurations.ts";
import { startCommand } from "../command-line.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { useControlPlane } from "./harness/shared.ts";

const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const configuration = `${configurations}/${snapshotConfigurationName}`;
const namespace = "adopts-an-address";

describe("a webhook configuration with an address", () => {
  let plane: ControlPlane;
  const install = async (...argv: readonly string[]) => {
    const common = ["--components=webhook", `--namespace=${namespace}`, `--kubeconfig=${plane.kubeconfig}`];
    const { code, said } = startCommand("install", ...argv, ...common);
    return { code: await code, text: said.text };
  };
  const stored = async () => JSON.parse((await plane.request("GET", configuration)).text);
  const create = async (labels: object) => {
    const draft = snapshotConfiguration({
      client: { url: "https://127.0.0.1:1" },
      authority: plane.authority.certificate,
    });
    const { status, text } = await plane.request("POST", configurations, {
      ...draft,
      metadata: { ...(draft.metadata as object), labels },
    });
    assert.equal(status, 201, text);
  };
  before(async () => {
    plane = await useControlPlane();
    await install("--uninstall");
    await plane.request("DELETE", configuration);
  });
  after(async () => {
    await install("--uninstall");
    await plane?.request("DELETE", configuration);
  });

  test("of somebody else is named, and taken over with --adopt: the Service takes the place of the address", async () => {
    await create({});
    const refused = await install("--apply");
    assert.match(refused.text, /belong to somebody else.*\[SNAP-804\]/);
    assert.equal((await stored()).webhooks[0].clientConfig.url, "https://127.0.0.1:1/volumesnapshots");
    // No node runs the pods.
    const adopted = await install("--apply", "--adopt", "--timeout=1s");
    assert.match(adopted.text, /not ready/);
    const { metadata, webhooks } = await stored();
    assert.equal(metadata.labels[installationLabel], namespace);
    const { url, service, caBundle } = webhooks[0].clientConfig;
    assert.deepEqual([url, service.namespace, service.name], [undefined, namespace, "snapshot-validation-service"]);
    assert.notEqual(caBundle, Buffer.from(plane.authority.certificate).toString("base64"));
  });

  test("of this installation is a difference that --diff prints, and --apply removes", async () => {
    await plane.request("DELETE", configuration);
    await create({ [installationLabel]: namespace });
    const { code, text } = await install("--diff");
    assert.equal(code, 0, text);
    assert.match(text, /clientConfig\.url: "https:\/\/127\.0\.0\.1:1\/volumesnapshots" → absent/);
    await install("--apply", "--timeout=1s");
    assert.equal((await stored()).webhooks[0].clientConfig.url, undefined);
    assert.doesNotMatch((await install("--diff")).text, /clientConfig/);
  });
});
