/**
 * Secret values in every place of a cluster where people and programs leave them: the objects can be created as they are, and the logs are
 * those of a component. None of the values may be in a bundle.
 */
import type { JsonObject } from "../src/base/json.ts";

export interface Canary {
  readonly where: string;
  readonly value: string;
}

export interface PlantedObject {
  /** Where it is created: "/api/v1/namespaces/team/pods". */
  readonly path: string;
  readonly kind: string;
  readonly object: JsonObject;
  /** Written apart from the rest. */
  readonly status?: JsonObject;
}

export interface PlantedCluster {
  readonly canaries: readonly Canary[];
  readonly objects: readonly PlantedObject[];
  /** Texts of a component: what it logs, and its metrics. */
  readonly logs: string;
  readonly metrics: string;
}

const pem = (label: string, value: string): string => {
  const body = Buffer.from(`${value} `.repeat(12)).toString("base64");
  return `-----BEGIN ${label}-----\n${(body.match(/.{1,64}/g) ?? []).join("\n")}\n-----END ${label}-----`;
};

const snapshots = "snapshot.storage.k8s.io/v1";
const storage = "/apis/storage.k8s.io/v1";
const driver = "disk.example";

export function plantedCluster(namespace: string): PlantedCluster {
  const canaries: Canary[] = [];
  const plant = (where: string): string => {
    const value = `c4n4ry-${canaries.length}-x7Qz`;
    canaries.push({ where, value });
    return value;
  };
  const applied = (where: string) => ({
    "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ data: { any: plant(where) } }),
  });
  const inNamespace = (api: string, plural: string) => `${api}/namespaces/${namespace}/${plural}`;
  const snapshotPath = `/apis/${snapshots}`;
  const labels = { "app.kubernetes.io/name": "snapkeep" };
  const meta = (name: string, more: JsonObject = {}): JsonObject => ({ name, namespace, ...more });
  const message = (where: string): string => `rpc error: login failed: password="${plant(where)}" was refused`;
  const container = (): JsonObject => ({
    name: "main",
    image: "registry.example/snapkeep:1",
    command: ["/usr/bin/node", "/snapkeep/snapkeep.js"],
    args: [
      "csi-snapshotter",
      "--csi-address=/csi/csi.sock",
      "--v=4",
      `--password=${plant("the value of a flag behind =")}`,
      "--storage-pass",
      plant("the value of a flag in the next word"),
      `--api-token=${plant("the value of another flag")}`,
      `--endpoint=https://admin:${plant("a URL in a known flag")}@storage.example`,
      plant("a word without a flag"),
      `--header=Authorization: Basic ${plant("a header in a flag")}`,
    ],
    env: [
      { name: "ADMIN_PASSWORD", value: plant("a variable named password") },
      { name: "LOGIN", value: plant("a variable with a harmless name") },
      { name: "DATABASE_URL", value: `postgres://app:${plant("a URL in a variable")}@db/x` },
    ],
    livenessProbe: {
      httpGet: {
        port: 8080,
        path: `/healthz?token=${plant("the query of a probe")}`,
        httpHeaders: [{ name: "Authorization", value: `Bearer ${plant("a header of a probe")}` }],
      },
    },
    lifecycle: { preStop: { exec: { command: ["sh", "-c", `logout ${plant("a command of a hook")}`] } } },
  });
  const podSpec = (): JsonObject => ({
    containers: [container()],
    volumes: [
      {
        name: "inline",
        csi: { driver, volumeAttributes: { password: plant("attributes of an inline volume") } },
      },
      { name: "flex", flexVolume: { driver: "x/y", options: { user: plant("options of a flexVolume") } } },
    ],
  });

  const objects: PlantedObject[] = [
    {
      path: `${storage}/storageclasses`,
      kind: "StorageClass",
      object: {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: "canary", annotations: applied("last-applied of a class") },
        provisioner: driver,
        parameters: {
          password: plant("a parameter named password"),
          user: plant("a parameter named user"),
          endpoint: `https://root:${plant("a URL in a parameter")}@storage.example`,
          "csi.storage.k8s.io/provisioner-secret-name": "creds",
          "csi.storage.k8s.io/provisioner-secret-namespace": namespace,
        },
        mountOptions: [`username=app,password=${plant("mount options of a class")}`],
      },
    },
    {
      path: `${storage}/volumeattributesclasses`,
      kind: "VolumeAttributesClass",
      object: {
        apiVersion: "storage.k8s.io/v1",
        kind: "VolumeAttributesClass",
        metadata: { name: "canary" },
        driverName: driver,
        parameters: { tier: plant("a parameter of a VolumeAttributesClass") },
      },
    },
    {
      path: `${storage}/volumeattachments`,
      kind: "VolumeAttachment",
      object: {
        apiVersion: "storage.k8s.io/v1",
        kind: "VolumeAttachment",
        metadata: { name: "canary", annotations: { note: plant("an annotation of an attachment") } },
        spec: { attacher: driver, nodeName: "n", source: { persistentVolumeName: "canary" } },
      },
      status: {
        attached: true,
        attachmentMetadata: { chapUser: plant("metadata of an attachment") },
        attachError: { message: message("an error of an attachment") },
      },
    },
    {
      path: "/api/v1/persistentvolumes",
      kind: "PersistentVolume",
      object: {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "canary", annotations: { "example.com/chap": plant("an annotation of a volume") } },
        spec: {
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          storageClassName: "canary",
          mountOptions: [`password=${plant("mount options of a volume")}`, plant("a mount option alone")],
          csi: {
            driver,
            volumeHandle: `nfs://app:${plant("a URL in a handle")}@storage.example/v1`,
            volumeAttributes: {
              secretKey: plant("an attribute named secretKey"),
              share: plant("an attribute with a harmless name"),
              "storage.kubernetes.io/csiProvisionerIdentity": "kept-identity",
            },
          },
        },
      },
      status: { phase: "Failed", message: message("the status of a volume") },
    },
    {
      path: inNamespace("/api/v1", "persistentvolumeclaims"),
      kind: "PersistentVolumeClaim",
      object: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: meta("canary", {
          annotations: {
            "example.com/credentials": plant("an annotation of a claim"),
            "volume.kubernetes.io/storage-provisioner": driver,
            ...applied("last-applied of a claim"),
          },
          labels: { "db-password": plant("a label named password") },
        }),
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
          storageClassName: "canary",
        },
      },
    },
    {
      path: `${snapshotPath}/volumesnapshotclasses`,
      kind: "VolumeSnapshotClass",
      object: {
        apiVersion: snapshots,
        kind: "VolumeSnapshotClass",
        metadata: { name: "canary" },
        driver,
        deletionPolicy: "Delete",
        parameters: { password: plant("a parameter of a snapshot class"), region: plant("another of them") },
      },
    },
    {
      path: inNamespace(snapshotPath, "volumesnapshots"),
      kind: "VolumeSnapshot",
      object: {
        apiVersion: snapshots,
        kind: "VolumeSnapshot",
        metadata: meta("canary", { annotations: { "backup.example/key": plant("an annotation of a snapshot") } }),
        spec: { source: { persistentVolumeClaimName: "canary" }, volumeSnapshotClassName: "canary" },
      },
      status: {
        readyToUse: false,
        error: { message: message("the error of a snapshot"), time: "2026-01-01T00:00:00Z" },
      },
    },
    {
      path: `${snapshotPath}/volumesnapshotcontents`,
      kind: "VolumeSnapshotContent",
      object: {
        apiVersion: snapshots,
        kind: "VolumeSnapshotContent",
        metadata: { name: "canary", annotations: { "example.com/x": plant("an annotation of a content") } },
        spec: {
          driver,
          deletionPolicy: "Retain",
          source: { snapshotHandle: `https://u:${plant("a URL in a snapshot's handle")}@storage.example/s1` },
          volumeSnapshotRef: { name: "canary", namespace },
        },
      },
      status: {
        error: {
          message: `Authorization: Bearer ${plant("a header in the error of a content")}\nX-Auth-Token: ${plant("its second line")}`,
        },
      },
    },
    {
      path: inNamespace("/apis/coordination.k8s.io/v1", "leases"),
      kind: "Lease",
      object: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: meta("canary-create-volume-calls", {
          annotations: {
            "example.com/note": plant("an annotation of a Lease"),
            "snapkeep.dev/create-volume-calls": JSON.stringify({
              shapes: [
                {
                  call: {
                    method: "create",
                    name: "",
                    bytes: "1024",
                    capabilities: [
                      {
                        mode: "SINGLE_NODE_WRITER",
                        mount: { fsType: "ext4", flags: [`password=${plant("mount flags of a stored call")}`] },
                      },
                    ],
                    parameters: {
                      password: plant("a parameter of a stored call"),
                      zone: plant("another parameter of it"),
                    },
                    secret: { name: "creds", namespace },
                  },
                  secrets: { provisioner: { name: "creds", namespace } },
                  mountOptions: [plant("mount options of a stored call")],
                },
              ],
              calls: { "pvc-1": [0, namespace, "canary", "uid-1"] },
            }),
          },
        }),
        spec: { holderIdentity: "pod-1" },
      },
    },
    {
      path: inNamespace("/api/v1", "pods"),
      kind: "Pod",
      object: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: meta("canary", { labels, annotations: { "vault.example/token": plant("an annotation of a pod") } }),
        spec: { ...podSpec(), nodeName: "no-such-node", terminationGracePeriodSeconds: 0 },
      },
      status: {
        phase: "Running",
        message: message("the message of a pod"),
        conditions: [{ type: "Ready", status: "False", reason: "Error", message: message("a condition of a pod") }],
        containerStatuses: [
          {
            name: "main",
            image: "registry.example/snapkeep:1",
            imageID: "",
            ready: false,
            restartCount: 1,
            state: {},
            lastState: {
              terminated: {
                exitCode: 1,
                reason: "Error",
                message: pem("PRIVATE KEY", plant("a key in a termination message")),
              },
            },
          },
        ],
      },
    },
    {
      path: inNamespace("/apis/apps/v1", "deployments"),
      kind: "Deployment",
      object: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: meta("canary", { annotations: applied("last-applied of a Deployment") }),
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: "canary" } },
          template: {
            metadata: {
              labels: { app: "canary" },
              annotations: { "example.com/y": plant("an annotation of a template") },
            },
            spec: podSpec(),
          },
        },
      },
    },
    {
      path: inNamespace("/api/v1", "services"),
      kind: "Service",
      object: {
        apiVersion: "v1",
        kind: "Service",
        metadata: meta("canary", { annotations: { "lb.example/key": plant("an annotation of a Service") } }),
        spec: { ports: [{ port: 443 }], selector: { app: "canary" } },
      },
    },
    {
      path: inNamespace("/api/v1", "serviceaccounts"),
      kind: "ServiceAccount",
      object: {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: meta("canary", {
          annotations: { "cloud.example/credential": plant("an annotation of a ServiceAccount") },
        }),
      },
    },
    ...[
      message("the message of an event"),
      `mount -o username=app,password=${plant("mount options in an event")} failed`,
      `dial https://root:${plant("a URL in an event")}@storage.example: refused`,
      `{"password":"${plant("JSON in an event")}","secret_key": "${plant("more JSON in an event")}"}`,
      pem("RSA PRIVATE KEY", plant("a key in an event")),
      `the password is ${plant("prose in an event")}, and passphrase ${plant("more prose in an event")} too`,
      `login with --password ${plant("a command line in an event")} failed`,
    ].map(
      (text, index): PlantedObject => ({
        path: inNamespace("/api/v1", "events"),
        kind: "Event",
        object: {
          apiVersion: "v1",
          kind: "Event",
          metadata: meta(`canary-${index}`),
          involvedObject: { apiVersion: "v1", kind: "Pod", name: "canary", namespace },
          type: "Warning",
          reason: "Failed",
          message: text,
        },
      }),
    ),
    {
      path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
      kind: "ValidatingWebhookConfiguration",
      object: {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingWebhookConfiguration",
        metadata: {
          name: "canary",
          annotations: { "example.com/z": plant("an annotation of a webhook configuration") },
        },
        webhooks: [
          {
            name: "canary.example.com",
            admissionReviewVersions: ["v1"],
            sideEffects: "None",
            failurePolicy: "Ignore",
            rules: [
              { apiGroups: ["canary.example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["none"] },
            ],
            clientConfig: {
              url: `https://hook.example/x/key=${plant("the URL of a webhook")}`,
            },
          },
        ],
      },
    },
    {
      path: inNamespace("/api/v1", "configmaps"),
      kind: "ConfigMap",
      object: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: meta("csi-driver-shared-resource-config"),
        data: {
          "config.yaml": `refreshResources: false\npassword: ${plant("a setting")}\n`,
          token: plant("an entry named token"),
        },
      },
    },
    {
      path: inNamespace("/api/v1", "configmaps"),
      kind: "ConfigMap",
      object: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: meta("something-else"),
        data: { any: plant("another ConfigMap") },
      },
    },
    {
      path: inNamespace("/api/v1", "secrets"),
      kind: "Secret",
      object: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: meta("creds", { annotations: { any: plant("an annotation of a Secret") } }),
        stringData: { password: plant("a Secret") },
      },
    },
  ];

  const stamp = "2026-11-19T06:00:00.000000000Z";
  const stamped = (text: string): string =>
    text
      .split("\n")
      .map((line) => `${stamp} ${line}`)
      .join("\n");
  const cut = pem("EC PRIVATE KEY", plant("a key in a log whose beginning is cut off")).split("\n").slice(1);
  const logs = [
    stamped(cut.join("\n")),
    `${stamp} I1119 06:00:00.000000 1 main.go:1] "started" version="1.2.3" key="team/monday"`,
    `${stamp} Authorization: Bearer ${plant("a header in a log")}`,
    `${stamp} {"level":"info","headers":{"Authorization":["Basic ${plant("a header in a JSON log")}"]}}`,
    `${stamp} {"msg":"{\\"password\\":\\"${plant("escaped JSON in a log")}\\"}"}`,
    `${stamp} connecting to postgres://app:${plant("a URL in a log")}@db.example/x?sslmode=off`,
    `${stamp} GET /v1/volumes?sig=${plant("a query in a log")}&x=1`,
    `${stamp} secretKey=${plant("a value in a log")}`,
    stamped(`password: |\n  ${plant("a value in the next line of a log")}`).replaceAll(`\n${stamp} `, "\n"),
    stamped(pem("OPENSSH PRIVATE KEY", plant("a key over several lines of a log"))),
    `${stamp} key="${JSON.stringify(pem("PRIVATE KEY", plant("a key on one line of a log"))).slice(1, -1)}"`,
    `${stamp} GRPC request: name:"pvc-1" secrets:<key:"userKey" value:"${plant("a secret of a request in a log")}" > secrets:<key:"id" value:"${plant("the next secret of it")}" >`,
    `${stamp} "request" body="secrets:{key:\\"userID\\"  value:\\"${plant("a secret of a quoted request in a log")}\\"} parameters:{key:\\"chapPassword\\" value:\\"${plant("a parameter of it")}\\"}"`,
    `${stamp} <request><user>app</user><ns:password type="text">${plant("XML in a log")}</ns:password></request>`,
    `${stamp} iscsiadm -m node -o update -n node.session.auth.password -v ${plant("a CHAP password in a log")}`,
    `${stamp} iscsiadm --name=node.session.auth.password_in --value=${plant("another CHAP password in a log")}`,
    `${stamp} rbd map pool/image --id admin --key=${plant("a key of Ceph in a log")} --key ${plant("the same in the next word")}`,
    `${stamp} open app:${plant("a user and a password before a host in a log")}@db.example:5432, pw=${plant("a short name in a log")}`,
    `${stamp} POST body="grant=x&client_secret%3D${plant("a form in a log")}"`,
    `${stamp} Set-Cookie: sid=${plant("a cookie in a log")}; Path=/`,
    `${stamp} the end`,
    "",
  ].join("\n");
  const metrics = `requests_total{url="https://u:${plant("a label of a metric")}@x"} 1\n`;
  return { canaries, objects, logs, metrics };
}

/** The value, and how it may be encoded. */
export const spellingsOf = ({ value }: Canary): readonly string[] => [
  value,
  Buffer.from(value).toString("base64").replace(/=+$/, ""),
  Buffer.from(value).toString("hex"),
  encodeURIComponent(value),
  // Inside of base64, whatever stands before it.
  ...[1, 2].map((skip) =>
    Buffer.from("x".repeat(3 - skip) + value)
      .toString("base64")
      .slice(4, -4),
  ),
];
