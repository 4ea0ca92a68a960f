/** `snapkeep install` of what shares need, on the real API server: edits are found and restored, and with which rights it works. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { parse } from "yaml";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { run } from "./harness/run.ts";
import { newNamespace } from "./harness/shared.ts";

const root = resolve(import.meta.dirname, "../..");
/** The installation creates it, with the label that exempts it from its own webhook. */
const namespace = "shares-installed";
const configuration = "validation.webhook.csidriversharedresource";

interface Rule {
  readonly apiGroups: readonly string[];
}
interface Role {
  readonly metadata: { readonly name: string };
  readonly rules: readonly Rule[];
}

/** As the guide prints it. */
const installerRole = ((): Role => {
  const guide = readFileSync(resolve(root, "docs/guides/install.md"), "utf8");
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => parse(text) as Role);
  return blocks.find(({ metadata }) => metadata?.name === "snapkeep-installer") ?? assert.fail("no role in the guide");
})();

describe("the installation of shared resources", () => {
  let plane: ControlPlane;
  let kubectl: ReturnType<typeof createKubectl>;
  let account: string;

  /** There is no node, so nothing becomes ready; everything is applied before that is waited for. */
  const install = async (kubeconfig: string, ...args: readonly string[]) => {
    const place = [`--namespace=${namespace}`, `--kubeconfig=${kubeconfig}`, "--timeout=1s"];
    const components = "--components=webhook,shared-resource,shared-resource-controller";
    const { code, stdout, stderr } = await run(process.execPath, [
      resolve(root, "src/main.ts"),
      "install",
      components,
      ...place,
      ...args,
    ]);
    return { code, out: stdout, text: `${stdout}${stderr}` };
  };
  const must = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(args);
    assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const may = async (rules: readonly Rule[]): Promise<void> => {
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", ...installerRole, rules };
    const { code, stderr } = await kubectl(["apply", "-f", "-"], { input: JSON.stringify(role) });
    assert.equal(code, 0, stderr);
  };
  const stored = async (kind: string, name: string) =>
    JSON.parse(await must("get", kind, name, "-n", namespace, "-o", "json"));
  const applied = /\d+ objects applied/;
  const isAsApplied = /^the cluster is as this release would install it$/m;

  before(async () => {
    // Roles of the shipped components are on the shared one, and belong to other installations.
    plane = await startControlPlane();
    kubectl = createKubectl(plane.kubeconfig);
    const home = await newNamespace(plane, "pipeline");
    await must("create", "serviceaccount", "installer", "-n", home);
    await must(
      "create",
      "clusterrolebinding",
      "snapkeep-installer",
      "--clusterrole=snapkeep-installer",
      `--serviceaccount=${home}:installer`,
    );
    const token = await must("create", "token", "installer", "-n", home);
    account = await plane.kubeconfigFor("installer", token.trim());
  });
  after(async () => {
    plane?.stop();
  });

  test("R86: an account without rights is refused before anything is written", async () => {
    await may([]);
    const { code, text } = await install(account, "--apply");
    assert.notEqual(code, 0);
    assert.match(text, /installer.* cannot (get|list) resource/);
    assert.equal(
      await must(
        "get",
        "deployments,serviceaccounts",
        "-n",
        namespace,
        "-l",
        "app.kubernetes.io/name=snapkeep",
        "-o",
        "name",
      ),
      "",
    );
  });

  test("R86: an account that may not create webhook configurations is refused, and the refusal names that right", async () => {
    await may(installerRole.rules.filter(({ apiGroups }) => !apiGroups.includes("admissionregistration.k8s.io")));
    const { code, text } = await install(account, "--apply");
    assert.notEqual(code, 0);
    assert.match(text, /installer.* cannot (get|create|patch) resource "(validating|mutating)webhookconfigurations"/);
    assert.doesNotMatch(text, applied);
  });

  test("R9, R57, R86: with the rights of the guide driver, controller, webhook and its configuration for shares are installed at once", async () => {
    await may(installerRole.rules);
    const { text } = await install(account, "--apply");
    assert.match(text, applied);
    const { webhooks } = await stored("validatingwebhookconfiguration", configuration);
    const [{ failurePolicy, clientConfig }] = webhooks;
    assert.deepEqual([failurePolicy, clientConfig.service.namespace], ["Ignore", namespace]);
    assert.ok(clientConfig.caBundle.length > 0);
    assert.match((await install(account, "--diff")).out, isAsApplied);
  });

  test("R17, R57: an edited or deleted allow-list, and an edited configuration, are found by --check and restored by --apply", async () => {
    const lists = ["ocp-sharedsecret-list", "ocp-sharedconfigmap-list"] as const;
    await must("delete", "configmap", lists[1], "-n", namespace);
    const mine = JSON.stringify({ data: { "openshift-etc-pki-entitlement": "mine:keys" } });
    await must("patch", "configmap", lists[0], "-n", namespace, "--type=merge", "-p", mine);
    const fail = JSON.stringify([{ op: "replace", path: "/webhooks/0/failurePolicy", value: "Fail" }]);
    await must("patch", "validatingwebhookconfiguration", configuration, "--type=json", "-p", fail);
    const { code, out } = await install(plane.kubeconfig, "--check");
    assert.equal(code, 1);
    assert.match(out, new RegExp(`^\\+ ConfigMap ${namespace}/${lists[1]}$`, "m"));
    assert.match(
      out,
      new RegExp(`^~ ConfigMap ${namespace}/${lists[0]}\\n +data\\.openshift-etc-pki-entitlement: "mine:keys" → `, "m"),
    );
    assert.match(out, /webhooks\[0\]\.failurePolicy: "Fail" → "Ignore"/);
    assert.match((await install(plane.kubeconfig, "--apply")).text, applied);
    assert.match((await install(plane.kubeconfig, "--diff")).out, isAsApplied);
    const { data } = await stored("configmap", lists[0]);
    assert.deepEqual(data, { "openshift-etc-pki-entitlement": "openshift-config-managed:etc-pki-entitlement" });
  });

  test("R86: with the rights of the guide all of it is uninstalled", async () => {
    const { code, text } = await install(account, "--uninstall");
    assert.equal(code, 0, text);
    const own = ["-A", "-l", `snapkeep.dev/installation=${namespace}`, "-o", "name"];
    const kinds = "deployments,daemonsets,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings";
    assert.equal(await must("get", kinds, ...own), "");
    assert.equal(await must("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", ...own), "");
  });
});
