/** What kube-controller-manager does for a real server, as far as provisioning needs it: claims are bound, and kept while they are used. */
import type { Plugin } from "../parts.ts";
import { createBinder } from "./binder/binder.ts";
import { createClaimInUseProtection, createVolumeInUseProtection } from "./binder/protection.ts";

export const volumeBinder: Plugin = {
  background: [createBinder, createClaimInUseProtection, createVolumeInUseProtection],
};
