import assert from "node:assert/strict";
import { test } from "node:test";
import { containersOf, driver, env, image, volumeMounts, workload } from "../../../test/driver-workload.ts";
import type { JsonObject } from "../../base/json.ts";
import { parseFlags } from "../../runtime/flags.ts";
import { command, joinedFlags } from "../commands/csi-sidecars.ts";
import { joinArguments } from "./joined-arguments.ts";
import { type JoinedPart, withJoinedSidecars } from "./joined-sidecars.ts";

const snapshotter = {
  name: "csi-snapshotter",
  image: "registry.k8s.io/sig-storage/csi-snapshotter:v8.6.0",
  args: ["--csi-address=$(ADDRESS)", "--leader-election", "--timeout=5m", "--v=5"],
  env,
  volumeMounts,
};
const provisioner = {
  name: "csi-provisioner",
  image: "registry.k8s.io/sig-storage/csi-provisioner:v5.3.0",
  args: ["--csi-address=/csi/csi.sock", "--leader-election=true", "--timeout=30s", "--extra-create-metadata", "--v=3"],
  volumeMounts: [...volumeMounts, { name: "more", mountPath: "/more" }],
  resources: { limits: { cpu: "1", memory: "64Mi" } },
};
const argsOf = (container: JsonObject | undefined) => (container?.args ?? []) as readonly string[];
const join = (parts: readonly JoinedPart[]) => joinArguments(joinedFlags, parts);
/** As `install` asks: the command itself, with its own flags. */
const accepts = (_name: string, argv: readonly string[]): string | undefined => {
  const { options, positionals } = parseFlags(command.flags, argv);
  return command.check?.(options, positionals);
};
const joined = (...containers: JsonObject[]) => withJoinedSidecars(workload(...containers), image, accepts, join);

test("two sidecars become one container in the place of the first, with the flags, variables and mounts of both", () => {
  const after = { name: "after", image: "x:1" };
  const { workload: changed, changes } = joined(driver, snapshotter, provisioner, after);
  assert.deepEqual(
    containersOf(changed).map(({ name }) => name),
    ["driver", "csi-sidecars", "after"],
  );
  assert.deepEqual(containersOf(changed)[1], {
    name: "csi-sidecars",
    image,
    args: [
      "csi-sidecars",
      "--csi-address=/csi/csi.sock",
      "--leader-election=true",
      "--snapshotter-timeout=5m",
      "--v=5",
      "--provisioner-timeout=30s",
      "--provisioner-extra-create-metadata=true",
    ],
    env,
    volumeMounts: provisioner.volumeMounts,
    securityContext: { runAsUser: 0 },
  });
  assert.deepEqual(changes, [
    `container csi-snapshotter of ${snapshotter.image}, taken for csi-snapshotter by its name, becomes part of csi-sidecars, which runs ${image}`,
    `container csi-provisioner of ${provisioner.image}, taken for csi-provisioner by its name, becomes part of csi-sidecars, which runs ${image}`,
    "--v=3 of csi-provisioner is left out: one process has one, and keeps 5",
  ]);
});

test("the container that serves metrics keeps its ports and probes, and its memory is what the joined process needs", () => {
  const probed = {
    ...provisioner,
    args: [...provisioner.args, "--http-endpoint=:8080"],
    ports: [{ name: "http", containerPort: 8080 }],
    livenessProbe: { httpGet: { path: "/healthz/leader-election", port: "http" } },
  };
  const own = containersOf(joined(driver, snapshotter, probed).workload)[1];
  assert.deepEqual([own?.ports, own?.livenessProbe], [probed.ports, probed.livenessProbe]);
  assert.ok(argsOf(own).includes("--http-endpoint=:8080"));
  assert.deepEqual(own?.resources, { limits: { cpu: "1", memory: "768Mi" } });
});

for (const { what, change, says } of [
  {
    what: "elect in different namespaces",
    change: { args: [...provisioner.args, "--leader-election-namespace=other"] },
    says: /--leader-election-namespace is other for csi-provisioner and empty for csi-snapshotter; .*--separate \[SNAP-803\]/,
  },
  {
    what: "elect, and do not",
    change: { args: ["--csi-address=/csi/csi.sock"] },
    says: /--leader-election is true for csi-snapshotter and false for csi-provisioner/,
  },
  {
    what: "have different variables of one name",
    change: { env: [{ name: "ADDRESS", value: "/csi/csi.sock-2" }] },
    says: /env ADDRESS differs between them; make it one, or use --separate \[SNAP-803\]/,
  },
  {
    what: "have a flag that nobody knows",
    change: { args: ["--unheard"] },
    says: /csi-provisioner: unknown flag --unheard/,
  },
])
  test(`sidecars that ${what} are not joined, and the message names the remedy`, () => {
    assert.throws(() => joined(driver, snapshotter, { ...provisioner, ...change }), says);
  });

test("without sidecars one container is added with the socket of the driver", () => {
  const { workload: changed, changes } = joined(driver);
  const own = containersOf(changed)[1];
  assert.deepEqual([own?.name, own?.volumeMounts], ["csi-sidecars", volumeMounts]);
  assert.ok(argsOf(own).includes("--csi-address=/csi/csi.sock"));
  assert.deepEqual(changes, ["container csi-sidecars is added"]);
});

test("the second time nothing changes, and another image is the only change", () => {
  const once = joined(driver, snapshotter, provisioner).workload;
  assert.deepEqual(joined(...containersOf(once)), { workload: once, changes: [] });
  const { workload: newer, changes } = withJoinedSidecars(once, "snapkeep:2", accepts, join);
  assert.deepEqual(changes, [`container csi-sidecars runs snapkeep:2 instead of ${image}`]);
  assert.equal(containersOf(newer)[1]?.image, "snapkeep:2");
});

test("separate containers of ours are joined, too", () => {
  const ours = { ...snapshotter, image, args: ["csi-snapshotter", ...snapshotter.args] };
  const own = containersOf(joined(driver, ours).workload)[1];
  assert.deepEqual(argsOf(own).slice(0, 2), ["csi-sidecars", "--csi-address=/csi/csi.sock"]);
});

test("a pod without root keeps its user, and one that says nothing gets root, as the driver's socket needs it", () => {
  const pod = { securityContext: { runAsUser: 1000 }, containers: [driver, snapshotter] };
  const { workload: changed } = withJoinedSidecars({ spec: { template: { spec: pod } } }, image, accepts, join);
  assert.equal(containersOf(changed)[1]?.securityContext, undefined);
});
