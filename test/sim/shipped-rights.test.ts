/** The monitor of rights must find what the roles do not allow: in another namespace, of another name, with another verb. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { leaseNameFrom } from "../../src/api/names.ts";
import { driver } from "./backend.ts";
import { lackedRight } from "./shipped-rights.ts";

const leases = (namespace: string): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const name = leaseNameFrom(driver);
const rows: readonly (readonly [component: string, method: string, path: string, lacked: string | undefined])[] = [
  ["csi-provisioner", "PUT", `${leases("default")}/${name}`, undefined],
  ["csi-provisioner", "POST", leases("default"), undefined],
  [
    "csi-provisioner",
    "PUT",
    `${leases("kube-system")}/${name}`,
    `update leases.coordination.k8s.io ${name} in namespace kube-system`,
  ],
  [
    "csi-provisioner",
    "PUT",
    `${leases("default")}/other`,
    "update leases.coordination.k8s.io other in namespace default",
  ],
  ["csi-provisioner", "GET", "/api/v1/namespaces/team/persistentvolumeclaims/data", undefined],
  [
    "csi-provisioner",
    "DELETE",
    "/api/v1/namespaces/team/persistentvolumeclaims/data",
    "delete persistentvolumeclaims data in namespace team",
  ],
  ["csi-snapshotter", "GET", "/api/v1/persistentvolumes", "list persistentvolumes"],
  ["snapshot-controller", "PUT", `${leases("kube-system")}/snapshot-controller-leader`, undefined],
  ["shared-resource", "GET", "/api/v1/namespaces/owner/secrets/x", undefined],
];
for (const [component, method, path, lacked] of rows)
  test(`${component}: ${method} ${path} ${lacked === undefined ? "is allowed" : "is not allowed"}`, () =>
    assert.equal(lackedRight(component, method, path), lacked));
