/** deploy/ on a real API server: every object is accepted as written, and what it grants is enough, and no more. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { webhookRow } from "../../src/api/manifests/webhook.ts";
import { startCommand } from "../command-line.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { run } from "./harness/run.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { tool } from "./harness/tools.ts";
import { until } from "./harness/until.ts";
import { createTestWebhook } from "./harness/webhook.ts";

const helm = await tool("helm");
const root = resolve(import.meta.dirname, "../..");
const folders = ["all", "default", "webhook", "webhook-claims", "webhook-on-control-plane"] as const;
const folder = (name: (typeof folders)[number]): string => join(root, "deploy/kustomize/overlays", name);
const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "fixtures/requirement-000", `${name}.yaml`), "utf8");
const namespace = "snapkeep";
const account = `system:serviceaccount:${namespace}:${webhookRow.serviceAccount}`;

describe("the manifests in deploy/", () => {
  let plane: ControlPlane;
  let kubectl: ReturnType<typeof createKubectl>;
  const must = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(args, input === undefined ? {} : { input });
    assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const apply = (name: (typeof folders)[number]) =>
    must(["apply", "--server-side", "--validate=strict", "--warnings-as-errors", "-k", folder(name)]);
  /** The other suites share this server, and nobody answers at the Service. */
  const remove = async () => {
    for (const name of ["webhook-claims", "all"] as const)
      await must(["delete", "--ignore-not-found", "--wait=false", "-k", folder(name)]);
  };
  const podOf = (deployment: { readonly spec: { readonly template: object } }, name: string) => ({
    ...deployment.spec.template,
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
  });

  before(async () => {
    plane = await useControlPlane();
    kubectl = createKubectl(plane.kubeconfig);
    await installCrdsOn(plane, snapshotCrds(3));
    await until({ what: "classes are served" }, async () =>
      (await plane.request("GET", "/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses")).status === 200
        ? true
        : undefined,
    );
  });
  after(remove);

  test("all of them are accepted with strict field validation and without a warning, alone and next to the API server", async () => {
    for (const name of folders) await apply(name);
    const { spec } = JSON.parse(
      await must(["get", "deployment", "-n", namespace, webhookRow.workload.name, "-o", "json"]),
    );
    assert.equal(spec.replicas, 3);
    assert.equal(spec.template.spec.tolerations[0].key, "node-role.kubernetes.io/control-plane");
    const stored = JSON.parse(
      await must(["get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "json"]),
    );
    const webhooks = stored.items.flatMap(({ webhooks = [] }: { webhooks?: readonly object[] }) => webhooks);
    const policies = webhooks.map(
      ({ name, failurePolicy, timeoutSeconds }: Record<string, unknown>) =>
        `${name} ${failurePolicy} ${timeoutSeconds}`,
    );
    assert.deepEqual(policies.sort(), [
      "claim-sources.storage.snapkeep.dev Fail 5",
      "snapshot.webhook-validation.storage.sigs.k8s.io Ignore 2",
    ]);
  });

  test("a pod of the Deployment is admitted to the restricted namespace, and one of the document's is not", async () => {
    const deployment = JSON.parse(
      await must(["get", "deployment", "-n", namespace, webhookRow.workload.name, "-o", "json"]),
    );
    const pods = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
    const ours = await plane.request("POST", pods, podOf(deployment, "ours"));
    assert.equal(ours.status, 201, ours.text);
    const theirs = await plane.request("POST", pods, podOf(parse(fixture("deployment")), "theirs"));
    assert.equal(theirs.status, 403);
    assert.match(JSON.parse(theirs.text).message, /violates PodSecurity "restricted:latest"/);
  });

  test("the service account may create claims in its own namespace only, and read classes", async () => {
    const mayI = async (...question: readonly string[]) =>
      (await kubectl(["auth", "can-i", ...question, `--as=${account}`])).stdout.trim();
    assert.equal(await mayI("create", "persistentvolumeclaims", "-n", namespace), "yes");
    assert.equal(await mayI("create", "persistentvolumeclaims", "-n", "default"), "no");
    for (const verb of ["get", "update", "delete"])
      assert.equal(await mayI(verb, "persistentvolumeclaims", "-n", namespace), "no");
    assert.equal(await mayI("watch", "volumesnapshotclasses.snapshot.storage.k8s.io"), "yes");
    for (const kind of ["secrets", "pods", "volumesnapshots.snapshot.storage.k8s.io"])
      assert.equal(await mayI("list", kind, "-A"), "no");
  });

  test("`snapkeep certs --apply` completes them: it writes the Secret, and both configurations trust its authority", async () => {
    const { code, said } = startCommand(
      "certs",
      "--apply",
      `--namespace=${namespace}`,
      `--kubeconfig=${plane.kubeconfig}`,
    );
    assert.equal(await code, 0, said.text);
    assert.equal(said.out.match(/set caBundle of/g)?.length, 2, said.out);
    // Applying the manifests again must not take the authority away.
    await apply("webhook");
    const stored = await must([
      "get",
      "validatingwebhookconfiguration",
      "webhook-validation.storage.sigs.k8s.io",
      "-o=jsonpath={.webhooks[0].clientConfig.caBundle}",
    ]);
    assert.match(Buffer.from(stored, "base64").toString(), /BEGIN CERTIFICATE/);
  });

  test("the requirement document's Deployment, Service and configuration are accepted as printed, with an authority filled in", async () => {
    const place = await newNamespace(plane, "document");
    const create = (text: string) =>
      must(["create", "--dry-run=server", "--validate=strict", "-n", place, "-f", "-"], text);
    await create(fixture("deployment"));
    await create(fixture("service").replace("namespace: default ", `namespace: ${place} `));
    const configuration = fixture("configuration").replace(
      /caBundle: ".*"/,
      `caBundle: "${Buffer.from(plane.authority.certificate).toString("base64")}"`,
    );
    // The name is the one that deploy/ uses: it is stored already, so that this is an update.
    await must(
      ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"],
      configuration,
    );
  });

  /** What an administrator applies who wants another namespace than ours, by each of the two ways. */
  const renderings: Readonly<Record<string, (place: string) => Promise<string>>> = {
    "a kustomization with a namespace of its own": async (place) => {
      const own = mkdtempSync(join(tmpdir(), "snapkeep-kustomize-"));
      const resources = (["webhook", "webhook-claims"] as const).map((name) =>
        relative(realpathSync(own), folder(name)),
      );
      writeFileSync(join(own, "kustomization.yaml"), JSON.stringify({ namespace: place, resources }));
      try {
        return await must(["kustomize", own]);
      } finally {
        rmSync(own, { recursive: true });
      }
    },
    "a release of the chart with a namespace of its own": async (place) => {
      const set = ["--set", "webhook.claims=true,snapshotController.enabled=false"];
      const chart = join(root, "deploy/helm/snapkeep");
      const args = ["template", "snapkeep", chart, "-n", place, "--kube-version", "1.36.4", ...set];
      const { code, stdout, stderr } = await run(helm, args);
      assert.equal(code, 0, stderr);
      return stdout;
    },
  };
  for (const [given, render] of Object.entries(renderings))
    describe(`the webhook as the service account of ${given}`, () => {
      const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
      const aClaim = (name: string, dataSourceRef: object) => ({
        metadata: { name },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, dataSourceRef },
      });
      const elsewhere = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s", namespace: "other" };
      let webhook: Awaited<ReturnType<typeof createTestWebhook>>;

      before(async () => {
        await remove();
        const place = await newNamespace(plane, "abroad");
        const objects = parseAllDocuments(await render(place)).map((document) => document.toJS());
        const items = objects.filter((object) => /^(ServiceAccount|(Cluster)?Role(Binding)?)$/.test(object?.kind));
        await must(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
        const token = (await must(["create", "token", webhookRow.serviceAccount, "-n", place])).trim();
        const kubeconfig = plane.kubeconfigFor(`${place}-${webhookRow.serviceAccount}`, token);
        webhook = await createTestWebhook({ ...plane, kubeconfig }, "rendered elsewhere");
        await webhook.configureAs(
          "claims",
          objects.find((object) => object?.kind === "MutatingWebhookConfiguration"),
        );
        await webhook.start();
      });
      after(async () => {
        await webhook?.unconfigure("claims");
        await webhook?.stop();
      });

      test("finds by a dry run, which it does not judge itself, that this server keeps the namespace of a source", async () => {
        const refused = aClaim("core", { kind: "ConfigMap", name: "m" });
        await until({ what: "the API server asks the webhook" }, async () =>
          (await plane.request("POST", `${claims}?dryRun=All`, refused)).text.includes("[SNAP-131]") ? true : undefined,
        );
        const kept = await until({ what: "the webhook allows a source in another namespace" }, async () => {
          const { status, text } = await plane.request("POST", `${claims}?dryRun=All`, aClaim("elsewhere", elsewhere));
          return status === 201 ? JSON.parse(text) : undefined;
        });
        assert.deepEqual(kept.spec.dataSourceRef, elsewhere);
      });

      test("while it is down, a claim with a source can be changed and deleted, and no other can be created", async () => {
        const stored = aClaim("stored", elsewhere);
        assert.equal((await plane.request("POST", claims, stored)).status, 201);
        await webhook.stop();
        const created = await plane.request("POST", claims, aClaim("new", elsewhere));
        assert.match(created.text, /failed calling webhook/);
        await must(["label", "pvc", "stored", "-n", "default", "a=b"]);
        await must(["delete", "pvc", "stored", "-n", "default", "--timeout=20s"]);
        await webhook.start();
      });

      test("after a restart it learns again, although the API server asks it about its own dry run", async () => {
        await until({ what: "the webhook allows a source in another namespace" }, async () => {
          const { status } = await plane.request("POST", `${claims}?dryRun=All`, aClaim("elsewhere", elsewhere));
          return status === 201 ? true : undefined;
        });
      });
    });
});
