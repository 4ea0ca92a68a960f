/**
 * A real Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager. Any user can run it; it has
 * an authority of its own, so that clients verify what they talk to.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AuditEntry, auditPolicy, readAudit } from "./audit.ts";
import { type Authority, createAuthority, newKeys } from "./certificates.ts";
import { createInstance, type Daemon, type Environment, type Instance } from "./instance.ts";
import { freePort } from "./ports.ts";
import { withProgress } from "./progress.ts";
import { type Answer, request } from "./request.ts";
import { tools } from "./tools.ts";
import { until } from "./until.ts";

export interface Token {
  readonly token: string;
  readonly user: string;
  readonly groups?: readonly string[];
}

export interface ControlPlaneOptions {
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** More users than the administrator. They may do nothing until a role is bound to them. */
  readonly tokens?: readonly Token[];
  /**
   * "storage": what volumes and namespaces need, and pods without service accounts. "all": what ordinary pods need.
   * "none": no controller manager, for measuring the API server alone.
   */
  readonly controllers?: "storage" | "all" | "none";
  readonly apiServerFlags?: readonly string[];
  readonly apiServerEnvironment?: Environment;
  readonly controllerManagerFlags?: readonly string[];
  /** Pods of a node reach the API server by its Service, and it reaches theirs: it listens on all addresses. */
  readonly servesPods?: boolean;
  /** Where ports come from; free ones unless said otherwise. */
  readonly port?: () => Promise<number>;
}

export interface ControlPlane {
  readonly folder: string;
  /** Path of a kubeconfig for the administrator. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
  /** Signs certificates that the API server accepts from clients (commonName is the user, organizations the groups). */
  readonly authority: Authority;
  readonly instance: Instance;
  /** Itself: a component that runs beside it acts as one of its service accounts. */
  readonly plane: ControlPlane;
  /** A plain request as the administrator, or with another token. */
  request(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  /** A kubeconfig for another token; returns its path. */
  kubeconfigFor(user: string, token: string): string;
  /** Where the audit log ends now: hand it to `auditLog` to see only what came later. */
  auditPosition(): number;
  auditLog(from?: number): readonly AuditEntry[];
  /** What etcd holds under "/registry/" and this prefix, as text: the only place that shows the version an object is stored in. */
  stored(prefix: string): Promise<readonly string[]>;
  /** etcd forgets everything but the newest revision, as it does every few minutes in a cluster. */
  compact(): Promise<void>;
  /** Pulls the plug. `startApiServer` brings it back on the same port with the same data. */
  killApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  /** In good order: stop, then start. */
  restartApiServer(): Promise<void>;
  restartEtcd(): Promise<void>;
  stop(): void;
}

const storageControllers = [
  "persistentvolume-binder-controller",
  "persistentvolumeclaim-protection-controller",
  "persistentvolume-protection-controller",
  "namespace-controller",
  "garbage-collector-controller",
];
/** Without those that ask for a cloud. */
const allControllers = [
  "*",
  "-node-ipam-controller",
  "-node-route-controller",
  "-cloud-node-lifecycle-controller",
  "-service-lb-controller",
];

/** At import, so that a build counts against no test's time. */
const programs = await tools("etcd", "kube-apiserver", "kube-controller-manager");
const startTriesMax = 5;

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return withProgress("etcd, kube-apiserver and kube-controller-manager are starting", async () => {
    for (let attempt = 1; ; attempt += 1) {
      const instance = createInstance();
      try {
        return await startIn(instance, options);
      } catch (reason) {
        instance.stop();
        // Somebody took a port between our look and the program's bind: try others.
        if (attempt === startTriesMax || !/address already in use/.test(String(reason))) throw reason;
      }
    }
  });
}

async function startIn(instance: Instance, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { folder } = instance;
  const { port = freePort } = options;
  const [etcdPort, apiPort] = [await port(), await port()];
  const url = `https://127.0.0.1:${apiPort}`;
  const token = randomBytes(16).toString("hex");
  const authority = createAuthority("snapkeep-test-authority");
  writeFiles(folder, authority, token, options);
  const caFile = join(folder, "ca.crt");
  const kubeconfigFor = (user: string, userToken: string): string => {
    const path = join(folder, `${user}.kubeconfig`);
    writeFileSync(path, kubeconfigText({ url, caFile, user, token: userToken }), { mode: 0o600 });
    return path;
  };
  const ask: ControlPlane["request"] = (method, path, body, userToken = token) =>
    request({ url, authority: authority.certificate }, method, path, { token: userToken, body });
  const startEtcd = () => instance.start("etcd", programs.etcd, etcdFlags(folder, etcdPort));
  const startApi = () =>
    instance.start(
      "kube-apiserver",
      programs["kube-apiserver"],
      apiServerFlags(folder, etcdPort, apiPort, options),
      options.apiServerEnvironment,
    );

  let etcd = startEtcd();
  let api = startApi();
  const ready = () => isReady({ "kube-apiserver": api, etcd }, ask);
  const kubeconfig = kubeconfigFor("admin", token);
  await ready();
  if (options.controllers !== "none") {
    // It gives up when the API server is away for long, or at the wrong moment.
    const manager = instance.keep(
      "kube-controller-manager",
      programs["kube-controller-manager"],
      controllerManagerFlags(folder, kubeconfig, options),
    );
    await defaultNamespace({ "kube-controller-manager": manager }, ask);
  } else await defaultNamespace({ "kube-apiserver": api }, ask);

  const audit = join(folder, "audit.log");
  const startApiServer = async () => {
    api = startApi();
    await ready();
  };
  const plane: ControlPlane = {
    folder,
    kubeconfig,
    get plane() {
      return plane;
    },
    url,
    token,
    caFile,
    authority,
    instance,
    request: ask,
    kubeconfigFor,
    auditPosition: () => statSync(audit).size,
    auditLog: (from = 0) => readAudit(audit, from),
    stored: (prefix) => storedIn(etcdPort, `/registry/${prefix}`),
    compact: async () => {
      const { header } = await askEtcd(etcdPort, "kv/range", { key: base64("/") });
      await askEtcd(etcdPort, "kv/compaction", { revision: header.revision, physical: true });
    },
    killApiServer: () => api.stop("SIGKILL"),
    startApiServer,
    restartApiServer: async () => {
      await api.stop();
      await startApiServer();
    },
    restartEtcd: async () => {
      // Asked politely, it waits for its clients to hang up first, which they never do.
      await etcd.stop("SIGKILL");
      etcd = startEtcd();
      // The API server's own look at etcd is a cached one: ask etcd first.
      await isHealthy(etcd, etcdPort);
      await ready();
    },
    stop: () => instance.stop(),
  };
  return plane;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface EtcdAnswer {
  readonly header: { readonly revision: string };
  readonly kvs?: readonly { readonly value: string }[];
}

/** Asks etcd's HTTP gateway; keys and values travel in base64. */
async function askEtcd(port: number, what: string, body: object): Promise<EtcdAnswer> {
  const request = { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(`http://127.0.0.1:${port}/v3/${what}`, request);
  if (!answer.ok) throw new Error(`etcd answered ${what} with ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as EtcdAnswer;
}

async function storedIn(port: number, prefix: string): Promise<readonly string[]> {
  const range = { key: base64(prefix), range_end: base64(`${prefix}\xff`) };
  const { kvs = [] } = await askEtcd(port, "kv/range", range);
  return kvs.map(({ value }) => Buffer.from(value, "base64").toString("utf8"));
}

function writeFiles(folder: string, authority: Authority, token: string, { tokens = [] }: ControlPlaneOptions): void {
  const secret = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const serving = authority.issue({
    commonName: "kube-apiserver",
    dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
    ipv4: ["127.0.0.1", serviceAddress],
  });
  const serviceAccounts = newKeys();
  secret("ca.crt", authority.certificate);
  secret("serving.crt", serving.certificate);
  secret("serving.key", serving.key);
  secret("accounts.key", serviceAccounts.privateKey.export({ type: "sec1", format: "pem" }).toString());
  secret("accounts.pub", serviceAccounts.publicKey.export({ type: "spki", format: "pem" }).toString());
  secret("audit.json", JSON.stringify(auditPolicy));
  const users: readonly Token[] = [{ token, user: "admin", groups: ["system:masters"] }, ...tokens];
  const line = (row: Token, index: number) => `${row.token},${row.user},${index},"${(row.groups ?? []).join(",")}"\n`;
  secret("tokens.csv", users.map(line).join(""));
  mkdirSync(join(folder, "etcd"), { mode: 0o700 });
}

/** The first address of the range for services: the API server gives it to itself. */
export const serviceAddress = "10.96.0.1";
const serviceRange = "10.96.0.0/16";

const flags = (table: Readonly<Record<string, string>>): string[] =>
  Object.entries(table).map(([name, value]) => `--${name}=${value}`);

const etcdFlags = (folder: string, port: number): string[] => [
  "--unsafe-no-fsync",
  ...flags({
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": `http://127.0.0.1:${port}`,
    "advertise-client-urls": `http://127.0.0.1:${port}`,
    // The only member: no peer connects, so any port works.
    "listen-peer-urls": "http://127.0.0.1:0",
    "log-level": "warn",
  }),
];

function apiServerFlags(folder: string, etcdPort: number, apiPort: number, options: ControlPlaneOptions): string[] {
  const gates = { CrossNamespaceVolumeDataSource: true, ...options.featureGates };
  return [
    ...flags({
      "etcd-servers": `http://127.0.0.1:${etcdPort}`,
      "secure-port": String(apiPort),
      "bind-address": options.servesPods === true ? "0.0.0.0" : "127.0.0.1",
      "advertise-address": "127.0.0.1",
      "tls-cert-file": join(folder, "serving.crt"),
      "tls-private-key-file": join(folder, "serving.key"),
      "client-ca-file": join(folder, "ca.crt"),
      "token-auth-file": join(folder, "tokens.csv"),
      "service-account-issuer": "https://kubernetes.default",
      "service-account-key-file": join(folder, "accounts.pub"),
      "service-account-signing-key-file": join(folder, "accounts.key"),
      "authorization-mode": "RBAC",
      "service-cluster-ip-range": serviceRange,
      "allow-privileged": "true",
      // The kubelet of the harness calls itself localhost, and is found there (kubectl logs, exec).
      "kubelet-preferred-address-types": "Hostname",
      "audit-policy-file": join(folder, "audit.json"),
      "audit-log-path": join(folder, "audit.log"),
      "audit-log-maxsize": "2000",
      "feature-gates": Object.entries(gates)
        .map(([gate, on]) => `${gate}=${on}`)
        .join(","),
    }),
    ...(options.controllers === "all" ? [] : ["--disable-admission-plugins=ServiceAccount"]),
    // Webhooks are called at the addresses of their pods: nothing on this machine routes the addresses of Services.
    ...(options.servesPods === true ? ["--enable-aggregator-routing=true"] : []),
    ...(options.apiServerFlags ?? []),
  ];
}

const controllerManagerFlags = (folder: string, kubeconfig: string, options: ControlPlaneOptions): string[] => [
  ...flags({
    kubeconfig,
    "leader-elect": "false",
    controllers: (options.controllers === "all" ? allControllers : storageControllers).join(","),
    "service-account-private-key-file": join(folder, "accounts.key"),
    "root-ca-file": join(folder, "ca.crt"),
    "use-service-account-credentials": "false",
    "kube-api-qps": "500",
    "kube-api-burst": "1000",
    // A claim whose volume its cache does not have yet is looked at again after this time; the default is 15 s.
    "pvclaimbinder-sync-period": "1s",
    // No port: its health is not checked.
    "secure-port": "0",
  }),
  ...(options.controllerManagerFlags ?? []),
];

const readyMsMax = 60_000;
type Ask = ControlPlane["request"];

type Daemons = Readonly<Record<string, Daemon>>;

/** Looks until it sees; a program that ends meanwhile is an error at once, also while a look hangs. */
const seen = (what: string, daemons: Daemons, look: () => Promise<boolean>): Promise<boolean> =>
  Promise.race([
    until({ what, msMax: readyMsMax }, async () => {
      mustRun(daemons);
      return (await look().catch(() => false)) ? true : undefined;
    }),
    ...Object.values(daemons).map(async ({ ended }) => {
      await ended;
      mustRun(daemons);
      return false;
    }),
  ]);

function mustRun(daemons: Daemons): void {
  for (const [name, daemon] of Object.entries(daemons))
    if (!daemon.running()) throw new Error(`${name} ended while starting:\n${daemon.lastWords()}`);
}

const isReady = (daemons: Daemons, ask: Ask): Promise<boolean> =>
  seen("kube-apiserver is ready", daemons, async () => (await ask("GET", "/readyz")).status === 200);

const isHealthy = (etcd: Daemon, port: number): Promise<boolean> =>
  seen("etcd is healthy", { etcd }, async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok);

/** The server is ready a moment before it has made its own namespaces. */
const defaultNamespace = (daemons: Daemons, ask: Ask): Promise<boolean> =>
  seen("the namespace default exists", daemons, async () => {
    return (await ask("GET", "/api/v1/namespaces/default")).status === 200;
  });

const kubeconfigText = (a: { url: string; caFile: string; user: string; token: string }): string =>
  JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "local",
          cluster: { server: a.url, "certificate-authority-data": readFileSync(a.caFile).toString("base64") },
        },
      ],
      users: [{ name: a.user, user: { token: a.token } }],
      contexts: [{ name: "local", context: { cluster: "local", user: a.user } }],
      "current-context": "local",
    },
    undefined,
    2,
  );
