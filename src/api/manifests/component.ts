/**
 * A component as it is installed in a cluster: one row per component, in a file of its own. `snapkeep install`, `npm run docs` (which
 * writes deploy/) and the tests take every object from these rows.
 */
import type { Container, ContainerPort, Volume, VolumeMount } from "kubernetes-types/core/v1.js";
import type { PolicyRule } from "kubernetes-types/rbac/v1.js";
import type { AlertRow, PanelRow } from "./monitoring.ts";

/** Where components are installed, and from which images. */
export interface Installation {
  /** The version of this release. */
  readonly version: string;
  /** Enforces the Pod Security Standard "restricted". */
  readonly namespace: string;
  /** For pods that a restricted namespace does not admit: drivers, which mount volumes for the kubelet. */
  readonly driverNamespace: string;
  readonly image: string;
  /** The same with the programs that drivers run: cp, mount and others. */
  readonly driverImage: string;
  /** Who renews the certificates of webhooks: the webhook itself, or cert-manager. */
  readonly certificates: "self" | "cert-manager";
  /** The kubelet's folder on every node. */
  readonly kubeletFolder: string;
}

export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** The namespace of the installation that an object belongs to. */
export const installationLabel = "snapkeep.dev/installation";

/** A file of a component, and the objects in it. */
export interface ManifestFile {
  readonly path: string;
  readonly objects: readonly ManifestObject[];
}

/** A right, and why the component needs it. docs/reference/permissions.md is printed from these. */
export interface Right extends PolicyRule {
  readonly why: string;
  /** Where a right in one namespace counts; absent: where the component runs. */
  readonly namespace?: string;
  /** Only where the component renews its own certificate. */
  readonly forRenewal?: true;
}

export interface ComponentRights {
  /** In the whole cluster. */
  readonly clusterRules: readonly Right[];
  /** In one namespace. */
  readonly namespaceRules: readonly Right[];
}

export interface ComponentRow extends ComponentRights {
  /** `snapkeep install --components` knows it by this name, and so does its folder in deploy/kustomize/base. */
  readonly name: string;
  readonly summary: string;
  /** Installed unless other components are named. */
  readonly isDefault: boolean;
  readonly serviceAccount: string;
  readonly workload: WorkloadRow;
  readonly service?: ServiceRow;
  /** The Secret with the serving certificate of the Service, which `snapkeep certs` makes. */
  readonly certificateSecret?: string;
  /** The CustomResourceDefinitions it needs. They are applied first, and never deleted. */
  crds?(): readonly ManifestObject[];
  /** Objects of this component alone; they are applied together with the workload. */
  others(installation: Installation): readonly ManifestFile[];
  /** What a cluster administrator may add or choose instead: overlays of kustomize. */
  additions(installation: Installation): readonly Addition[];
  /** What it keeps outside of the API server, and an uninstallation leaves. */
  readonly data?: string;
  readonly alerts: readonly AlertRow[];
  readonly panels: readonly PanelRow[];
}

export interface WorkloadRow {
  readonly name: string;
  readonly app: string;
  /** A DaemonSet runs on every node; the others are Deployments. */
  readonly runs:
    | { readonly kind: "replicas"; readonly count: number }
    /** One at a time: the next starts when the last has ended. */
    | { readonly kind: "single" }
    | { readonly kind: "node" };
  readonly containers: readonly [ContainerRow, ...ContainerRow[]];
  volumes(installation: Installation): readonly Volume[];
  /** Must be longer than the time that the component goes on serving after SIGTERM. */
  readonly terminationGracePeriodSeconds: number;
  /** Why a restricted namespace does not admit its pods; absent: it does. */
  readonly unrestricted?: string;
}

export interface ContainerRow {
  readonly name: string;
  /** The image with the programs of drivers; else the plain one. */
  readonly hasPrograms?: true;
  /** The command and its flags. */
  args(installation: Installation): readonly string[];
  readonly env?: NonNullable<Container["env"]>;
  readonly ports: readonly ContainerPort[];
  /** The port of /metrics, /healthz and /readyz. */
  readonly statusPort: string;
  /** The same pages over TLS. */
  readonly tlsStatus?: TlsStatusRow;
  volumeMounts(installation: Installation): readonly VolumeMount[];
  /** Requested, and the limit: docs/bench.md has the measurements. */
  readonly memory: readonly [request: string, limit: string];
  /** Root on the node, for mounts; else everything is dropped that can be. */
  readonly isPrivileged?: true;
}

/** What a driver announces, and what its sidecars must read for it. */
export interface DriverNeeds {
  readonly topology: boolean;
  /** Volumes are attached to nodes by a controller. */
  readonly attachments: boolean;
  /** The provisioner publishes its capacity (`--enable-capacity`). */
  readonly capacity: boolean;
  /** One provisioner on each node (`--node-deployment`). */
  readonly nodeDeployment?: boolean;
}

/** A container that runs in the pod of a CSI driver, and the rights that it needs of the driver's service account. */
export interface SidecarRow {
  readonly name: string;
  readonly replaces: string;
  rights(driver: string, needs: DriverNeeds): ComponentRights;
  /** Flags that are added where the driver's own manifest has none. */
  container(driver: string, socket: { readonly path: string; readonly mount: VolumeMount }): ContainerRow;
}

/** At port 443 of the metrics Service, from the moment on when the Secret exists. */
export interface TlsStatusRow {
  /** Name of a container port. */
  readonly port: string;
  /** With tls.crt and tls.key. OpenShift makes it because of an annotation of the Service; elsewhere it is an administrator's choice. */
  readonly secret: string;
}

export interface ServiceRow {
  readonly name: string;
  readonly port: number;
  /** Name of a container port. */
  readonly targetPort: string;
}

/** Either a patch of the component, or objects of its own. */
export interface Addition {
  /** Follows the name of the component. */
  readonly folder: string;
  readonly why: string;
  readonly patch?: ManifestObject;
  readonly files?: readonly ManifestFile[];
  /** With one of these components it needs no choice: `snapkeep install` and the chart include it. */
  readonly neededBy?: readonly string[];
}

/** Typed by Kubernetes' own types, so that a field that does not exist does not compile. */
export const object = <T extends { metadata?: object }>(
  apiVersion: string,
  kind: string,
  body: Omit<T, "apiVersion" | "kind">,
): ManifestObject => ({ apiVersion, kind, ...body }) as unknown as ManifestObject;

export const namespaceOf = ({ workload }: ComponentRow, installation: Installation): string =>
  workload.unrestricted === undefined ? installation.namespace : installation.driverNamespace;

export const labelsOf = ({ name, workload }: Pick<ComponentRow, "name" | "workload">): Record<string, string> => ({
  app: workload.app,
  "app.kubernetes.io/name": "snapkeep",
  "app.kubernetes.io/component": name,
});
