/** The messages of what pods are made from and of what makes pods, and of services: written like those of messages.ts. */
export const workloadMessages: Readonly<Record<string, string>> = {
  Affinity: "1 nodeAffinity NodeAffinity!, 2 podAffinity PodAffinity!, 3 podAntiAffinity PodAntiAffinity!",
  AppArmorProfile: "1 type string!, 2 localhostProfile string!",
  AzureFileVolumeSource: "1 secretName string!, 2 shareName string!, 3 readOnly bool",
  BoundObjectReference: "1 kind string, 2 apiVersion string, 3 name string, 4 uid string",
  CSIVolumeSource:
    "1 driver string!, 2 readOnly bool!, 3 fsType string!, 4 volumeAttributes {}string, 5 nodePublishSecretRef LocalObjectReference!",
  Capabilities: "1 add []string, 2 drop []string",
  CephFSVolumeSource:
    "1 monitors []string, 2 path string, 3 user string, 4 secretFile string, 5 secretRef LocalObjectReference!, 6 readOnly bool",
  CinderVolumeSource: "1 volumeID string!, 2 fsType string, 3 readOnly bool, 4 secretRef LocalObjectReference!",
  ClientIPConfig: "1 timeoutSeconds int!",
  ClusterTrustBundleProjection:
    "1 name string!, 2 signerName string!, 3 labelSelector LabelSelector!, 5 optional bool!, 4 path string!",
  Condition:
    "1 type string!, 2 status string!, 3 observedGeneration int, 4 lastTransitionTime time, 5 reason string!, 6 message string!",
  ConfigMapEnvSource: "1 ... LocalObjectReference, 2 optional bool!",
  ConfigMapKeySelector: "1 ... LocalObjectReference, 2 key string!, 3 optional bool!",
  ConfigMapProjection: "1 ... LocalObjectReference, 2 items []KeyToPath, 4 optional bool!",
  ConfigMapVolumeSource: "1 ... LocalObjectReference, 2 items []KeyToPath, 3 defaultMode int!, 4 optional bool!",
  Container:
    "1 name string!, 2 image string, 3 command []string, 4 args []string, 5 workingDir string, 6 ports []ContainerPort, 19 envFrom []EnvFromSource, 7 env []EnvVar, 8 resources ResourceRequirements, 23 resizePolicy []ContainerResizePolicy, 24 restartPolicy string!, 25 restartPolicyRules []ContainerRestartRule, 9 volumeMounts []VolumeMount, 21 volumeDevices []VolumeDevice, 10 livenessProbe Probe!, 11 readinessProbe Probe!, 22 startupProbe Probe!, 12 lifecycle Lifecycle!, 13 terminationMessagePath string, 20 terminationMessagePolicy string, 14 imagePullPolicy string, 15 securityContext SecurityContext!, 16 stdin bool, 17 stdinOnce bool, 18 tty bool",
  ContainerPort: "1 name string, 2 hostPort int, 3 containerPort int!, 4 protocol string, 5 hostIP string",
  ContainerResizePolicy: "1 resourceName string!, 2 restartPolicy string!",
  ContainerRestartRule: "1 action string, 2 exitCodes ContainerRestartRuleOnExitCodes!",
  ContainerRestartRuleOnExitCodes: "1 operator string, 2 values []int",
  CronJob: "1 metadata ObjectMeta, 2 spec CronJobSpec, 3 status CronJobStatus",
  CronJobSpec:
    "1 schedule string!, 8 timeZone string!, 2 startingDeadlineSeconds int!, 3 concurrencyPolicy string, 4 suspend bool!, 5 jobTemplate JobTemplateSpec!, 6 successfulJobsHistoryLimit int!, 7 failedJobsHistoryLimit int!",
  CronJobStatus: "1 active []ObjectReference, 4 lastScheduleTime time!, 5 lastSuccessfulTime time!",
  Deployment: "1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status DeploymentStatus",
  DeploymentCondition:
    "1 type string!, 2 status string!, 6 lastUpdateTime time, 7 lastTransitionTime time, 4 reason string, 5 message string",
  DeploymentSpec:
    "1 replicas int!, 2 selector LabelSelector!, 3 template PodTemplateSpec!, 4 strategy DeploymentStrategy, 5 minReadySeconds int, 6 revisionHistoryLimit int!, 7 paused bool, 9 progressDeadlineSeconds int!",
  DeploymentStatus:
    "1 observedGeneration int, 2 replicas int, 3 updatedReplicas int, 7 readyReplicas int, 4 availableReplicas int, 5 unavailableReplicas int, 9 terminatingReplicas int!, 6 conditions []DeploymentCondition, 8 collisionCount int!",
  DeploymentStrategy: "1 type string, 2 rollingUpdate RollingUpdateDeployment!",
  DownwardAPIProjection: "1 items []DownwardAPIVolumeFile",
  DownwardAPIVolumeFile:
    "1 path string!, 2 fieldRef ObjectFieldSelector!, 3 resourceFieldRef ResourceFieldSelector!, 4 mode int!",
  DownwardAPIVolumeSource: "1 items []DownwardAPIVolumeFile, 2 defaultMode int!",
  EmptyDirVolumeSource: "1 medium string, 2 sizeLimit quantity!",
  EnvFromSource: "1 prefix string, 2 configMapRef ConfigMapEnvSource!, 3 secretRef SecretEnvSource!",
  EnvVar: "1 name string!, 2 value string, 3 valueFrom EnvVarSource!",
  EnvVarSource:
    "1 fieldRef ObjectFieldSelector!, 2 resourceFieldRef ResourceFieldSelector!, 3 configMapKeyRef ConfigMapKeySelector!, 4 secretKeyRef SecretKeySelector!, 5 fileKeyRef FileKeySelector!",
  EphemeralContainer: "1 ... EphemeralContainerCommon, 2 targetContainerName string",
  EphemeralContainerCommon:
    "1 name string!, 2 image string, 3 command []string, 4 args []string, 5 workingDir string, 6 ports []ContainerPort, 19 envFrom []EnvFromSource, 7 env []EnvVar, 8 resources ResourceRequirements, 23 resizePolicy []ContainerResizePolicy, 24 restartPolicy string!, 25 restartPolicyRules []ContainerRestartRule, 9 volumeMounts []VolumeMount, 21 volumeDevices []VolumeDevice, 10 livenessProbe Probe!, 11 readinessProbe Probe!, 22 startupProbe Probe!, 12 lifecycle Lifecycle!, 13 terminationMessagePath string, 20 terminationMessagePolicy string, 14 imagePullPolicy string, 15 securityContext SecurityContext!, 16 stdin bool, 17 stdinOnce bool, 18 tty bool",
  EphemeralVolumeSource: "1 volumeClaimTemplate PersistentVolumeClaimTemplate!",
  Eviction: "1 metadata ObjectMeta, 2 deleteOptions DeleteOptions!",
  ExecAction: "1 command []string",
  FileKeySelector: "1 volumeName string!, 2 path string!, 3 key string!, 4 optional bool!",
  FlexVolumeSource:
    "1 driver string!, 2 fsType string, 3 secretRef LocalObjectReference!, 4 readOnly bool, 5 options {}string",
  GRPCAction: "1 port int!, 2 service string!",
  GitRepoVolumeSource: "1 repository string!, 2 revision string, 3 directory string",
  GlusterfsVolumeSource: "1 endpoints string!, 2 path string!, 3 readOnly bool",
  HTTPGetAction: "1 path string, 2 port intOrString!, 3 host string, 4 scheme string, 5 httpHeaders []HTTPHeader",
  HTTPHeader: "1 name string!, 2 value string!",
  HostAlias: "1 ip string!, 2 hostnames []string",
  ISCSIVolumeSource:
    "1 targetPortal string!, 2 iqn string!, 3 lun int!, 4 iscsiInterface string, 5 fsType string, 6 readOnly bool, 7 portals []string, 8 chapAuthDiscovery bool, 11 chapAuthSession bool, 10 secretRef LocalObjectReference!, 12 initiatorName string!",
  ImageVolumeSource: "1 reference string, 2 pullPolicy string",
  Job: "1 metadata ObjectMeta, 2 spec JobSpec, 3 status JobStatus",
  JobCondition:
    "1 type string!, 2 status string!, 3 lastProbeTime time, 4 lastTransitionTime time, 5 reason string, 6 message string",
  JobSpec:
    "1 parallelism int!, 2 completions int!, 3 activeDeadlineSeconds int!, 11 podFailurePolicy PodFailurePolicy!, 16 successPolicy SuccessPolicy!, 7 backoffLimit int!, 12 backoffLimitPerIndex int!, 13 maxFailedIndexes int!, 4 selector LabelSelector!, 5 manualSelector bool!, 6 template PodTemplateSpec!, 8 ttlSecondsAfterFinished int!, 9 completionMode string!, 10 suspend bool!, 14 podReplacementPolicy string!, 15 managedBy string!",
  JobStatus:
    "1 conditions []JobCondition, 2 startTime time!, 3 completionTime time!, 4 active int, 5 succeeded int, 6 failed int, 11 terminating int!, 7 completedIndexes string, 10 failedIndexes string!, 8 uncountedTerminatedPods UncountedTerminatedPods!, 9 ready int!",
  JobTemplateSpec: "1 metadata ObjectMeta, 2 spec JobSpec",
  KeyToPath: "1 key string!, 2 path string!, 3 mode int!",
  Lifecycle: "1 postStart LifecycleHandler!, 2 preStop LifecycleHandler!, 3 stopSignal string!",
  LifecycleHandler: "1 exec ExecAction!, 2 httpGet HTTPGetAction!, 3 tcpSocket TCPSocketAction!, 4 sleep SleepAction!",
  LoadBalancerIngress: "1 ip string, 2 hostname string, 3 ipMode string!, 4 ports []PortStatus",
  LoadBalancerStatus: "1 ingress []LoadBalancerIngress",
  NodeAffinity:
    "1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector!, 2 preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm",
  ObjectFieldSelector: "1 apiVersion string, 2 fieldPath string!",
  PersistentVolumeClaimTemplate: "1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec",
  PersistentVolumeClaimVolumeSource: "1 claimName string!, 2 readOnly bool",
  PodAffinity:
    "1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm",
  PodAffinityTerm:
    "1 labelSelector LabelSelector!, 2 namespaces []string, 3 topologyKey string!, 4 namespaceSelector LabelSelector!, 5 matchLabelKeys []string, 6 mismatchLabelKeys []string",
  PodAntiAffinity:
    "1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, 2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm",
  PodCertificateProjection:
    "1 signerName string, 2 keyType string, 3 maxExpirationSeconds int!, 4 credentialBundlePath string, 5 keyPath string, 6 certificateChainPath string, 7 userAnnotations {}string",
  PodDNSConfig: "1 nameservers []string, 2 searches []string, 3 options []PodDNSConfigOption",
  PodDNSConfigOption: "1 name string, 2 value string!",
  PodFailurePolicy: "1 rules []PodFailurePolicyRule",
  PodFailurePolicyOnExitCodesRequirement: "1 containerName string!, 2 operator string!, 3 values []int",
  PodFailurePolicyOnPodConditionsPattern: "1 type string!, 2 status string!",
  PodFailurePolicyRule:
    "1 action string!, 2 onExitCodes PodFailurePolicyOnExitCodesRequirement!, 3 onPodConditions []PodFailurePolicyOnPodConditionsPattern",
  PodOS: "1 name string!",
  PodReadinessGate: "1 conditionType string!",
  PodResourceClaim: "1 name string!, 3 resourceClaimName string!, 4 resourceClaimTemplateName string!",
  PodSchedulingGate: "1 name string!",
  PodSchedulingGroup: "1 podGroupName string!",
  PodSecurityContext:
    "1 seLinuxOptions SELinuxOptions!, 8 windowsOptions WindowsSecurityContextOptions!, 2 runAsUser int!, 6 runAsGroup int!, 3 runAsNonRoot bool!, 4 supplementalGroups []int, 12 supplementalGroupsPolicy string!, 5 fsGroup int!, 7 sysctls []Sysctl, 9 fsGroupChangePolicy string!, 10 seccompProfile SeccompProfile!, 11 appArmorProfile AppArmorProfile!, 13 seLinuxChangePolicy string!",
  PodSpec:
    "1 volumes []Volume, 20 initContainers []Container, 2 containers []Container, 34 ephemeralContainers []EphemeralContainer, 3 restartPolicy string, 4 terminationGracePeriodSeconds int!, 5 activeDeadlineSeconds int!, 6 dnsPolicy string, 7 nodeSelector {}string, 8 serviceAccountName string, 9 serviceAccount string, 21 automountServiceAccountToken bool!, 10 nodeName string, 11 hostNetwork bool, 12 hostPID bool, 13 hostIPC bool, 27 shareProcessNamespace bool!, 14 securityContext PodSecurityContext!, 15 imagePullSecrets []LocalObjectReference, 16 hostname string, 17 subdomain string, 18 affinity Affinity!, 19 schedulerName string, 22 tolerations []Toleration, 23 hostAliases []HostAlias, 24 priorityClassName string, 25 priority int!, 26 dnsConfig PodDNSConfig!, 28 readinessGates []PodReadinessGate, 29 runtimeClassName string!, 30 enableServiceLinks bool!, 31 preemptionPolicy string!, 32 overhead {}quantity, 33 topologySpreadConstraints []TopologySpreadConstraint, 35 setHostnameAsFQDN bool!, 36 os PodOS!, 37 hostUsers bool!, 38 schedulingGates []PodSchedulingGate, 39 resourceClaims []PodResourceClaim, 40 resources ResourceRequirements!, 41 hostnameOverride string!, 43 schedulingGroup PodSchedulingGroup!",
  PodTemplateSpec: "1 metadata ObjectMeta, 2 spec PodSpec",
  PortStatus: "1 port int!, 2 protocol string!, 3 error string!",
  PreferredSchedulingTerm: "1 weight int!, 2 preference NodeSelectorTerm!",
  Probe:
    "1 ... ProbeHandler, 2 initialDelaySeconds int, 3 timeoutSeconds int, 4 periodSeconds int, 5 successThreshold int, 6 failureThreshold int, 7 terminationGracePeriodSeconds int!",
  ProbeHandler: "1 exec ExecAction!, 2 httpGet HTTPGetAction!, 3 tcpSocket TCPSocketAction!, 4 grpc GRPCAction!",
  ProjectedVolumeSource: "1 sources []VolumeProjection, 2 defaultMode int!",
  RBDVolumeSource:
    "1 monitors []string, 2 image string!, 3 fsType string, 4 pool string, 5 user string, 6 keyring string, 7 secretRef LocalObjectReference!, 8 readOnly bool",
  ResourceClaim: "1 name string!, 2 request string",
  ResourceFieldSelector: "1 containerName string, 2 resource string!, 3 divisor quantity",
  ResourceRequirements: "1 limits {}quantity, 2 requests {}quantity, 3 claims []ResourceClaim",
  RollingUpdateDeployment: "1 maxUnavailable intOrString!, 2 maxSurge intOrString!",
  SELinuxOptions: "1 user string, 2 role string, 3 type string, 4 level string",
  ScaleIOVolumeSource:
    "1 gateway string!, 2 system string!, 3 secretRef LocalObjectReference!, 4 sslEnabled bool, 5 protectionDomain string, 6 storagePool string, 7 storageMode string, 8 volumeName string, 9 fsType string, 10 readOnly bool",
  SeccompProfile: "1 type string!, 2 localhostProfile string!",
  SecretEnvSource: "1 ... LocalObjectReference, 2 optional bool!",
  SecretKeySelector: "1 ... LocalObjectReference, 2 key string!, 3 optional bool!",
  SecretProjection: "1 ... LocalObjectReference, 2 items []KeyToPath, 4 optional bool!",
  SecretVolumeSource: "1 secretName string, 2 items []KeyToPath, 3 defaultMode int!, 4 optional bool!",
  SecurityContext:
    "1 capabilities Capabilities!, 2 privileged bool!, 3 seLinuxOptions SELinuxOptions!, 10 windowsOptions WindowsSecurityContextOptions!, 4 runAsUser int!, 8 runAsGroup int!, 5 runAsNonRoot bool!, 6 readOnlyRootFilesystem bool!, 7 allowPrivilegeEscalation bool!, 9 procMount string!, 11 seccompProfile SeccompProfile!, 12 appArmorProfile AppArmorProfile!",
  Service: "1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus",
  ServiceAccountTokenProjection: "1 audience string, 2 expirationSeconds int!, 3 path string!",
  ServicePort:
    "1 name string, 2 protocol string, 6 appProtocol string!, 3 port int!, 4 targetPort intOrString, 5 nodePort int",
  ServiceSpec:
    "1 ports []ServicePort, 2 selector {}string, 3 clusterIP string, 18 clusterIPs []string, 4 type string, 5 externalIPs []string, 7 sessionAffinity string, 8 loadBalancerIP string, 9 loadBalancerSourceRanges []string, 10 externalName string, 11 externalTrafficPolicy string, 12 healthCheckNodePort int, 13 publishNotReadyAddresses bool, 14 sessionAffinityConfig SessionAffinityConfig!, 19 ipFamilies []string, 17 ipFamilyPolicy string!, 20 allocateLoadBalancerNodePorts bool!, 21 loadBalancerClass string!, 22 internalTrafficPolicy string!, 23 trafficDistribution string!",
  ServiceStatus: "1 loadBalancer LoadBalancerStatus, 2 conditions []Condition",
  SessionAffinityConfig: "1 clientIP ClientIPConfig!",
  SleepAction: "1 seconds int!",
  StorageOSVolumeSource:
    "1 volumeName string, 2 volumeNamespace string, 3 fsType string, 4 readOnly bool, 5 secretRef LocalObjectReference!",
  SuccessPolicy: "1 rules []SuccessPolicyRule",
  SuccessPolicyRule: "1 succeededIndexes string!, 2 succeededCount int!",
  Sysctl: "1 name string!, 2 value string!",
  TCPSocketAction: "1 port intOrString!, 2 host string",
  TokenRequest: "1 metadata ObjectMeta, 2 spec TokenRequestSpec, 3 status TokenRequestStatus",
  TokenRequestSpec: "1 audiences []string, 4 expirationSeconds int!, 3 boundObjectRef BoundObjectReference!",
  TokenRequestStatus: "1 token string!, 2 expirationTimestamp time",
  Toleration: "1 key string, 2 operator string, 3 value string, 4 effect string, 5 tolerationSeconds int!",
  TopologySpreadConstraint:
    "1 maxSkew int!, 2 topologyKey string!, 3 whenUnsatisfiable string!, 4 labelSelector LabelSelector!, 5 minDomains int!, 6 nodeAffinityPolicy string!, 7 nodeTaintsPolicy string!, 8 matchLabelKeys []string",
  UncountedTerminatedPods: "1 succeeded []string, 2 failed []string",
  Volume: "1 name string!, 2 ... VolumeSource",
  VolumeDevice: "1 name string!, 2 devicePath string!",
  VolumeMount:
    "1 name string!, 2 readOnly bool, 7 recursiveReadOnly string!, 3 mountPath string!, 4 subPath string, 5 mountPropagation string!, 6 subPathExpr string",
  VolumeProjection:
    "1 secret SecretProjection!, 2 downwardAPI DownwardAPIProjection!, 3 configMap ConfigMapProjection!, 4 serviceAccountToken ServiceAccountTokenProjection!, 5 clusterTrustBundle ClusterTrustBundleProjection!, 6 podCertificate PodCertificateProjection!",
  VolumeSource:
    "1 hostPath HostPathVolumeSource!, 2 emptyDir EmptyDirVolumeSource!, 3 gcePersistentDisk GCEPersistentDiskVolumeSource!, 4 awsElasticBlockStore AWSElasticBlockStoreVolumeSource!, 5 gitRepo GitRepoVolumeSource!, 6 secret SecretVolumeSource!, 7 nfs NFSVolumeSource!, 8 iscsi ISCSIVolumeSource!, 9 glusterfs GlusterfsVolumeSource!, 10 persistentVolumeClaim PersistentVolumeClaimVolumeSource!, 11 rbd RBDVolumeSource!, 12 flexVolume FlexVolumeSource!, 13 cinder CinderVolumeSource!, 14 cephfs CephFSVolumeSource!, 15 flocker FlockerVolumeSource!, 16 downwardAPI DownwardAPIVolumeSource!, 17 fc FCVolumeSource!, 18 azureFile AzureFileVolumeSource!, 19 configMap ConfigMapVolumeSource!, 20 vsphereVolume VsphereVirtualDiskVolumeSource!, 21 quobyte QuobyteVolumeSource!, 22 azureDisk AzureDiskVolumeSource!, 23 photonPersistentDisk PhotonPersistentDiskVolumeSource!, 26 projected ProjectedVolumeSource!, 24 portworxVolume PortworxVolumeSource!, 25 scaleIO ScaleIOVolumeSource!, 27 storageos StorageOSVolumeSource!, 28 csi CSIVolumeSource!, 29 ephemeral EphemeralVolumeSource!, 30 image ImageVolumeSource!",
  WeightedPodAffinityTerm: "1 weight int!, 2 podAffinityTerm PodAffinityTerm!",
  WindowsSecurityContextOptions:
    "1 gmsaCredentialSpecName string!, 2 gmsaCredentialSpec string!, 3 runAsUserName string!, 4 hostProcess bool!",
};
