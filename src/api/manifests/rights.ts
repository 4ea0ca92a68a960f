/** Rights that several components need. */
import type { Right } from "./component.ts";

export const eventRight: Right = {
  apiGroups: [""],
  resources: ["events"],
  verbs: ["create", "patch"],
  why: "It records what it did, and why it waits; a repeated event is counted.",
};

const lease = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };

/** Creation cannot be limited to a name: the API server does not know it yet when it decides. */
export const leaseRights = (names: readonly string[], why: string, namespace?: string): readonly Right[] => {
  const place = namespace === undefined ? {} : { namespace };
  return [
    { ...lease, verbs: ["create"], why, ...place },
    { ...lease, resourceNames: [...names], verbs: ["get", "update"], why, ...place },
  ];
};

export const electionRights = (leaseName: string, namespace?: string): readonly Right[] =>
  leaseRights([leaseName], "Of several replicas, the holder of the lease works.", namespace);

/** Nodes come and go, and a rule cannot name a pattern. */
export const leaseOfEachNode = (why: string): Right => ({ ...lease, verbs: ["create", "get", "update"], why });
