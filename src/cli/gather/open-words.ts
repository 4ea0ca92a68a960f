/** What of a command line and an environment is a setting, and no secret. Everything else is left out of a bundle. */

/** Our components have these flags, and the sidecars that stand beside them in the pods of a driver. */
export const openFlags: ReadonlySet<string> = new Set(
  `add-dir-header allow-list-namespace alsologtostderr automaxprocs cacert capacity-for-immediate-binding capacity-ownerref-level
  capacity-poll-interval capacity-threads certificate-secret certificate-service claim-rules client-ca-file cloning-protection-threads config context controller-publish-readonly
  controllers cross-namespace-gate cross-namespace-snapshot csi-address default-fstype default-fs-type demote driver-name dry-run enable-capacity
  enable-distributed-snapshotting enable-pprof enable-volume-group-snapshot-webhook endpoint exit extra-create-metadata fault
  feature-gates groupsnapshot-name-prefix groupsnapshot-name-uuid-length health-port host http-endpoint https-endpoint
  immediate-topology kube-api-burst kube-api-capacity-burst kube-api-capacity-qps kube-api-qps kubeconfig kubeconfig-out kubelet-folder
  kubelet-registration-path kubelet-registry-folder leader-election leader-election-labels leader-election-lease-duration
  leader-election-namespace leader-election-renew-deadline leader-election-retry-period listen log-backtrace-at log-dir log-file
  log-file-max-size log-flush-frequency log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream
  logging-format logtostderr master max-volumes-per-node maxvolumespernode metrics-address metrics-path mode node-deployment
  node-deployment-base-delay node-deployment-immediate-binding node-deployment-max-delay node-id node-name nodeid nodename one-output port
  prevent-volume-mode-conversion probe-timeout resync-period retry-crd-interval-max retry-interval-max retry-interval-start root
  shutdown-delay-duration skip-headers skip-log-headers snapshot-delay snapshot-name-prefix snapshot-name-uuid-length
  snapshot-orphan-sweep-interval snapshot-secret-file stderrthreshold strict-topology timeout tls tls-cert-file tls-private-key-file
  namespace pod-name provisioner-extra-create-metadata provisioner-feature-gates provisioner-timeout
  provisioner-worker-threads snapshotter-extra-create-metadata snapshotter-feature-gates snapshotter-timeout snapshotter-worker-threads
  node-memory namespace-memory volume-memory token-auth-file tour v verbosity vmodule volume-map-folder volume-name-prefix volume-name-uuid-length worker-threads`.split(
    /\s+/,
  ),
);

/** Words that are no flag: commands of the program, and how it is started. */
export const openWords =
  /^(snapkeep|node|up|apiserver|snapshot-controller|csi-snapshotter|csi-provisioner|csi-sidecars|webhook|shared-resource|directory-driver|\/[\w./-]{0,100}\/snapkeep(\.js)?)$/;

export const openVariables: ReadonlySet<string> = new Set([
  "KUBE_NODE_NAME",
  "NODE_NAME",
  "POD_NAMESPACE",
  "POD_NAME",
  "RESERVED_SHARED_SECRET_NAMES",
  "RESERVED_SHARED_CONFIGMAP_NAMES",
]);
