import { sharingMetrics } from "../../api/metrics.ts";
import type { MetricTable } from "../../runtime/metrics.ts";

export const webhookMetrics = {
  decisions: {
    type: "counter",
    name: "snapshot_webhook_decisions_total",
    help: "Admission decisions by broken rule (empty: none), verdict, and whether the stored object already broke the rule.",
    labels: ["rule", "verdict", "ratcheted"],
  },
  seconds: {
    type: "histogram",
    name: "snapshot_webhook_decision_duration_seconds",
    help: "Time from the complete request to the response, by resource.",
    labels: ["resource"],
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2],
  },
  claimDenials: {
    type: "counter",
    name: "snapkeep_claim_denials_total",
    help: "PersistentVolumeClaims that were rejected because of their data source, by the rule that was broken.",
    labels: ["rule"],
  },
  refusals: {
    type: "counter",
    name: "snapshot_webhook_refused_connections_total",
    help: "Connections and request bodies that the webhook refused before it read a review, by reason: client-certificate, certificate (the client does not accept ours), timeout, disconnected, protocol, connections and bodies (too many at once).",
    labels: ["reason"],
  },
  certificateExpiry: {
    type: "gauge",
    name: "snapshot_webhook_certificate_expiry_timestamp_seconds",
    help: "When the serving certificate expires, in seconds since 1970.",
    labels: [],
  },
  ...sharingMetrics("webhook"),
} as const satisfies MetricTable;
