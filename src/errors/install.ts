/** What keeps an installation from being applied: SNAP-8xx. */
import type { ErrorRow } from "./row.ts";

export const installErrorRows = {
  "SNAP-801": {
    title: "Another snapshot-controller is at work",
    why: "It holds a lease in another namespace than ours waits for. Two controllers at work would create two contents for one snapshot.",
    fix: "scale the other controller to 0 replicas, then run the command again",
  },
  "SNAP-802": {
    title: "A stored CustomResourceDefinition is newer",
    why: "Replacing it by an older one would remove fields or versions that stored objects use.",
    fix: "install the release that the message names, or a later one",
  },
  "SNAP-803": {
    title: "A driver's workload cannot get our sidecars",
    why: "The pod has no container whose socket can be shared, or the flags of the replaced sidecar are not accepted.",
    fix: "correct what the message names in the driver's manifest, or add the containers by hand from docs/guides/install.md",
  },
  "SNAP-804": {
    title: "Objects of the installation belong to somebody else",
    why: "Cluster roles, bindings and webhook configurations have one name in the whole cluster. Taking them over would leave the installation that uses them without its rights.",
    fix: "give --namespace of the installation that you mean, or uninstall the other one first",
    more: "--adopt takes the objects over.",
  },
  "SNAP-805": {
    title: "There is no installation in the namespace",
    why: "No object of the components that --components names belongs to an installation in this namespace, and no webhook configuration asks a Service there.",
    fix: "give the namespace of the installation with --namespace; the message names those that there are",
  },
  "SNAP-806": {
    title: "An installation does not change the phase of a CRD",
    why: "Objects are stored as v1beta1, or a migration has not ended. Only snapkeep migrate checks the stored objects before it moves a CRD.",
    fix: "run the migrate command that the message names, then install again",
    more: "--keep-crds installs the components beside the CRDs as they are.",
  },
  "SNAP-807": {
    title: "No webhook configuration asks the Service of the certificate",
    why: "The certificate is issued for the DNS names of one Service. A webhook that is asked by another name could not be reached with its authority.",
    fix: "give the namespace and the name of the webhook's Service with --namespace and --service; the message has those that are asked",
  },
  "SNAP-808": {
    title: "The cluster serves no admission policies",
    why: "ValidatingAdmissionPolicies are evaluated by the API server from Kubernetes 1.30 on. An older one would leave the rules out.",
    fix: "install with --admission=webhook, or upgrade the cluster first",
  },
  "SNAP-809": {
    title: "The cluster has no cert-manager",
    why: "With --certificates=cert-manager the pods of the webhook wait for a Secret that only cert-manager makes.",
    fix: "install cert-manager first, or let the webhook renew its certificate with --certificates=self",
  },
} as const satisfies Record<string, ErrorRow>;
