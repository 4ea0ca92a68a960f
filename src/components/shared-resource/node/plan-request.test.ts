import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { NodePublishVolumeRequestSchema } from "../../../csi/gen/csi_pb.js";
import { isVolumeId, publishRequestOf, targetOf } from "./plan-request.ts";

const context = {
  sharedSecret: "tls",
  "csi.storage.k8s.io/pod.name": "web-1",
  "csi.storage.k8s.io/pod.namespace": "team",
  "csi.storage.k8s.io/pod.uid": "7a0f",
  "csi.storage.k8s.io/serviceAccount.name": "web",
  "csi.storage.k8s.io/ephemeral": "true",
};
const without = (...keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(context).filter(([key]) => !keys.includes(key)));
const mount = { accessType: { case: "mount" as const, value: {} } };

type Changes = MessageInitShape<typeof NodePublishVolumeRequestSchema>;
const request = (changes: Changes = {}) =>
  publishRequestOf(
    create(NodePublishVolumeRequestSchema, {
      volumeId: "csi-1",
      targetPath: "/pods/p/mount",
      volumeCapability: mount,
      volumeContext: context,
      readonly: true,
      ...changes,
    } as Changes),
  );

test("a request names volume, pod, share and group", () =>
  assert.deepEqual(
    request({ volumeCapability: { accessType: { case: "mount", value: { volumeMountGroup: "2000" } } } }),
    {
      id: "csi-1",
      target: "/pods/p/mount",
      pod: { name: "web-1", namespace: "team", uid: "7a0f", serviceAccount: "web" },
      shareKind: "SharedSecret",
      share: "tls",
      refresh: true,
      readOnly: true,
      group: 2000,
    },
  ));

const refused: readonly { given: string; changes: Changes; says: RegExp }[] = [
  { given: "no capability", changes: { volumeCapability: undefined }, says: /volume_capability is required/ },
  { given: "no volume id", changes: { volumeId: "" }, says: /volume_id is required/ },
  { given: "a volume id that climbs", changes: { volumeId: "../../etc" }, says: /volume_id .* is not an id/ },
  { given: "no target path", changes: { targetPath: "" }, says: /target_path is required/ },
  { given: "a relative target path", changes: { targetPath: "pods/p" }, says: /target_path .* must be absolute/ },
  { given: "no volume context", changes: { volumeContext: {} }, says: /volume_context is required/ },
  ...["pod.name", "pod.namespace", "pod.uid", "serviceAccount.name"].map((key) => ({
    given: `no ${key}`,
    changes: { volumeContext: without(`csi.storage.k8s.io/${key}`) },
    says: new RegExp(`volume_context lacks csi.storage.k8s.io/${key}`),
  })),
  {
    given: "a pod name that is none",
    changes: { volumeContext: { ...context, "csi.storage.k8s.io/pod.name": "a b" } },
    says: /"a b", which is no name/,
  },
  {
    given: "a persistent volume",
    changes: { volumeContext: { ...context, "csi.storage.k8s.io/ephemeral": "false" } },
    says: /only inline volumes/,
  },
  {
    given: "a block volume",
    changes: { volumeCapability: { accessType: { case: "block", value: {} } } },
    says: /must be mount, not block/,
  },
  { given: "no share", changes: { volumeContext: without("sharedSecret") }, says: /name no share/ },
  {
    given: "a blank share",
    changes: { volumeContext: { ...context, sharedSecret: " " } },
    says: /name no share/,
  },
  {
    given: "both kinds of shares, one of them blank",
    changes: { volumeContext: { ...context, sharedConfigMap: "" } },
    says: /name both sharedSecret and sharedConfigMap/,
  },
  {
    given: "a group that is no number",
    changes: { volumeCapability: { accessType: { case: "mount", value: { volumeMountGroup: "2000,uid=0" } } } },
    says: /volume_mount_group/,
  },
];
for (const { given, changes, says } of refused)
  test(`R75: ${given} is refused as InvalidArgument, with a code`, () =>
    assert.throws(
      () => request(changes),
      (reason: { code: string; message: string }) => {
        assert.equal(reason.code, "InvalidArgument");
        assert.match(reason.message, says);
        assert.match(reason.message, / \[SNAP-701\]$/);
        return true;
      },
    ));

const refreshes: readonly [string | undefined, boolean][] = [
  [undefined, true],
  ["true", true],
  ["false", false],
  ["F", false],
  ["0", false],
  ["no", true],
];
for (const [value, refresh] of refreshes)
  test(`refreshResource ${value} means ${refresh}`, () => {
    const given = value === undefined ? context : { ...context, refreshResource: value };
    assert.equal(request({ volumeContext: given }).refresh, refresh);
  });

test("the name of a share is trimmed, and the kind follows from the attribute", () => {
  const volumeContext = { ...without("sharedSecret"), sharedConfigMap: " ca " };
  const { share, shareKind } = request({ volumeContext });
  assert.deepEqual([shareKind, share], ["SharedConfigMap", "ca"]);
});

test("ids of a kubelet are accepted; those that lead elsewhere are not", () => {
  for (const id of ["csi-0a1b", "a", "A.b_c-d"]) assert.equal(isVolumeId(id), true, id);
  for (const id of ["", ".", "..", "a/b", "a..b", "-a", ".a", "a\0", "a\n", `a${"b".repeat(128)}`, "ä"])
    assert.equal(isVolumeId(id), false, JSON.stringify(id));
});

test("target paths are absolute and do not climb", () => {
  assert.equal(targetOf("/a/b"), "/a/b");
  for (const path of ["/", "/a/", "/a//b", "/a/../b", "/a/./b", "a", "/a\0b", "/a\nb"])
    assert.throws(() => targetOf(path), { code: "InvalidArgument" }, JSON.stringify(path));
});
