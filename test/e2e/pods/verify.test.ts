/**
 * `snapkeep verify` with real pods: on an installation of ours with the directory-driver. An image that cannot be pulled is tried in
 * verify.test.ts only: the kubelet of 1.36 ends on a node without cgroups for pods when a container with limits has no image.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { scratchLabel } from "../../../src/cli/verify/objects.ts";
import { startCommand } from "../../command-line.ts";
import { type Cluster, untilRemoved, useCluster, version } from "../harness/cluster.ts";
import { boxImage } from "../harness/image.ts";

const components = ["--components=snapshot-controller,webhook,directory-driver", `--image=snapkeep:${version}`];

describe("snapkeep verify with pods", () => {
  let cluster: Cluster;
  const snapkeep = async (...argv: readonly string[]) => {
    const { code, said } = startCommand(...argv, `--kubeconfig=${cluster.plane.kubeconfig}`);
    return { code: await code, ...said };
  };
  const install = (...argv: readonly string[]) =>
    snapkeep("install", ...argv, ...components, `--kubelet-dir=${cluster.node.rootDir}`, "--timeout=120s");
  const verify = (...argv: readonly string[]) => snapkeep("verify", "--storage-class=directory", "--size=1Mi", ...argv);
  const nothingLeft = async () => {
    const get = async (...what: readonly string[]) => (await cluster.kubectl(["get", ...what, "-o", "name"])).stdout;
    assert.equal(await get("ns", "-l", scratchLabel), "");
    assert.equal(await get("pv,volumesnapshotcontents"), "");
  };

  before(async () => {
    cluster = await useCluster();
    await untilRemoved(cluster);
    const { code, text } = await install("--apply");
    assert.equal(code, 0, text);
  });
  after(async () => {
    await install("--uninstall");
  });

  test("the bytes of one pod are read by another from a restored volume, by pods of the restricted standard", async () => {
    const { code, out, text } = await verify(`--image=${boxImage}`);
    assert.equal(code, 0, text);
    assert.equal(out.match(/✓ .* \d+\.\d s/g)?.length, 6, out);
    assert.match(out, /\nsnapshots work: \d+\.\d s\n$/);
    await nothingLeft();
  });

  test("pods as root work too", async () => {
    const { code, out } = await verify(`--image=${boxImage}`, "--as-root", "-o=json");
    assert.deepEqual([code, JSON.parse(out).result], [0, "passed"], out);
    await nothingLeft();
  });
});
