/** Admission and shared resources: the lives of the webhook, of the controller of shares, and of their driver on a node. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { snapshotCrds } from "../../../src/api/crds/index.ts";
import { allowListObjects } from "../../../src/api/manifests/allow-lists.ts";
import { shareConfiguration, shareConfigurationName } from "../../../src/api/manifests/webhook-configurations.ts";
import type { Condition } from "../../../src/api/types.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import { startComponent } from "../harness/components.ts";
import type { ControlPlane } from "../harness/control-plane.ts";
import { installCrdsOn } from "../harness/crds.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import { freePort } from "../harness/ports.ts";
import { installShares } from "../harness/share-driver.ts";
import { createTestWebhook, isReady } from "../harness/webhook.ts";
import { certificateStage, type Must } from "./certificate-stage.ts";
import { installation, sidecarDriver } from "./rights.ts";
import { driverLife } from "./share-driver-life.ts";
import { type CreateShare, home, kinds, team } from "./share-stage.ts";
import { type Life, type Step, type Trial, userOf } from "./trial.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");
const shares = "/apis/sharedresource.openshift.io/v1alpha1";
const classes = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses";
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

export async function shareStage(plane: ControlPlane): Promise<ControlPlane> {
  await installShares(plane);
  await installCrdsOn(plane, snapshotCrds(3));
  for (const name of [home, team]) await plane.request("POST", "/api/v1/namespaces", { metadata: { name } });
  for (const list of allowListObjects(installation))
    await plane.request("POST", `/api/v1/namespaces/${home}/configmaps`, list);
  return plane;
}

export async function shareLives(plane: ControlPlane): Promise<Readonly<Record<string, Life>>> {
  const must = async (method: string, path: string, body?: object, expected = [200, 201]): Promise<string> => {
    const { status, text } = await plane.request(method, path, body);
    assert.ok(expected.includes(status), `${method} ${path}: ${status} ${text}`);
    return text;
  };
  /** What its owner lends to a component: one object. */
  const lend = async (component: string, resource: string, name: string, owner = team): Promise<void> => {
    const at = `/apis/rbac.authorization.k8s.io/v1/namespaces/${owner}`;
    const role = { name: `${component}-${resource}-${name}` };
    const rule = { apiGroups: [""], resources: [resource], resourceNames: [name], verbs: ["get", "list", "watch"] };
    await must("POST", `${at}/roles`, { metadata: role, rules: [rule] });
    await must("POST", `${at}/rolebindings`, {
      metadata: role,
      roleRef: { kind: "Role", ...role, apiGroup: "rbac.authorization.k8s.io" },
      subjects: [{ kind: "User", name: userOf(component), apiGroup: "rbac.authorization.k8s.io" }],
    });
  };
  const createShare = async (
    component: string,
    kind: keyof typeof kinds,
    name: string,
    owner = team,
  ): Promise<void> => {
    const [plural, source, field] = kinds[kind];
    // In base64 for a Secret, and a text like any other in a ConfigMap.
    await must("POST", `/api/v1/namespaces/${owner}/${source}`, { metadata: { name }, data: { token: "YQ==" } });
    await lend(component, source, name, owner);
    await must("POST", `${shares}/${plural}`, {
      apiVersion: "sharedresource.openshift.io/v1alpha1",
      kind,
      metadata: { name },
      spec: { [field]: { namespace: owner, name } },
    });
  };
  const removeShares = async (): Promise<void> => {
    for (const [plural] of Object.values(kinds)) await plane.request("DELETE", `${shares}/${plural}`);
  };
  return {
    webhook: await webhookLife(plane, must),
    "shared-resource-controller": controllerLife(plane, must, createShare, lend, removeShares),
    "shared-resource": driverLife(plane, must, createShare, removeShares),
  };
}

async function webhookLife(plane: ControlPlane, must: Must): Promise<Life> {
  const component = "webhook";
  const webhook = await createTestWebhook(plane);
  const { port } = new URL(webhook.url);
  const { port: metricsPort } = new URL(webhook.metricsUrl);
  const aClass = (name: string) => ({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotClass",
    metadata: { name, annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
    driver: sidecarDriver,
    deletionPolicy: "Delete",
  });
  const { secret, install, uninstall, isRenewed } = certificateStage(plane, must);
  const steps: readonly Step[] = [
    {
      check: "the webhook makes its certificate, and each configuration trusts it",
      prove: async (trial) => {
        await trial.until("it is made", isRenewed);
      },
    },
    {
      check: "the webhook is ready",
      prove: async (trial) => {
        await trial.until("it is ready", async () => ((await isReady(Number(metricsPort))) ? true : undefined));
        await webhook.configure("snapshots", "Fail");
        await webhook.configure("claims", "Fail");
      },
    },
    {
      check: "a second default class of a driver is refused",
      prove: async (trial) => {
        await must("POST", classes, aClass(`${trial.id}-first`));
        await trial.until("the second is refused", async () => {
          const { status } = await plane.request("POST", `${classes}?dryRun=All`, aClass(`${trial.id}-second`));
          return status === 201 ? undefined : true;
        });
      },
    },
    {
      check: "a claim may name a source of another namespace where the API server keeps it",
      prove: async (trial) => {
        const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "x", namespace: "other" };
        const spec = {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Mi" } },
          dataSourceRef: source,
        };
        await trial.until("the claim is admitted", async () => {
          const path = `/api/v1/namespaces/${team}/persistentvolumeclaims?dryRun=All`;
          return (await plane.request("POST", path, { metadata: { name: trial.id }, spec })).status === 201
            ? true
            : undefined;
        });
      },
    },
  ];
  return {
    component,
    steps,
    // A pod finds its namespace in a file: here in a /run of its own.
    start: async (kubeconfig) => {
      await install();
      return plane.instance.start(component, "unshare", [
        "--mount",
        "sh",
        "-c",
        `mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount && printf %s ${home} > /run/secrets/kubernetes.io/serviceaccount/namespace && exec "$@"`,
        "sh",
        process.execPath,
        main,
        component,
        `--kubeconfig=${kubeconfig}`,
        `--tls-cert-file=${webhook.certFile}`,
        `--tls-private-key-file=${webhook.keyFile}`,
        `--port=${port}`,
        `--http-endpoint=127.0.0.1:${metricsPort}`,
        `--certificate-secret=${secret}`,
        "--shutdown-delay-duration=0s",
      ]);
    },
    clean: async () => {
      await uninstall();
      await webhook.unconfigure("snapshots");
      await webhook.unconfigure("claims");
      await plane.request("DELETE", classes);
    },
  };
}

function controllerLife(
  plane: ControlPlane,
  must: Must,
  createShare: CreateShare,
  lend: (component: string, resource: string, name: string) => Promise<void>,
  removeShares: () => Promise<void>,
): Life {
  const component = "shared-resource-controller";
  const service = { namespace: "default", name: "share-webhook" };
  const slice = (ready: boolean) => ({
    metadata: { name: service.name, labels: { "kubernetes.io/service-name": service.name } },
    addressType: "IPv4",
    ports: [{ port: 8443 }],
    endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready } }],
  });
  let proxy: FaultProxy | undefined;
  /** The first write meets a newer version, and the watch does not tell of it: the controller has to read the share. */
  const available = (kind: keyof typeof kinds): Step => ({
    check: `a ${kind} becomes available while the watch is silent`,
    prove: async (trial) => {
      const [plural] = kinds[kind];
      const writing = proxy?.hold(
        (request) => request.startsWith("PATCH ") && request.includes(`/${plural}/${trial.id}`),
      );
      await createShare(component, kind, trial.id);
      await writing?.held;
      proxy?.stall((request) => request.includes(`/${plural}?`) && request.includes("watch="));
      await touch(`${shares}/${plural}/${trial.id}`);
      writing?.release();
      await trial.until("Available is True", async () => {
        const { status } = JSON.parse(await must("GET", `${shares}/${kinds[kind][0]}/${trial.id}`)) as {
          status?: { conditions?: readonly Condition[] };
        };
        return status?.conditions?.some((one) => one.type === "Available" && one.status === "True") ? true : undefined;
      });
    },
  });
  const touch = async (path: string): Promise<void> => {
    const share = JSON.parse(await must("GET", path)) as { metadata: object };
    await must("PUT", path, { ...share, metadata: { ...share.metadata, annotations: { touched: "yes" } } });
  };
  const events = async (uid: string): Promise<readonly { count?: number }[]> => {
    const path = `/api/v1/namespaces/default/events?fieldSelector=reason=WebhookServerFailed,involvedObject.uid=${uid}`;
    return (JSON.parse(await must("GET", path)) as { items: readonly { count?: number }[] }).items;
  };
  const loses = async (trial: Trial, uid: string, times: number): Promise<void> => {
    await trial.until(`the webhook was lost ${times} times`, async () =>
      (await events(uid)).some(({ count = 1 }) => count >= times) ? true : undefined,
    );
  };
  /** A status with this reason, of a share that refers to `name`. */
  const isSaid = async (trial: Trial, share: string, name: string, reason: string): Promise<void> => {
    await must("POST", `${shares}/sharedsecrets`, {
      apiVersion: "sharedresource.openshift.io/v1alpha1",
      kind: "SharedSecret",
      metadata: { name: share },
      spec: { secretRef: { namespace: team, name } },
    });
    await trial.until(`${share} says ${reason}`, async () => {
      const { status } = JSON.parse(await must("GET", `${shares}/sharedsecrets/${share}`)) as {
        status?: { conditions?: readonly Condition[] };
      };
      return status?.conditions?.some((one) => one.reason === reason) ? true : undefined;
    });
  };
  const missing: Step = {
    check: "a share whose Secret is not there says so",
    prove: async (trial) => {
      await lend(component, "secrets", `missing-${trial.id}`);
      await isSaid(trial, `missing-${trial.id}`, `missing-${trial.id}`, "ReferenceNotFound");
    },
  };
  const reserved: Step = {
    check: "a share with a reserved name that no list has gets an event",
    prove: async (trial) => {
      const name = `openshift-${trial.id}`;
      await must("POST", `${shares}/sharedsecrets`, {
        apiVersion: "sharedresource.openshift.io/v1alpha1",
        kind: "SharedSecret",
        metadata: { name },
        spec: { secretRef: { namespace: team, name: trial.id } },
      });
      await trial.until("the event is there", async () => {
        const path = "/api/v1/namespaces/default/events?fieldSelector=reason=ReservedName";
        const { items } = JSON.parse(await must("GET", path)) as {
          items: readonly { involvedObject: { name: string } }[];
        };
        return items.some(({ involvedObject }) => involvedObject.name === name) ? true : undefined;
      });
    },
  };
  const port = freePort();
  const unreachable: Step = {
    check: "a webhook that loses its endpoints twice gets one event, which is counted",
    prove: async (trial) => {
      await must("POST", slices, slice(false));
      const draft = shareConfiguration({ client: { service } });
      const { metadata } = JSON.parse(await must("POST", configurations, draft)) as { metadata: { uid: string } };
      await loses(trial, metadata.uid, 1);
      await must("PUT", `${slices}/${service.name}`, slice(true));
      await trial.until("the endpoint is found", async () => {
        const text = await (await fetch(`http://127.0.0.1:${await port}/metrics`)).text();
        return /^openshift_csi_share_webhook_endpoints 1$/m.test(text) ? true : undefined;
      });
      await must("PUT", `${slices}/${service.name}`, slice(false));
      await loses(trial, metadata.uid, 2);
    },
  };
  return {
    component,
    start: async (kubeconfig) => {
      const proxied = await proxyTo({ ...plane, kubeconfig });
      proxy = proxied.proxy;
      const place = { ...plane, kubeconfig: proxied.kubeconfig };
      const flags = [
        `--leader-election-namespace=${home}`,
        `--allow-list-namespace=${home}`,
        `--http-endpoint=127.0.0.1:${await port}`,
      ];
      return startComponent(place, "shared-resource-controller", flags, { as: "single rights" });
    },
    steps: [available("SharedSecret"), available("SharedConfigMap"), missing, reserved, unreachable],
    clean: async () => {
      await proxy?.close();
      await removeShares();
      await plane.request("DELETE", `${configurations}/${shareConfigurationName}`);
      await plane.request("DELETE", `${slices}/${service.name}`);
      await plane.request(
        "DELETE",
        `/apis/coordination.k8s.io/v1/namespaces/${home}/leases/shared-resource-controller-leader`,
      );
    },
  };
}
