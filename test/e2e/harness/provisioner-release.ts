/** The account of external-provisioner 5.3.0 with exactly the rules of its own rbac.yaml. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import type { ControlPlane, Token } from "./control-plane.ts";
import { moduleFolder } from "./tools.ts";
import { applyManifest, type Manifest } from "./upstream.ts";

const module = "github.com/kubernetes-csi/external-provisioner/v5";
export const provisionerNamespace = "default";
export const provisionerUser = `system:serviceaccount:${provisionerNamespace}:csi-provisioner`;
export const provisionerToken: Token = {
  token: "provisioner-token",
  user: provisionerUser,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${provisionerNamespace}`],
};

export async function installProvisionerRelease(plane: ControlPlane): Promise<void> {
  const listing = ["list", "-m", "-f", "{{.Dir}}", module];
  const { stdout } = await promisify(execFile)("go", listing, { cwd: moduleFolder("provisioner") });
  const text = await readFile(join(stdout.trim(), "deploy/kubernetes/rbac.yaml"), "utf8");
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS() as Manifest | null;
    if (object !== null) await applyManifest(plane, object);
  }
}
