import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "../base/fault.ts";
import type { JsonValue } from "../base/json.ts";
import { listPath } from "./list-path.ts";

const path = "/apis/apps/v1/deployments";
const page = (name: string, token?: string): JsonValue => ({
  kind: "DeploymentList",
  metadata: { resourceVersion: "5", ...(token === undefined ? {} : { continue: token, remainingItemCount: 1 }) },
  items: [name],
});

function scripted(answers: readonly (JsonValue | Fault)[]) {
  const asked: string[] = [];
  const getPath = async (path: string): Promise<JsonValue> => {
    const answer = answers[asked.push(path) - 1] ?? null;
    if (answer instanceof Fault) throw answer;
    return answer;
  };
  return { asked, api: { getPath } };
}

test("a list by its path has the items of all pages, also of those after an expired token", async () => {
  const expired = new Fault("Expired", "too old", { continueToken: "rest" });
  const { api, asked } = scripted([page("a", "t/1"), page("b", "t/2"), expired, page("c")]);
  assert.deepEqual(await listPath(api, path), {
    kind: "DeploymentList",
    metadata: { resourceVersion: "5" },
    items: ["a", "b", "c"],
  });
  assert.deepEqual(
    asked,
    ["", "&continue=t%2F1", "&continue=t%2F2", "&continue=rest"].map((more) => `${path}?limit=500${more}`),
  );
});

test("a list by its path whose token has expired without an offer to go on fails, as any other failure does", async () => {
  for (const code of ["Expired", "PermissionDenied"] as const)
    await assert.rejects(listPath(scripted([page("a", "1"), new Fault(code, "no")]).api, path), (reason) =>
      isFault(reason, code),
    );
});
