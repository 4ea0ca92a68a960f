/**
 * The messages of Kubernetes' protobuf bodies, as facts: "number name type" per field, in the order of the Go structs.
 *
 * Types: string, bool, int, bytes, time (seconds), micro (microseconds), quantity, fields (JSON as bytes), another
 * message by name, "[]" in front for a list, "{}" for a map with string keys. "!" behind: an empty value means something
 * and is kept (Go has a pointer there, or writes it out always). "..." as a name: the fields belong to the parent.
 */
export const messages: Readonly<Record<string, string>> = {
  AWSElasticBlockStoreVolumeSource: "1 volumeID string!, 2 fsType string, 3 partition int, 4 readOnly bool",
  AttachedVolume: "1 name string!, 2 devicePath string!",
  AzureDiskVolumeSource:
    "1 diskName string!, 2 diskURI string!, 3 cachingMode string!, 4 fsType string!, 5 readOnly bool!, 6 kind string!",
  AzureFilePersistentVolumeSource:
    "1 secretName string!, 2 shareName string!, 3 readOnly bool, 4 secretNamespace string!",
  CSINode: "1 metadata ObjectMeta, 2 spec CSINodeSpec",
  CSINodeDriver: "1 name string!, 2 nodeID string!, 3 topologyKeys []string, 4 allocatable VolumeNodeResources!",
  CSINodeSpec: "1 drivers []CSINodeDriver",
  CSIPersistentVolumeSource:
    "1 driver string!, 2 volumeHandle string!, 3 readOnly bool, 4 fsType string, 5 volumeAttributes {}string, 6 controllerPublishSecretRef SecretReference!, 7 nodeStageSecretRef SecretReference!, 8 nodePublishSecretRef SecretReference!, 9 controllerExpandSecretRef SecretReference!, 10 nodeExpandSecretRef SecretReference!",
  CSIStorageCapacity:
    "1 metadata ObjectMeta, 2 nodeTopology LabelSelector!, 3 storageClassName string!, 4 capacity quantity!, 5 maximumVolumeSize quantity!",
  CephFSPersistentVolumeSource:
    "1 monitors []string, 2 path string, 3 user string, 4 secretFile string, 5 secretRef SecretReference!, 6 readOnly bool",
  CinderPersistentVolumeSource: "1 volumeID string!, 2 fsType string, 3 readOnly bool, 4 secretRef SecretReference!",
  ConfigMap: "1 metadata ObjectMeta, 4 immutable bool!, 2 data {}string, 3 binaryData {}bytes",
  ConfigMapNodeConfigSource:
    "1 namespace string!, 2 name string!, 3 uid string, 4 resourceVersion string, 5 kubeletConfigKey string!",
  ContainerImage: "1 names []string, 2 sizeBytes int",
  DaemonEndpoint: "1 Port int!",
  DeleteOptions:
    "1 gracePeriodSeconds int!, 2 preconditions Preconditions!, 3 orphanDependents bool!, 4 propagationPolicy string!, 5 dryRun []string, 6 ignoreStoreReadErrorWithClusterBreakingPotential bool!",
  Event:
    "1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason string, 4 message string, 5 source EventSource, 6 firstTimestamp time, 7 lastTimestamp time, 8 count int, 9 type string, 10 eventTime micro, 11 series EventSeries!, 12 action string, 13 related ObjectReference!, 14 reportingComponent string!, 15 reportingInstance string!",
  EventSeries: "1 count int, 2 lastObservedTime micro",
  EventSource: "1 component string, 2 host string",
  FCVolumeSource: "1 targetWWNs []string, 2 lun int!, 3 fsType string, 4 readOnly bool, 5 wwids []string",
  FlexPersistentVolumeSource:
    "1 driver string!, 2 fsType string, 3 secretRef SecretReference!, 4 readOnly bool, 5 options {}string",
  FlockerVolumeSource: "1 datasetName string, 2 datasetUUID string",
  GCEPersistentDiskVolumeSource: "1 pdName string!, 2 fsType string, 3 partition int, 4 readOnly bool",
  GlusterfsPersistentVolumeSource: "1 endpoints string!, 2 path string!, 3 readOnly bool, 4 endpointsNamespace string!",
  HostPathVolumeSource: "1 path string!, 2 type string!",
  ISCSIPersistentVolumeSource:
    "1 targetPortal string!, 2 iqn string!, 3 lun int!, 4 iscsiInterface string, 5 fsType string, 6 readOnly bool, 7 portals []string, 8 chapAuthDiscovery bool, 11 chapAuthSession bool, 10 secretRef SecretReference!, 12 initiatorName string!",
  LabelSelector: "1 matchLabels {}string, 2 matchExpressions []LabelSelectorRequirement",
  LabelSelectorRequirement: "1 key string!, 2 operator string!, 3 values []string",
  Lease: "1 metadata ObjectMeta, 2 spec LeaseSpec",
  LeaseSpec:
    "1 holderIdentity string!, 2 leaseDurationSeconds int!, 3 acquireTime micro!, 4 renewTime micro!, 5 leaseTransitions int!, 6 strategy string!, 7 preferredHolder string!",
  LocalVolumeSource: "1 path string!, 2 fsType string!",
  ManagedFieldsEntry:
    "1 manager string, 2 operation string, 3 apiVersion string, 4 time time!, 6 fieldsType string, 7 fieldsV1 fields!, 8 subresource string",
  ModifyVolumeStatus: "1 targetVolumeAttributesClassName string, 2 status string!",
  NFSVolumeSource: "1 server string!, 2 path string!, 3 readOnly bool",
  Node: "1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus",
  NodeAddress: "1 type string!, 2 address string!",
  NodeCondition:
    "1 type string!, 2 status string!, 3 lastHeartbeatTime time, 4 lastTransitionTime time, 5 reason string, 6 message string",
  NodeConfigSource: "2 configMap ConfigMapNodeConfigSource!",
  NodeConfigStatus:
    "1 assigned NodeConfigSource!, 2 active NodeConfigSource!, 3 lastKnownGood NodeConfigSource!, 4 error string",
  NodeDaemonEndpoints: "1 kubeletEndpoint DaemonEndpoint",
  NodeFeatures: "1 supplementalGroupsPolicy bool!",
  NodeRuntimeHandler: "1 name string!, 2 features NodeRuntimeHandlerFeatures!",
  NodeRuntimeHandlerFeatures: "1 recursiveReadOnlyMounts bool!, 2 userNamespaces bool!",
  NodeSelector: "1 nodeSelectorTerms []NodeSelectorTerm",
  NodeSelectorRequirement: "1 key string!, 2 operator string!, 3 values []string",
  NodeSelectorTerm: "1 matchExpressions []NodeSelectorRequirement, 2 matchFields []NodeSelectorRequirement",
  NodeSpec:
    "1 podCIDR string, 7 podCIDRs []string, 3 providerID string, 4 unschedulable bool, 5 taints []Taint, 6 configSource NodeConfigSource!, 2 externalID string",
  NodeStatus:
    "1 capacity {}quantity, 2 allocatable {}quantity, 3 phase string, 4 conditions []NodeCondition, 5 addresses []NodeAddress, 6 daemonEndpoints NodeDaemonEndpoints, 7 nodeInfo NodeSystemInfo, 8 images []ContainerImage, 9 volumesInUse []string, 10 volumesAttached []AttachedVolume, 11 config NodeConfigStatus!, 12 runtimeHandlers []NodeRuntimeHandler, 13 features NodeFeatures!, 14 declaredFeatures []string",
  NodeSwapStatus: "1 capacity int!",
  NodeSystemInfo:
    "1 machineID string!, 2 systemUUID string!, 3 bootID string!, 4 kernelVersion string!, 5 osImage string!, 6 containerRuntimeVersion string!, 7 kubeletVersion string!, 8 kubeProxyVersion string!, 9 operatingSystem string!, 10 architecture string!, 11 swap NodeSwapStatus!",
  ObjectMeta:
    "1 name string, 2 generateName string, 3 namespace string, 4 selfLink string, 5 uid string, 6 resourceVersion string, 7 generation int, 8 creationTimestamp time, 9 deletionTimestamp time!, 10 deletionGracePeriodSeconds int!, 11 labels {}string, 12 annotations {}string, 13 ownerReferences []OwnerReference, 14 finalizers []string, 17 managedFields []ManagedFieldsEntry",
  ObjectReference:
    "1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string, 6 resourceVersion string, 7 fieldPath string",
  OwnerReference:
    "5 apiVersion string!, 1 kind string!, 3 name string!, 4 uid string!, 6 controller bool!, 7 blockOwnerDeletion bool!",
  PersistentVolume: "1 metadata ObjectMeta, 2 spec PersistentVolumeSpec, 3 status PersistentVolumeStatus",
  PersistentVolumeClaim:
    "1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec, 3 status PersistentVolumeClaimStatus",
  PersistentVolumeClaimCondition:
    "1 type string!, 2 status string!, 3 lastProbeTime time, 4 lastTransitionTime time, 5 reason string, 6 message string",
  PersistentVolumeClaimSpec:
    "1 accessModes []string, 4 selector LabelSelector!, 2 resources VolumeResourceRequirements, 3 volumeName string, 5 storageClassName string!, 6 volumeMode string!, 7 dataSource TypedLocalObjectReference!, 8 dataSourceRef TypedObjectReference!, 9 volumeAttributesClassName string!",
  PersistentVolumeClaimStatus:
    "1 phase string, 2 accessModes []string, 3 capacity {}quantity, 4 conditions []PersistentVolumeClaimCondition, 5 allocatedResources {}quantity, 7 allocatedResourceStatuses {}string, 8 currentVolumeAttributesClassName string!, 9 modifyVolumeStatus ModifyVolumeStatus!",
  PersistentVolumeSource:
    "1 gcePersistentDisk GCEPersistentDiskVolumeSource!, 2 awsElasticBlockStore AWSElasticBlockStoreVolumeSource!, 3 hostPath HostPathVolumeSource!, 4 glusterfs GlusterfsPersistentVolumeSource!, 5 nfs NFSVolumeSource!, 6 rbd RBDPersistentVolumeSource!, 7 iscsi ISCSIPersistentVolumeSource!, 8 cinder CinderPersistentVolumeSource!, 9 cephfs CephFSPersistentVolumeSource!, 10 fc FCVolumeSource!, 11 flocker FlockerVolumeSource!, 12 flexVolume FlexPersistentVolumeSource!, 13 azureFile AzureFilePersistentVolumeSource!, 14 vsphereVolume VsphereVirtualDiskVolumeSource!, 15 quobyte QuobyteVolumeSource!, 16 azureDisk AzureDiskVolumeSource!, 17 photonPersistentDisk PhotonPersistentDiskVolumeSource!, 18 portworxVolume PortworxVolumeSource!, 19 scaleIO ScaleIOPersistentVolumeSource!, 20 local LocalVolumeSource!, 21 storageos StorageOSPersistentVolumeSource!, 22 csi CSIPersistentVolumeSource!",
  PersistentVolumeSpec:
    "1 capacity {}quantity, 2 ... PersistentVolumeSource, 3 accessModes []string, 4 claimRef ObjectReference!, 5 persistentVolumeReclaimPolicy string, 6 storageClassName string, 7 mountOptions []string, 8 volumeMode string!, 9 nodeAffinity VolumeNodeAffinity!, 10 volumeAttributesClassName string!",
  PersistentVolumeStatus: "1 phase string, 2 message string, 3 reason string, 4 lastPhaseTransitionTime time!",
  PhotonPersistentDiskVolumeSource: "1 pdID string!, 2 fsType string",
  PortworxVolumeSource: "1 volumeID string!, 2 fsType string, 3 readOnly bool",
  Preconditions: "1 uid string!, 2 resourceVersion string!",
  QuobyteVolumeSource:
    "1 registry string!, 2 volume string!, 3 readOnly bool, 4 user string, 5 group string, 6 tenant string",
  RBDPersistentVolumeSource:
    "1 monitors []string, 2 image string!, 3 fsType string, 4 pool string, 5 user string, 6 keyring string, 7 secretRef SecretReference!, 8 readOnly bool",
  ScaleIOPersistentVolumeSource:
    "1 gateway string!, 2 system string!, 3 secretRef SecretReference!, 4 sslEnabled bool, 5 protectionDomain string, 6 storagePool string, 7 storageMode string, 8 volumeName string, 9 fsType string, 10 readOnly bool",
  Secret: "1 metadata ObjectMeta, 5 immutable bool!, 2 data {}bytes, 4 stringData {}string, 3 type string",
  SecretReference: "1 name string, 2 namespace string",
  StorageOSPersistentVolumeSource:
    "1 volumeName string, 2 volumeNamespace string, 3 fsType string, 4 readOnly bool, 5 secretRef ObjectReference!",
  Taint: "1 key string!, 2 value string, 3 effect string!, 4 timeAdded time!",
  TypedLocalObjectReference: "1 apiGroup string!, 2 kind string!, 3 name string!",
  TypedObjectReference: "1 apiGroup string!, 2 kind string!, 3 name string!, 4 namespace string!",
  VolumeNodeAffinity: "1 required NodeSelector!",
  VolumeNodeResources: "1 count int!",
  VolumeResourceRequirements: "1 limits {}quantity, 2 requests {}quantity",
  VsphereVirtualDiskVolumeSource:
    "1 volumePath string!, 2 fsType string, 3 storagePolicyName string, 4 storagePolicyID string",
  AggregationRule: "1 clusterRoleSelectors []LabelSelector",
  ClusterRole: "1 metadata ObjectMeta, 2 rules []PolicyRule, 3 aggregationRule AggregationRule!",
  ClusterRoleBinding: "1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef",
  LocalObjectReference: "1 name string",
  Namespace: "1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus",
  NamespaceCondition: "1 type string!, 2 status string!, 4 lastTransitionTime time, 5 reason string, 6 message string",
  NamespaceSpec: "1 finalizers []string",
  NamespaceStatus: "1 phase string, 2 conditions []NamespaceCondition",
  PolicyRule:
    "1 verbs []string, 2 apiGroups []string, 3 resources []string, 4 resourceNames []string, 5 nonResourceURLs []string",
  Role: "1 metadata ObjectMeta, 2 rules []PolicyRule",
  RoleBinding: "1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef",
  RoleRef: "1 apiGroup string!, 2 kind string!, 3 name string!",
  ServiceAccount:
    "1 metadata ObjectMeta, 2 secrets []ObjectReference, 3 imagePullSecrets []LocalObjectReference, 4 automountServiceAccountToken bool!",
  Subject: "1 kind string!, 2 apiGroup string, 3 name string!, 4 namespace string",
  FieldSelectorAttributes: "1 rawSelector string, 2 requirements []FieldSelectorRequirement",
  FieldSelectorRequirement: "1 key string!, 2 operator string!, 3 values []string",
  LabelSelectorAttributes: "1 rawSelector string, 2 requirements []LabelSelectorRequirement",
  NonResourceAttributes: "1 path string, 2 verb string",
  ResourceAttributes:
    "1 namespace string, 2 verb string, 3 group string, 4 version string, 5 resource string, 6 subresource string, 7 name string, 8 fieldSelector FieldSelectorAttributes!, 9 labelSelector LabelSelectorAttributes!",
  SelfSubjectAccessReview: "1 metadata ObjectMeta, 2 spec SelfSubjectAccessReviewSpec",
  SelfSubjectAccessReviewSpec:
    "1 resourceAttributes ResourceAttributes!, 2 nonResourceAttributes NonResourceAttributes!",
  SelfSubjectReview: "1 metadata ObjectMeta",
  SelfSubjectRulesReview: "1 metadata ObjectMeta, 2 spec SelfSubjectRulesReviewSpec",
  SelfSubjectRulesReviewSpec: "1 namespace string",
};
