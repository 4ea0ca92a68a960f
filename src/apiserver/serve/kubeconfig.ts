/** A kubeconfig for the embedded server: everything in one file, nothing to look up elsewhere. */
import { print } from "../../base/json.ts";

export interface KubeconfigFacts {
  readonly server: string;
  readonly authority: string;
  readonly token: string;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** What the server's entries in a kubeconfig hold. */
export const kubeconfigEntry = ({ server, authority, token }: KubeconfigFacts) => ({
  cluster: { server, "certificate-authority-data": base64(authority) },
  user: { token },
});

/** JSON is YAML: every client reads it. */
export function kubeconfigText(facts: KubeconfigFacts): string {
  const name = "snapkeep";
  const { cluster, user } = kubeconfigEntry(facts);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  return `${print(config, 2)}\n`;
}
