/** What there is to measure. A benchmark is loaded when it is run: to be listed it needs neither Go nor packages. */

export interface Benchmark {
  /** What is compared with what, in one line. */
  readonly about: string;
  /** Uses the packages of bench/package.json, which are not those of snapkeep. */
  readonly needsPeers: boolean;
  /** What `--option`s it knows, each with what it does. One that ends in "=" wants a value. */
  readonly options: Readonly<Record<string, string>>;
  /** Options are given by name, with the value of those that want one. */
  load(): Promise<{ run(options: ReadonlyMap<string, string>): Promise<void> }>;
}

export const benchmarks: Readonly<Record<string, Benchmark>> = {
  apiserver: {
    about:
      "start, memory with 10,000 objects, create, list and watch of the embedded API server, beside etcd and kube-apiserver",
    needsPeers: false,
    options: {
      "--quick": "a tenth of the objects, for a first look",
      "--profile": "leave a processor profile of the embedded server in bench/dist/profiles",
    },
    load: () => import("./apiserver.bench.ts"),
  },
  "cross-namespace": {
    about: "one restore at a time: within a namespace, from another one, and through a VolumeSnapshotLink",
    needsPeers: false,
    options: { "--quick": "5 restores of each kind, for a first look" },
    load: () => import("./cross-namespace.bench.ts"),
  },
  client: {
    about: "requests, watch decoding and memory of the client, beside @kubernetes/client-node 2.0.1",
    needsPeers: true,
    options: {},
    load: () => import("./client.bench.ts"),
  },
  restores: {
    about:
      "bursts of restores of one snapshot, their deletion and one alone, beside external-provisioner v5.3.0 tuned to QPS 5000",
    needsPeers: false,
    options: {
      "--against=":
        "compare with the bundle in this folder (another `npm run build -- FOLDER`) instead of the Go provisioner",
      "--quick": "only the burst of 200, five rounds",
      "--large": "only the burst of 1,000, two rounds",
      "--rounds=":
        "so many rounds of each burst: the speed of a machine changes, and more rounds have a steadier median",
      "--profile": "only ours, one round, with a processor profile in bench/dist/profiles",
    },
    load: () => import("./restores.bench.ts"),
  },
  memory: {
    about:
      "where the memory of a driver's sidecars goes: joined, separate and upstream's, idle and with 2,000 snapshots",
    needsPeers: false,
    options: { "--objects=": "so many volumes, claims and contents", "--quick": "200, for a first look" },
    load: () => import("./memory.bench.ts"),
  },
  migration: {
    about: "audit and migrate of 10,000 objects on a real kube-apiserver: requests, time and memory of each command",
    needsPeers: false,
    options: {
      "--objects=": "so many objects",
      "--audit": "only audit",
      "--quick": "1,000 objects, for a first look",
    },
    load: () => import("./migration.bench.ts"),
  },
  "shared-resource": {
    about: "1,000 volumes of 5 shares on one node: publish, memory, API requests when idle, an update, unpublish",
    needsPeers: false,
    options: { "--quick": "100 volumes, for a first look" },
    load: () => import("./shared-resource.bench.ts"),
  },
  snapshots: {
    about: "a burst of snapshots, their deletion and one alone, beside external-snapshotter v8.6.0 tuned to QPS 5000",
    needsPeers: false,
    options: {
      "--against=": "compare with the bundle in this folder (another `npm run build -- FOLDER`) instead of the Go pair",
      "--large": "2,000 snapshots in one round, for memory",
      "--quick": "100 snapshots per round, for a first look",
      "--profile": "only ours, one round, with processor profiles in bench/dist/profiles",
    },
    load: () => import("./snapshots.bench.ts"),
  },
  webhook: {
    about: "admission reviews over TLS, beside the validation webhook of external-snapshotter v7.0.2",
    needsPeers: false,
    options: { "--quick": "three seconds a round, for a first look" },
    load: () => import("./webhook.bench.ts"),
  },
};
