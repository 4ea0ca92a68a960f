/** `snapkeep verify` with real pods: on an installation of ours with the directory-driver, on a node without any registry. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { scratchLabel } from "../../../src/cli/verify/objects.ts";
import { startCommand } from "../../command-line.ts";
import { type Cluster, untilRemoved, useCluster } from "../harness/cluster.ts";
import { boxImage } from "../harness/image.ts";

const components = "--components=snapshot-controller,webhook,directory-driver";

describe("snapkeep verify with pods", () => {
  let cluster: Cluster;
  const snapkeep = async (...argv: readonly string[]) => {
    const { code, said } = startCommand(...argv, `--kubeconfig=${cluster.plane.kubeconfig}`);
    return { code: await code, ...said };
  };
  const install = (...argv: readonly string[]) =>
    snapkeep("install", ...argv, components, `--kubelet-dir=${cluster.node.rootDir}`, "--timeout=120s");
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

  test("an image that no node can pull blocks the round, and its message names --image", async () => {
    const { code, out } = await verify("--image=registry.invalid/none:1");
    assert.equal(code, 3, out);
    assert.match(
      out,
      /✗ a pod writes to it\n +pod writer: container main: ImagePullBackOff.* with --image.*\[SNAP-857\]/,
    );
    await nothingLeft();
  });
});
