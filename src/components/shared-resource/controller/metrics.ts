import { sharingMetrics } from "../../../api/metrics.ts";
import type { MetricTable } from "../../../runtime/metrics.ts";

const { secretNameFailures, configMapNameFailures } = sharingMetrics("controller");

const invalid = <Severity extends string>(severity: Severity) =>
  ({
    type: "gauge",
    name: `openshift_csi_share_not_true_${severity}`,
    help: `Shares whose condition Available or Ready is there and not true, of severity ${severity}: info for shares of users, warning for those with a reserved name, or as their allow-list says.`,
    labels: [],
  }) as const;

const shares = <Name extends string>(name: Name, kind: string) =>
  ({ type: "gauge", name, help: `Number of ${kind}s in the cluster.`, labels: [] }) as const;

export const shareControllerMetrics = {
  secrets: shares("openshift_csi_share_secret", "SharedSecret"),
  configMaps: shares("openshift_csi_share_configmap", "SharedConfigMap"),
  secretNameFailures,
  configMapNameFailures,
  notTrue: {
    type: "counter",
    name: "openshift_csi_share_condition_not_true_controller_total",
    help: "Changes of the condition Available or Ready of a share from true, or from absent, to anything else.",
    labels: [],
  },
  invalidInfo: invalid("info"),
  invalidWarning: invalid("warning"),
  invalidCritical: invalid("critical"),
  webhookEndpoints: {
    type: "gauge",
    name: "openshift_csi_share_webhook_endpoints",
    help: "Ready endpoints of the webhook's Service; -1 where no webhook configuration for shares exists, or its endpoints are not known.",
    labels: [],
  },
  webhookTrusted: {
    type: "gauge",
    name: "openshift_csi_share_webhook_trusted",
    help: "1: the caBundle of the webhook configuration for shares fits the certificates of its endpoints, which have not expired. 0: it does not. -1: there is no configuration, or no endpoint answers.",
    labels: [],
  },
} as const satisfies MetricTable;
