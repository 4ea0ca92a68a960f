import assert from "node:assert/strict";
import { test } from "node:test";
import { containersOf, driver, env, image, volumeMounts, workload } from "../../../test/driver-workload.ts";
import type { JsonObject } from "../../base/json.ts";
import { withSidecars } from "./sidecar.ts";

const accepts = () => undefined;
const snapshotter = {
  name: "csi-snapshotter",
  image: "registry.k8s.io/sig-storage/csi-snapshotter:v8.6.0",
  args: ["--csi-address=$(ADDRESS)", "--leader-election"],
  env,
  volumeMounts,
};

test("a replaced sidecar keeps its name, arguments, environment and mounts", () => {
  const { workload: changed, changes } = withSidecars(workload(driver, snapshotter), image, accepts, [
    "csi-snapshotter",
  ]);
  assert.deepEqual(containersOf(changed)[1], {
    ...snapshotter,
    image,
    args: ["csi-snapshotter", "--csi-address=$(ADDRESS)", "--leader-election"],
    securityContext: { runAsUser: 0 },
  });
  assert.deepEqual(changes, [
    `container csi-snapshotter, taken for csi-snapshotter by its name, runs ${image} instead of ${snapshotter.image}`,
  ]);
});

const digest = `sha256:${"0".repeat(64)}`;
for (const { given, container, by } of [
  {
    given: "a container of that name with any image",
    container: { name: "csi-snapshotter", image: "mirror/x:1" },
    by: "name",
  },
  {
    given: "an image with a digest",
    container: { name: "s", image: `mirror:5000/sig/csi-snapshotter@${digest}` },
    by: "image",
  },
  {
    given: "an image with tag and digest",
    container: { name: "s", image: `csi-snapshotter:v8@${digest}` },
    by: "image",
  },
  {
    given: "a vendor's image",
    container: { name: "s", image: "registry.example.com/openshift/ose-csi-snapshotter-rhel9" },
    by: "image",
  },
  {
    given: "a command with its path",
    container: { name: "s", image: `tools@${digest}`, command: ["/usr/bin/csi-snapshotter"] },
    by: "command",
  },
  {
    given: "a short name with the flag of the socket",
    container: { name: "external-snapshotter", image: `x@${digest}`, args: ["--csi-address=/csi/csi.sock"] },
    by: "flags",
  },
] as const)
  test(`given ${given}, it is replaced and not added a second time`, () => {
    const present = { volumeMounts, args: ["--csi-address=/csi/csi.sock"], ...container } as unknown as JsonObject;
    const { workload: changed, changes } = withSidecars(workload(driver, present), image, accepts, ["csi-snapshotter"]);
    assert.equal(containersOf(changed).length, 2);
    assert.match(
      changes.join(),
      new RegExp(`^container ${container.name}, taken for csi-snapshotter by its ${by}, runs`),
    );
  });

for (const container of [
  { name: "provisioner", image: "vendor/nfs-provisioner:1" },
  { name: "snapshot-metadata", image: "registry.k8s.io/sig-storage/csi-snapshot-metadata:v1" },
  { name: "x", image: "vendor/csi-snapshotter-exporter/api:1" },
])
  test(`container ${container.name} of ${container.image} is no sidecar`, () => {
    const { workload: changed } = withSidecars(workload(driver, container), image, accepts);
    assert.deepEqual(containersOf(changed)[1], container);
    assert.equal(containersOf(changed).length, 4);
  });

test("a missing sidecar is added with the socket of the driver", () => {
  const { workload: changed, changes } = withSidecars(workload(driver, snapshotter), image, accepts);
  const own = containersOf(changed)[2];
  assert.deepEqual([own?.name, own?.volumeMounts], ["csi-provisioner", volumeMounts]);
  assert.ok((own?.args as readonly string[] | undefined)?.includes("--csi-address=/csi/csi.sock"));
  assert.equal(changes.length, 2);
});

test("a sidecar runs as root, as the driver does whose socket it opens, unless the container or the pod names a user", () => {
  const usersOf = (pod: JsonObject, own: JsonObject) => {
    const containers = [driver, { ...snapshotter, ...own }];
    const { workload: changed } = withSidecars(
      { spec: { template: { spec: { ...pod, containers } } } },
      image,
      accepts,
    );
    return containersOf(changed)
      .slice(1)
      .map(({ securityContext }) => securityContext);
  };
  const root = { runAsUser: 0 };
  const user = { securityContext: { runAsUser: 1000 } };
  assert.deepEqual(usersOf({}, {}), [root, root]);
  const narrow = { readOnlyRootFilesystem: true };
  assert.deepEqual(usersOf({}, { securityContext: narrow }), [{ ...narrow, ...root }, root]);
  assert.deepEqual(usersOf({}, user), [user.securityContext, root]);
  assert.deepEqual(usersOf(user, {}), [undefined, undefined]);
  assert.deepEqual(usersOf({ securityContext: { runAsNonRoot: true } }, {}), [undefined, undefined]);
});

test("the second time nothing changes", () => {
  const once = withSidecars(workload(driver, snapshotter), image, accepts).workload;
  const twice = withSidecars(once, image, accepts);
  assert.deepEqual(twice, { workload: once, changes: [] });
});

test("the arguments that are checked have the environment filled in", () => {
  const asked: (readonly string[])[] = [];
  withSidecars(workload(driver, snapshotter), image, (_name, argv) => void asked.push(argv), ["csi-snapshotter"]);
  assert.deepEqual(asked, [["--csi-address=/csi/csi.sock", "--leader-election"]]);
});

test("flags that our command does not accept, and a socket that is not found, are refused", () => {
  assert.throws(
    () => withSidecars(workload(driver, snapshotter), image, () => "no flag --x"),
    /no flag --x \[SNAP-803\]$/,
  );
  const hidden = { ...driver, volumeMounts: [] };
  assert.throws(() => withSidecars(workload(hidden), image, accepts), /cannot be added.*\[SNAP-803\]$/);
});
