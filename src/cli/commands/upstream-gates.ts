/**
 * Feature gates that the upstream components accept: their own, and all those of the API server library they are built with. A
 * manifest that sets one must keep working. Other names are refused, as upstream refuses them: they are slips of the pen.
 */
import type { Log } from "../../base/log.ts";
import { featureGates, type Gates } from "../../runtime/flag-kinds.ts";

const served = { CSIVolumeGroupSnapshot: true } as const;
const meaningless: readonly string[] = [
  "APIResponseCompression",
  "APIServerIdentity",
  "APIServerTracing",
  "APIServingWithRoutine",
  "AggregatedDiscoveryRemoveBetaType",
  "AllAlpha",
  "AllBeta",
  "AllowParsingUserUIDFromCertAuth",
  "AllowUnsafeMalformedObjectDeletion",
  "AnonymousAuthConfigurableEndpoints",
  "AuthorizeWithSelectors",
  "BtreeWatchCache",
  "CBORServingAndStorage",
  "ComponentFlagz",
  "ComponentStatusz",
  "ConcurrentWatchObjectDecode",
  "ConsistentListFromCache",
  "ConstrainedImpersonation",
  "CoordinatedLeaderElection",
  "DeclarativeValidation",
  "DeclarativeValidationBeta",
  "DeclarativeValidationTakeover",
  "DetectCacheInconsistency",
  "KMSv1",
  "ListFromCacheSnapshot",
  "ManifestBasedAdmissionControlConfig",
  "MutatingAdmissionPolicy",
  "NativeHistograms",
  "OpenAPIEnums",
  "ReleaseLeaderElectionOnExit",
  "RemoteRequestHeaderUID",
  "ResilientWatchCacheInitialization",
  "RetryGenerateName",
  "SeparateCacheWatchRPC",
  "ShardedListAndWatch",
  "SizeBasedListCostEstimate",
  "StorageVersionAPI",
  "StorageVersionHash",
  "StreamingCollectionEncodingToJSON",
  "StreamingCollectionEncodingToProtobuf",
  "StructuredAuthenticationConfiguration",
  "StructuredAuthenticationConfigurationEgressSelector",
  "StructuredAuthenticationConfigurationJWKSMetrics",
  "TokenRequestServiceAccountUIDValidation",
  "UnauthenticatedHTTP2DOSMitigation",
  "UnknownVersionInteroperabilityProxy",
  "WatchCacheInitializationPostStartHook",
  "WatchList",
];

export const upstreamGates = (row: { readonly group: string }) =>
  featureGates(served, { ...row, ignored: meaningless });

/** The requirement document of restores across namespaces has another name for the gate of Kubernetes and of upstream. */
export const crossNamespaceAliases = { CrossNamespaceSourceProvisioning: "CrossNamespaceVolumeDataSource" } as const;

/** Says which of the gates given do nothing. */
export function logIdleGates(gates: Gates, log: Log): void {
  const idle = Object.keys(gates).filter((name) => meaningless.includes(name));
  if (idle.length > 0) log.info("these upstream feature gates have no effect", { gates: idle });
}
