/** What kube-controller-manager does for a real server, as far as provisioning needs it. No workload controller runs. */
import type { CreateBackground } from "../contracts.ts";
import { createBinder } from "./binder.ts";
import { createNamespaceDeletion, createServiceAccounts } from "./namespaces.ts";
import { createClaimProtection, createVolumeProtection } from "./protection.ts";

export const standardBackground: readonly CreateBackground[] = [
  createBinder,
  createClaimProtection,
  createVolumeProtection,
  createNamespaceDeletion,
  createServiceAccounts,
];
