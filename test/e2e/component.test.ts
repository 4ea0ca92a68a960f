/** A component as a process on the real API server: how it starts, what its last words are, how it hands over and ends. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { createAuthority } from "./harness/certificates.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type Account, shippedAccount } from "./harness/shipped-accounts.ts";
import { until } from "./harness/until.ts";

const main = resolve(import.meta.dirname, "../../src/main.ts");
let plane: ControlPlane;
let account: Account;
const children = new Set<ChildProcess>();

describe("a component as a process", () => {
  before(async () => {
    plane = await startControlPlane();
    account = await shippedAccount(plane, "snapshot-controller");
  });
  after(() => {
    for (const child of children) child.kill("SIGKILL");
    plane?.stop();
  });

  interface Running {
    readonly child: ChildProcess;
    readonly lines: () => readonly string[];
    readonly exit: Promise<number | null>;
    /** Until a line of its log matches. */
    says(pattern: RegExp, msMax?: number): Promise<string>;
  }

  function startController(...argv: readonly string[]): Running {
    const child = spawn(process.execPath, [main, "snapshot-controller", ...argv], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.add(child);
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    const lines = (): readonly string[] => text.split("\n").filter((line) => line !== "");
    const exit = once(child, "close").then(([code]) => {
      children.delete(child);
      return code as number | null;
    });
    const says = (pattern: RegExp, msMax = 20_000): Promise<string> =>
      until({ what: `the log says ${pattern}; it says ${text}`, msMax, everyMs: 10 }, () =>
        lines().find((line) => pattern.test(line)),
      );
    return { child, lines, exit, says };
  }

  const lastLine = async ({ exit, lines }: Running): Promise<{ code: number | null; last: string | undefined }> => ({
    code: await exit,
    last: lines().at(-1),
  });

  function kubeconfig(name: string, cluster: object, user: object): string {
    const file = join(plane.folder, `${name}.kubeconfig`);
    const config = {
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [{ name: "k", cluster }],
      users: [{ name: "u", user }],
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  test("an invalid or expired token ends the component with 1 and a line that names file, field and remedy", async () => {
    const file = kubeconfig(
      "token",
      { server: plane.url, "certificate-authority": plane.caFile },
      { token: "expired-long-ago" },
    );
    const ended = await lastLine(startController(`--kubeconfig=${file}`, "--retry-crd-interval-max=1s"));
    assert.deepEqual(ended, {
      code: 1,
      last: `snapkeep snapshot-controller: ${plane.url} does not accept the credentials (users[0].user.token in ${file}): they are wrong or have expired; renew them`,
    });
  });

  test("an authority that did not sign the server's certificate ends it with 1 and such a line", async () => {
    const other = Buffer.from(createAuthority("other").certificate).toString("base64");
    const file = kubeconfig(
      "authority",
      { server: plane.url, "certificate-authority-data": other },
      { token: plane.token },
    );
    const { code, last } = await lastLine(startController(`--kubeconfig=${file}`, "--retry-crd-interval-max=1s"));
    assert.equal(code, 1);
    assert.match(
      last ?? "",
      /^snapkeep snapshot-controller: .* shows a certificate that the authority \(clusters\[0\]\.cluster\.certificate-authority-data in .*\) has not signed; give the authority of this cluster$/,
    );
  });

  test("the component waits for missing CRDs, logs how to install them, and starts once they exist", async () => {
    const argv = [`--kubeconfig=${account.kubeconfig}`];
    const ended = await lastLine(startController(...argv, "--retry-crd-interval-max=1s"));
    assert.deepEqual(ended, {
      code: 1,
      last: "snapkeep snapshot-controller: the API server does not know volumesnapshots.snapshot.storage.k8s.io; install the CRDs: snapkeep crds | kubectl apply -f -",
    });
    const waiting = startController(...argv, "--retry-crd-interval-max=5m");
    await waiting.says(/waiting for the API server/);
    for (const crd of snapshotCrds(3)) {
      const { status, text } = await plane.request(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        crd,
      );
      assert.equal(status, 201, text);
    }
    await waiting.says(/\] started version=/);
    waiting.child.kill("SIGTERM");
    assert.equal(await waiting.exit, 0);
    assert.match(waiting.lines().at(-1) ?? "", /\] stopped$/);
  });

  const leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/snapshot-controller-leader";
  const holder = async (): Promise<string | undefined> =>
    JSON.parse((await plane.request("GET", leasePath)).text).spec?.holderIdentity;
  const leaseMs = 3_000;
  const candidate = (): Running =>
    startController(
      `--kubeconfig=${account.kubeconfig}`,
      "--leader-election",
      "--leader-election-namespace=kube-system",
      `--leader-election-lease-duration=${leaseMs}ms`,
      "--leader-election-renew-deadline=2s",
      "--leader-election-retry-period=500ms",
    );

  test("a leader that stops hands over at once, and a killed one within its lease plus two seconds", async () => {
    const [first, second] = [candidate(), candidate()];
    const leads = /became leader/;
    await until({ what: "one of two leads" }, () =>
      [first, second].find(({ lines }) => lines().some((line) => leads.test(line))),
    );
    const [leader, standby] = first.lines().some((line) => leads.test(line)) ? [first, second] : [second, first];
    await standby.says(/another replica leads/);
    leader.child.kill("SIGTERM");
    assert.equal(await leader.exit, 0);
    await standby.says(leads, leaseMs);

    const third = candidate();
    await third.says(/another replica leads/);
    const killedAt = performance.now();
    standby.child.kill("SIGKILL");
    await third.says(leads, leaseMs + 2_000);
    console.log(`handed over ${Math.round(performance.now() - killedAt)} ms after the leader was killed`);
    third.child.kill("SIGINT");
    assert.equal(await third.exit, 0);
    assert.equal(await holder(), "");
  });

  test("a synced component survives an API server crash and continues", async () => {
    const running = startController(`--kubeconfig=${account.kubeconfig}`, "--http-endpoint=127.0.0.1:0");
    await running.says(/\] started version=/);
    await plane.killApiServer();
    await new Promise((trigger) => setTimeout(trigger, 2_000));
    await plane.startApiServer();
    const path = "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots";
    const spec = { source: { persistentVolumeClaimName: "never-was" }, volumeSnapshotClassName: "none" };
    const snapshot = {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshot",
      metadata: { name: "after" },
      spec,
    };
    assert.equal((await plane.request("POST", path, snapshot)).status, 201);
    const error = await until({ what: "the snapshot has an error" }, async () => {
      const { status } = JSON.parse((await plane.request("GET", `${path}/after`)).text);
      return status?.error?.message as string | undefined;
    });
    assert.match(error, /never-was|none/);
    running.child.kill("SIGTERM");
    assert.equal(await running.exit, 0);
  });
});
