/** When the programs say that they are ready: with whole caches, whether they lead or stand by. */
import assert from "node:assert/strict";
import { get } from "node:http";
import { test } from "node:test";
import { startHarness } from "../../../test/command-harness.ts";
import { eventually } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";

const answerOf = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      let text = `${answer.statusCode} `;
      answer
        .setEncoding("utf8")
        .on("data", (chunk: string) => {
          text += chunk;
        })
        .on("end", () => resolve(text));
    }).on("error", reject);
  });

/** Tells the first list of a cache from the question whether the kind is served, which asks for one object. */
const isList = (path: string, plural: string): boolean => path.includes(`/${plural}?limit=500`);

const programs = [
  {
    name: "snapshot-controller",
    lease: "snapshot-controller-leader",
    plural: "volumesnapshots",
    kind: "VolumeSnapshot",
    flags: [],
  },
  {
    name: "snapshot-controller",
    lease: "snapshot-controller-leader",
    plural: "nodes",
    kind: "Node",
    flags: ["--enable-distributed-snapshotting"],
  },
  {
    name: "csi-snapshotter",
    lease: "external-snapshotter-leader-plain-example-com",
    plural: "volumesnapshotclasses",
    kind: "VolumeSnapshotClass",
    flags: [],
  },
] as const;

for (const { name, lease, plural, kind, flags } of programs)
  for (const leads of [true, false])
    test(`${name} ${leads ? "as leader" : "as standby"} is ready when it has listed all ${plural}, and not before`, async (t) => {
      const listed = Promise.withResolvers<void>();
      t.after(() => listed.resolve());
      const { client, socket, start } = await startHarness(t, {
        beforeRequest: ({ path }) => (isList(path, plural) ? listed.promise : undefined),
      });
      const spec = { holderIdentity: "other", leaseDurationSeconds: 600, leaseTransitions: 0 };
      if (!leads) await client.create("Lease", draftOf("Lease", { namespace: "default", name: lease }, { spec }));
      const { said } = start(
        name,
        "--http-endpoint=127.0.0.1:0",
        "--leader-election",
        "--leader-election-namespace=default",
        ...flags,
        ...(name === "csi-snapshotter" ? [`--csi-address=${socket}`] : []),
      );
      await eventually("it has started", () => said().includes(" started version="));
      const [, url = ""] = /url="([^"]+)"/.exec(said()) ?? [];
      const waits = `500 ready: waiting for the first list of ${kind}\n`;
      await eventually("nothing else is missing", async () => {
        const answer = await answerOf(`${url}/readyz`);
        assert.notEqual(answer, "200 ok");
        return answer === waits;
      });
      assert.equal(await answerOf(`${url}/healthz`), "200 ok");
      listed.resolve();
      await eventually("it is ready", async () => (await answerOf(`${url}/readyz`)) === "200 ok");
    });
