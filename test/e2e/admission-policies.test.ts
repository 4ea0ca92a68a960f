/**
 * Admission policies on the real API server: every pair of old and new objects is judged as the webhook judges it, in the same words. The
 * CRDs are loose in both versions, so that policies alone decide.
 */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { after, before, describe, test } from "node:test";
import { type CrdDraft, snapshotCrds } from "../../src/api/crds/index.ts";
import { sharedResourceCrds } from "../../src/api/crds/shared-resource.ts";
import { allowListSources, shareKinds } from "../../src/api/share-lists.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { admissionPolicies, policyName } from "../../src/rules/admission-policies.ts";
import { allowListIn } from "../../src/rules/share-allow-lists.ts";
import { sharePolicies } from "../../src/rules/share-policies.ts";
import { judgeShare, judgeVolumes } from "../../src/rules/shared-resources.ts";
import { type AdmissionPair, admissionPairs, contentSpecs, objectOf, snapshotSpecs } from "../admission-pairs.ts";
import { differenceCounts, webhookJudgement } from "../policy-verdict.ts";
import { shareVolume } from "../shared-resource-objects.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { guideCommands, guideShell } from "./harness/guides.ts";
import { afterName, applyPolicies, collectionOf, messageIn, policyGroup } from "./harness/policies.ts";
import { type Answer, request } from "./harness/request.ts";
import { type JudgedKind, judgedKinds, pathTo, stubCrds } from "./harness/share-objects.ts";
import { until } from "./harness/until.ts";
import { createTestWebhook } from "./harness/webhook.ts";

const versions = ["v1beta1", "v1"] as const;
type Version = (typeof versions)[number];
const api = "/apis/snapshot.storage.k8s.io";
const policies = `${policyGroup}/validatingadmissionpolicies`;
const collection = (kind: string): string =>
  kind === "VolumeSnapshot" ? "namespaces/default/volumesnapshots" : `${kind.toLowerCase().replace(/s$/, "se")}s`;
const pathOf = (kind: string, version: Version): string => `${api}/${version}/${collection(kind)}`;
const named = (object: JsonObject): string => String((object.metadata as JsonObject).name);

let plane: ControlPlane;
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const ask = (method: string, path: string, body?: unknown, token = plane.token): Promise<Answer> =>
  request({ url: plane.url, authority: plane.authority.certificate }, method, path, {
    token,
    body,
    agent,
  });
const stored = new Map<string, JsonObject>();

async function inTurns<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) await work(items[index] as T, index);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

async function created(path: string, object: JsonObject): Promise<JsonObject> {
  const { status, text } = await ask("POST", path, object);
  assert.equal(status, 201, text);
  return JSON.parse(text) as JsonObject;
}

/** The same loose schema in both versions. */
const looseCrds = snapshotCrds(1).map((crd) => ({
  ...crd,
  spec: {
    ...crd.spec,
    versions: crd.spec.versions.flatMap((version) => [version, { ...version, name: "v1", storage: false }]),
  },
}));

const specText = (kind: string, object: JsonObject): string => `${kind} ${JSON.stringify(object.spec)}`;

async function judgedBy({ kind, before: old, after: now }: AdmissionPair, version: Version): Promise<Answer> {
  const apiVersion = `snapshot.storage.k8s.io/${version}`;
  if (old === undefined) return ask("POST", `${pathOf(kind, version)}?dryRun=All`, { ...now, apiVersion });
  const found = stored.get(specText(kind, old)) ?? assert.fail(`not stored: ${specText(kind, old)}`);
  return ask("PUT", `${pathOf(kind, version)}/${named(found)}?dryRun=All`, { ...found, apiVersion, spec: now.spec });
}

describe("admission policies", () => {
  before(async () => {
    plane = await startControlPlane({
      controllers: "storage",
      controllerManagerFlags: ["--controllers=validatingadmissionpolicy-status-controller"],
    });
    await installCrdsOn(plane, looseCrds);
    for (const [kind, specs] of [
      ["VolumeSnapshot", snapshotSpecs],
      ["VolumeSnapshotContent", contentSpecs],
    ] as const)
      await inTurns(specs, async (spec, index) => {
        const draft = { ...objectOf(kind, `o-${index}`, spec), apiVersion: "snapshot.storage.k8s.io/v1beta1" };
        stored.set(specText(kind, { spec }), await created(pathOf(kind, "v1beta1"), draft));
      });
    await apply(admissionPolicies(["Deny"]));
    for (const [kind, given] of Object.entries(broken))
      await until({ what: `the policy for ${kind} is in force` }, async () =>
        (await ask("POST", `${pathOf(kind, "v1")}?dryRun=All`, given)).status === 422 ? true : undefined,
      );
  });
  after(async () => {
    agent.destroy();
    plane?.stop();
  });

  const broken: Readonly<Record<string, JsonObject>> = {
    VolumeSnapshot: objectOf("VolumeSnapshot", "probe", { source: {} }),
    VolumeSnapshotContent: objectOf("VolumeSnapshotContent", "probe", {
      driver: "d",
      deletionPolicy: "Delete",
      source: {},
      volumeSnapshotRef: {},
    }),
    VolumeSnapshotClass: {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshotClass",
      metadata: { name: "probe" },
      driver: "",
      deletionPolicy: "Delete",
    },
  };

  const apply = (objects: readonly JsonObject[]): Promise<void> => applyPolicies(ask, objects);

  test("policies and webhook agree on every pair in v1 and v1beta1, message for message, with status 422", async () => {
    const counts = { pairs: 0, refused: 0, several: 0, warned: 0 };
    const seen = new Set<string>();
    await inTurns([...admissionPairs()], async (pair, index) => {
      const answer = await judgedBy(pair, versions[index % 2] as Version);
      const webhook = webhookJudgement(pair);
      const what = `${JSON.stringify(pair)}: ${answer.text}`;
      counts.pairs += 1;
      const warned = answer.warnings.filter((text) => text.includes("ValidatingAdmissionPolicy")).map(afterName);
      assert.deepEqual(warned.sort(), [...webhook.warned].sort(), what);
      if (warned.length > 0) counts.warned += 1;
      if (webhook.refused === undefined) {
        assert.ok(answer.status < 300, what);
        return;
      }
      assert.equal(answer.status, 422, what);
      assert.equal(afterName(messageIn(answer)), webhook.refused, what);
      counts.refused += 1;
      if (webhook.rules > 1) counts.several += 1;
      seen.add(/\[(SNAP-\d+)\]$/.exec(webhook.refused)?.[1] ?? "");
    });
    assert.deepEqual(counts, differenceCounts());
    for (const code of [101, 102, 103, 104, 111, 112, 113, 114, 115])
      assert.ok(seen.has(`SNAP-${code}`), `SNAP-${code} never was the answer`);
  });

  test("the API server finds nothing to warn of in the expressions", async () => {
    for (const { kind, metadata } of admissionPolicies(["Deny"])) {
      if (kind !== "ValidatingAdmissionPolicy") continue;
      const { name } = metadata as { name: string };
      const status = await until({ what: `${name} is type-checked` }, async () => {
        const found = JSON.parse((await ask("GET", `${policies}/${name}`)).text) as { status?: JsonObject };
        return found.status?.typeChecking === undefined ? undefined : found.status;
      });
      assert.deepEqual(status.typeChecking, {}, name);
    }
  });

  test("a class without a driver is refused", async () => {
    const refused = await ask("POST", `${pathOf("VolumeSnapshotClass", "v1")}?dryRun=All`, broken.VolumeSnapshotClass);
    assert.match(messageIn(refused), /driver: must name the CSI driver; set it to .* \[SNAP-117\]$/);
  });

  test("ten times the expressions stay within the server's cost limit, for the largest object that it stores", async () => {
    const kind = "VolumeSnapshotContent";
    const spec = {
      driver: "driver.example",
      deletionPolicy: "Delete",
      source: { volumeHandle: "h".repeat(1_400_000) },
      volumeSnapshotRef: { name: "m", namespace: "default", uid: "1" },
    };
    const large = await created(pathOf(kind, "v1"), objectOf(kind, "large", spec));
    const change = () =>
      ask("PUT", `${pathOf(kind, "v1")}/large?dryRun=All`, { ...large, spec: { ...spec, deletionPolicy: "Retain" } });
    const tenfold = admissionPolicies(["Deny"]).map((object) => tenTimes(object));
    await apply(tenfold);
    await apply([{ ...costly, spec: costly.spec as JsonObject }, bindingTo(named(costly))]);
    // The limit is in force: a policy that looks at each character ten times is beyond it.
    const limited = await until({ what: "the costly policy is asked" }, async () => {
      const answer = await change();
      return answer.status === 200 ? undefined : answer;
    });
    assert.match(messageIn(limited), /with-cost.*cost/s);
    await ask("DELETE", `${policies.replace(/ies$/, "ybindings")}/${named(costly)}`);
    const answer = await until({ what: "the costly policy is asked no more" }, async () => {
      const found = await change();
      return messageIn(found)?.includes("with-cost") ? undefined : found;
    });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    const probe = await ask("POST", `${pathOf(kind, "v1")}?dryRun=All`, broken[kind]);
    assert.match(probe.text, new RegExp(policyName(kind)));
    for (const object of tenfold) await ask("DELETE", `${collectionOf(object)}/${named(object)}`);
  });

  test("the guide's commands lead from the webhook to policies, and nothing broken is ever let in", async () => {
    const webhook = await createTestWebhook(plane);
    const shell = guideShell(plane.kubeconfig);
    const probe = async (): Promise<Answer> => {
      const answer = await ask("POST", `${pathOf("VolumeSnapshot", "v1")}?dryRun=All`, broken.VolumeSnapshot);
      assert.ok(answer.status === 400 || answer.status === 422, answer.text);
      return answer;
    };
    const untilRefusedBy = (what: string) =>
      until({ what: `a refusal by ${what}` }, async () => ((await probe()).text.includes(what) ? true : undefined));
    let isOver = false;
    const probes = async (): Promise<number> => {
      let count = 0;
      for (; !isOver; count += 1) await probe();
      return count;
    };
    try {
      await webhook.start();
      await webhook.configure("snapshots", "Ignore");
      await shell("snapkeep admission-policies --print | kubectl delete -f -");
      await untilRefusedBy("admission webhook");
      const counted = probes();
      const [commands = ""] = guideCommands("admission.md").filter((block) => block.includes("--actions=Audit,Warn"));
      for (const line of commands.split("\n").filter((text) => !text.startsWith("#"))) {
        const { code, stderr } = await shell(line);
        assert.ok(code === 0 || line === "snapkeep audit", `${line}: ${stderr}`);
      }
      await untilRefusedBy("ValidatingAdmissionPolicy");
      // No pod of the webhook is left, and its configuration says Ignore: the rules hold all the same.
      await webhook.configure("snapshots", "Ignore");
      await webhook.stop();
      await untilRefusedBy("ValidatingAdmissionPolicy");
      isOver = true;
      assert.ok((await counted) > 20);
    } finally {
      isOver = true;
      shell.remove();
      await webhook.unconfigure("snapshots");
      await webhook.stop();
    }
  });

  const list = { "openshift-pki": "platform:pki" };
  const setUpShares = async (): Promise<void> => {
    await installCrdsOn(plane, [...(stubCrds as unknown as CrdDraft[]), ...sharedResourceCrds()]);
    await created("/api/v1/namespaces", { metadata: { name: "team" } });
    await created("/api/v1/namespaces", { metadata: { name: "exempt", labels: { "openshift.io/run-level": "1" } } });
    for (const { configMap } of Object.values(allowListSources))
      await created("/api/v1/namespaces/exempt/configmaps", { metadata: { name: configMap }, data: list });
    await apply(sharePolicies(["Deny"], "exempt"));
  };

  test("policies refuse volumes of shares as the webhook does, message for message, for all kinds that make pods", async () => {
    await setUpShares();
    const [writable, readOnly] = [{}, { readOnly: true }].map((csi) => [shareVolume("pki", csi)]);
    const answers = async (judged: JudgedKind, namespace: string, volumes: readonly JsonObject[] = []) => {
      const object = { ...judged.body(volumes), metadata: { name: "web" } };
      return { object, answer: await ask("POST", `${pathTo(judged, namespace)}?dryRun=All`, object) };
    };
    const [first = assert.fail()] = judgedKinds;
    await until({ what: "the policies for volumes are in force" }, async () =>
      (await answers(first, "team", writable)).answer.status === 403 ? true : undefined,
    );
    for (const judged of judgedKinds) {
      const { object, answer } = await answers(judged, "team", writable);
      const named = { ...object, metadata: { name: "web", namespace: "team" } };
      const [refusal] = judgeVolumes(judged.kind, named, undefined).refused;
      assert.equal(answer.status, 403, answer.text);
      assert.equal(afterName(messageIn(answer)), refusal?.message);
      const allowed = await Promise.all([answers(judged, "team", readOnly), answers(judged, "exempt", writable)]);
      for (const { answer: good } of allowed) assert.equal(good.status, 201, good.text);
    }
  });

  test("policies refuse reserved names of shares as the webhook does, by the lists in ConfigMaps", async () => {
    const lists = { SharedSecret: allowListIn(list).list, SharedConfigMap: allowListIn(list).list };
    for (const kind of shareKinds)
      for (const [name, reference] of [
        ["openshift-pki", "pki"],
        ["openshift-pki", "other"],
        ["openshift-x", "pki"],
        ["mine", "pki"],
      ] as const) {
        const field = kind === "SharedSecret" ? "secretRef" : "configMapRef";
        const share = {
          apiVersion: "sharedresource.openshift.io/v1alpha1",
          kind,
          metadata: { name },
          spec: { [field]: { namespace: "platform", name: reference } },
        };
        const path = `/apis/${share.apiVersion}/${kind.toLowerCase()}s?dryRun=All`;
        const [refusal] = judgeShare(kind, share, undefined, lists).refused;
        const answer = await until({ what: `the policy for ${kind} is in force` }, async () => {
          const found = await ask("POST", path, share);
          return found.status === 201 && refusal !== undefined ? undefined : found;
        });
        if (refusal === undefined) assert.equal(answer.status, 201, answer.text);
        else assert.deepEqual([answer.status, afterName(messageIn(answer))], [403, refusal.message]);
      }
  });
});

/** Each variable ten times, and each expression joined to itself ten times: ten times the cost of each expression, and of all together. */
function tenTimes(object: JsonObject): JsonObject {
  const tenfold = `tenfold.${named(object)}`;
  const metadata = { name: tenfold };
  const spec = object.spec as JsonObject;
  if (object.kind !== "ValidatingAdmissionPolicy")
    return { ...object, metadata, spec: { ...spec, policyName: tenfold } };
  const turns = Array.from({ length: 10 }, (_, index) => index);
  const renamed = (text: string, turn: number): string => text.replaceAll(/variables\.(\w+)/g, `variables.$1At${turn}`);
  const variables = turns.flatMap((turn) =>
    (spec.variables as { name: string; expression: string }[]).map(({ name, expression }) => ({
      name: `${name}At${turn}`,
      expression: renamed(expression, turn),
    })),
  );
  const validations = (spec.validations as { expression: string; message: string }[]).map(
    ({ expression, message }) => ({
      expression: turns.map((turn) => `(${renamed(expression, turn)})`).join(" && "),
      message,
    }),
  );
  return { ...object, metadata, spec: { ...spec, variables, validations } };
}

const costly: JsonObject = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "with-cost" },
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ["snapshot.storage.k8s.io"],
          apiVersions: ["v1"],
          operations: ["UPDATE"],
          resources: ["volumesnapshotcontents"],
        },
      ],
    },
    validations: [{ expression: `![1,2,3,4,5,6,7,8,9,10].exists(n, object.spec.source.volumeHandle.contains('x'))` }],
  },
};
const bindingTo = (policy: string): JsonObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: policy },
  spec: { policyName: policy, validationActions: ["Deny"] },
});
