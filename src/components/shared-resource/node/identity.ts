/** The CSI identity service. No capability is announced: volumes are inline, and every node serves its own pods. */
import { Identity } from "../../../csi/gen/csi_pb.js";
import { type Served, serve } from "../../../csi/serve.ts";

export const identityService = ({ name, version }: { readonly name: string; readonly version: string }): Served =>
  serve(Identity, {
    getPluginInfo: () => ({ name, vendorVersion: version }),
    getPluginCapabilities: () => ({ capabilities: [] }),
    // Ready also without an API server: volumes must be unpublished then too.
    probe: () => ({ ready: true }),
  });
