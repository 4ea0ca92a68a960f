/** A kubeconfig for the embedded server: everything in one file, nothing to look up elsewhere. */
import { print } from "../../base/json.ts";

export interface KubeconfigFacts {
  readonly server: string;
  readonly authority: string;
  readonly token: string;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** JSON is YAML: every client reads it. */
export function kubeconfigText({ server, authority, token }: KubeconfigFacts): string {
  const name = "snapkeep";
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(authority) } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name, context: { cluster: name, user: "admin" } }],
    "current-context": name,
  };
  return `${print(config, 2)}\n`;
}
