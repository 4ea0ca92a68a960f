/** Our image as pods of a real node. */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { driverPrograms } from "../../../scripts/image/contents.ts";
import { buildFolders, type Cluster, image, machineArchitecture, useCluster, version } from "../harness/cluster.ts";
import { newNamespace } from "../harness/shared.ts";
import { linesOf, unpackedImage } from "../harness/unpacked.ts";
import { until } from "../harness/until.ts";

const restricted = {
  pod: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  container: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
};

interface Status {
  readonly phase: string;
  readonly containerStatuses?: readonly {
    readonly state?: {
      readonly waiting?: { readonly reason?: string; readonly message?: string };
      readonly terminated?: { readonly message?: string };
    };
  }[];
}

const restrictedPod = (container: object): PodSpec => ({
  securityContext: restricted.pod,
  containers: [{ name: "main", image: `snapkeep:${version}`, securityContext: restricted.container, ...container }],
});

interface PodSpec {
  readonly containers: readonly object[];
  readonly [more: string]: unknown;
}

const absent = ["sh", "bash", "npm"];
const bindScript =
  'require("net").createServer().listen(443, () => { console.log("bound by", process.getuid()); process.exit(0); });';
const pods: Readonly<Record<string, PodSpec>> = {
  crds: restrictedPod({ args: ["crds"] }),
  ...Object.fromEntries(absent.map((program) => [`no-${program}`, restrictedPod({ command: [program] })])),
  bind: {
    volumes: [{ name: "script", configMap: { name: "script" } }],
    containers: [
      {
        name: "main",
        image: `snapkeep:${version}`,
        args: ["crds"],
        env: [{ name: "NODE_OPTIONS", value: "--require=/etc/script/bind.js" }],
        volumeMounts: [{ name: "script", mountPath: "/etc/script" }],
      },
    ],
  },
  programs: {
    securityContext: restricted.pod,
    containers: driverPrograms.map((program) => ({
      name: program,
      image: `snapkeep:${version}-driver`,
      command: [program, "--version"],
      securityContext: restricted.container,
    })),
  },
};

describe("the image", () => {
  let cluster: Cluster;
  let namespace: string;
  const pathOf = (resource: string): string => `/api/v1/namespaces/${namespace}/${resource}`;
  const create = async (resource: string, body: object): Promise<void> => {
    const { status, text } = await cluster.plane.request("POST", pathOf(resource), body);
    assert.equal(status, 201, text);
  };

  /** All pods at once: they start while the first tests read files. */
  before(async () => {
    cluster = await useCluster();
    namespace = await newNamespace(cluster.plane, "image");
    await create("configmaps", { metadata: { name: "script" }, data: { "bind.js": bindScript } });
    for (const [name, spec] of Object.entries(pods))
      await create("pods", {
        metadata: { name },
        spec: { restartPolicy: "Never", automountServiceAccountToken: false, ...spec },
      });
  });
  // Later suites of this node look for every pod with our image.
  after(() => cluster.kubectl(["delete", "pods", "--all", "-n", namespace]));

  /** Waits for a pod's end, or until it cannot start; the output of its first container comes back. */
  async function endOf(name: string) {
    const end = await until({ what: `pod ${name} has ended`, msMax: 120_000 }, async () => {
      const { text } = await cluster.plane.request("GET", pathOf(`pods/${name}`));
      const { phase, containerStatuses } = JSON.parse(text).status as Status;
      const waiting = containerStatuses?.[0]?.state?.waiting;
      if (/Error|BackOff/.test(waiting?.reason ?? "")) return { phase, message: waiting?.message ?? "" };
      const message = containerStatuses?.[0]?.state?.terminated?.message ?? "";
      return phase === "Succeeded" || phase === "Failed" ? { phase, message } : undefined;
    });
    return { ...end, logs: (await cluster.kubectl(["logs", "-n", namespace, name])).stdout };
  }

  test("has two tags, and is small", () => {
    assert.deepEqual(Object.keys(image.digests), [version, `${version}-driver`]);
    assert.ok(statSync(image.archive).size < 60e6, "more than 60 MB, compressed");
  });

  test("the Dockerfile copies the same files", async () => {
    const folders = await buildFolders();
    for (const [tag, parts] of [
      [version, ["plain"]],
      [`${version}-driver`, ["plain", "programs"]],
    ] as const) {
      const copied = new Set(parts.flatMap((part) => linesOf(join(folders, part))));
      assert.deepEqual([...copied].sort(), [...linesOf(unpackedImage(image.archive, tag, machineArchitecture))].sort());
    }
  });

  test("runs a command as a restricted pod, with a root file system that is read-only", async () => {
    const { phase, logs } = await endOf("crds");
    assert.equal(phase, "Succeeded", logs);
    assert.match(logs, /kind: CustomResourceDefinition/);
  });

  test("has no shell and no npm", async () => {
    for (const program of absent)
      assert.match((await endOf(`no-${program}`)).message, /executable file not found/, program);
  });

  test("a process that is not root may bind port 443", async () => {
    assert.match((await endOf("bind")).logs, /bound by 65532/);
  });

  test("the tag for drivers has every program that they run", async () => {
    const { phase, logs } = await endOf("programs");
    assert.equal(phase, "Succeeded", logs);
  });
});
