/** What the flags say of provisioning, and what the driver says of itself. */
import type { Capabilities } from "../../csi/capabilities.ts";
import type { OptionalStore } from "../../kube/optional-store.ts";
import type { Grants } from "../../runtime/grants.ts";
import type { Links } from "../../runtime/links.ts";
import type { NameOptions } from "./claims/claim.ts";
import type { OwnNode } from "./driver/own-node.ts";

export interface ProvisionerOptions extends NameOptions {
  readonly defaultFsType: string;
  readonly extraCreateMetadata: boolean;
  readonly strictTopology: boolean;
  readonly immediateTopology: boolean;
  readonly preventVolumeModeConversion: boolean;
  readonly controllerPublishReadonly: boolean;
  /** Whether sources that are named with a namespace are served. */
  readonly crossNamespace?: boolean | undefined;
  /** Whether VolumeSnapshotLinks are followed; if not, another populator may fill the volumes. */
  readonly crossNamespaceSnapshot?: boolean | undefined;
  /** Whether volumeAttributesClassName of claims is obeyed. */
  readonly usesAttributesClasses?: boolean | undefined;
  /** Whether it is published how much room each topology segment has. */
  readonly publishesCapacity?: boolean | undefined;
  /** One provisioner runs on each node, and serves the claims of its own node. */
  readonly ownNode?: OwnNode | undefined;
}

export interface DriverFacts {
  readonly name: string;
  readonly plugin: Capabilities["plugin"];
  readonly controller: Capabilities["controller"];
}

/** Kinds that need not be served, or that we need not be allowed to read. */
export interface OptionalKinds {
  readonly snapshots: WatchedSnapshots;
  /** VolumeSnapshotContents, where they are served and may be watched. */
  readonly contents?: Pick<OptionalStore<"VolumeSnapshotContent">, "current"> | undefined;
  /** ReferenceGrants; undefined: sources that are named with a namespace are not served. */
  readonly grants?: Pick<Grants, "finder" | "isStill" | "lookSoon" | "onChange"> | undefined;
  /** VolumeSnapshotLinks; undefined: they are left to another populator. */
  readonly links?: Omit<Links, "watch" | "known" | "isUndecided"> | undefined;
  /** Whether VolumeSnapshots may be updated. */
  mayProtectSnapshots(): boolean;
}

/** VolumeSnapshots, where they are served and may be watched. */
export type WatchedSnapshots = Pick<OptionalStore<"VolumeSnapshot">, "current" | "onChange">;
