/** Kubeconfigs in a folder of their own, with certificates beside them; the folder goes when the tests are over. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type ConfigOptions, loadConfig } from "../src/kube/config.ts";
import { createAuthority } from "./e2e/harness/certificates.ts";
import { createVirtualWorld } from "./virtual-world.ts";

export function createKubeconfigs() {
  const folder = mkdtempSync(join(tmpdir(), "kc-"));
  after(() => rmSync(folder, { recursive: true }));

  const authority = createAuthority("one");
  const client = authority.issue({ commonName: "me" });
  const stranger = authority.issue({ commonName: "stranger" });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  file("ca.pem", authority.certificate);
  file("me.pem", client.certificate);
  file("me.key", client.key);

  let count = 0;
  /** A new file with each call. */
  const numbered = (name: string, text: string, ending = ""): string => {
    count += 1;
    return file(`${name}-${count}${ending}`, text);
  };
  /** A kubeconfig of one context, one cluster and one user; JSON is YAML. */
  function kubeconfig(cluster: object, user: object, more: object = {}): string {
    return numbered(
      "config",
      JSON.stringify({
        "current-context": "here",
        contexts: [{ name: "here", context: { cluster: "c", user: "u", namespace: "team" } }],
        clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443", ...cluster } }],
        users: [{ name: "u", user }],
        ...more,
      }),
    );
  }
  const load = (path: string, more: Partial<ConfigOptions> = {}) =>
    loadConfig({ kubeconfig: path, environment: {}, world: createVirtualWorld(), ...more });
  return { folder, authority, client, stranger, base64, file, numbered, kubeconfig, load };
}
