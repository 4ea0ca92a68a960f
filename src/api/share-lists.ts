/** The kinds of shares, and the lists of those that may have a reserved name. */
export type ShareKind = "SharedSecret" | "SharedConfigMap";
export const shareKinds = ["SharedSecret", "SharedConfigMap"] as const satisfies readonly ShareKind[];

interface AllowListSource {
  /** Its name, and its data as installed: the example of the requirement document. */
  readonly configMap: string;
  readonly installed: Readonly<Record<string, string>>;
  /** Upstream's environment variable. */
  readonly variable: string;
}

/** Where the list of a kind stands. */
export const allowListSources = {
  SharedSecret: {
    configMap: "ocp-sharedsecret-list",
    installed: { "openshift-etc-pki-entitlement": "openshift-config-managed:etc-pki-entitlement" },
    variable: "RESERVED_SHARED_SECRET_NAMES",
  },
  SharedConfigMap: {
    configMap: "ocp-sharedconfigmap-list",
    installed: {},
    variable: "RESERVED_SHARED_CONFIGMAP_NAMES",
  },
} as const satisfies Record<ShareKind, AllowListSource>;
