/** The OpenAPI documents against the real server's: every schema says the same, apart from prose. */
import assert from "node:assert/strict";
import { Agent, request } from "node:https";
import { after, before, describe, test } from "node:test";
import { type ApiServer, createApiServer } from "../../../src/apiserver/index.ts";
import { readAll } from "../../../src/base/http.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/base/json.ts";
import { realWorld } from "../../../src/base/world.ts";
import { type ControlPlane, startControlPlane } from "../harness/control-plane.ts";
import { until } from "../harness/until.ts";
import { definitions, thingsDefinition } from "./scripts/custom.ts";

let plane: ControlPlane;
let server: ApiServer;
describe("OpenAPI as in the real server", () => {
  before(async () => {
    plane = await startControlPlane();
    server = createApiServer({ world: realWorld });
    await Promise.all([theirs(definitions, thingsDefinition), ours(definitions, thingsDefinition)]);
  });
  after(() => plane?.stop());

  async function ours(path: string, body?: JsonObject): Promise<JsonObject> {
    const answer = await server.handler({
      method: body === undefined ? "GET" : "POST",
      path,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return JSON.parse(await readAll(answer.body)) as JsonObject;
  }

  const theirs = (path: string, body?: JsonObject): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      const agent = new Agent({ ca: plane.authority.certificate });
      const headers = { authorization: `Bearer ${plane.token}`, "content-type": "application/json" };
      const outgoing = request(
        new URL(path, plane.url),
        { method: body === undefined ? "GET" : "POST", agent, headers },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on("data", (chunk: Buffer) => void chunks.push(chunk));
          incoming
            .on("error", reject)
            .on("end", () =>
              resolve(
                incoming.statusCode === 404 || chunks.length === 0
                  ? {}
                  : (JSON.parse(Buffer.concat(chunks).toString()) as JsonObject),
              ),
            );
        },
      );
      outgoing.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    });

  /** Prose is Kubernetes' own, unions are said by nobody's client, and a reference alone needs no wrapping. */
  function bare(value: JsonValue | undefined): JsonValue {
    if (Array.isArray(value)) return value.map(bare);
    if (!isObject(value)) return value ?? null;
    const { allOf, ...rest } = value;
    const [only] = Array.isArray(allOf) ? allOf : [];
    const unwrapped = isObject(only) && typeof only.$ref === "string" ? { ...rest, ...only } : value;
    const entries = Object.entries(unwrapped)
      .filter(([name, item]) => !(name === "description" && typeof item === "string") && name !== "x-kubernetes-unions")
      .map(
        ([name, item]) => [name, name === "required" && Array.isArray(item) ? [...item].sort() : bare(item)] as const,
      );
    return Object.fromEntries(entries);
  }

  type Schemas = Readonly<Record<string, JsonObject>>;
  const schemasOf = (document: JsonObject): Schemas =>
    ((document.components as JsonObject | undefined)?.schemas ?? {}) as unknown as Schemas;

  /** Kinds that several groups share are listed there with all of them. */
  function withoutKinds({ "x-kubernetes-group-version-kind": _kinds, ...schema }: JsonObject): JsonObject {
    return schema;
  }

  test("every served schema equals the real server's", async () => {
    const { paths } = (await ours("/openapi/v3")) as unknown as { paths: Record<string, unknown> };
    const differing: string[] = [];
    let compared = 0;
    for (const key of Object.keys(paths)) {
      if (key.startsWith("apis/schema.example.com")) continue;
      const [own, real] = await Promise.all([ours(`/openapi/v3/${key}`), theirs(`/openapi/v3/${key}`)]);
      for (const [name, schema] of Object.entries(schemasOf(own))) {
        const other = schemasOf(real)[name];
        if (other === undefined) continue;
        compared += 1;
        if (JSON.stringify(sorted(bare(withoutKinds(schema)))) !== JSON.stringify(sorted(bare(withoutKinds(other)))))
          differing.push(`${key} ${name}`);
      }
    }
    assert.deepEqual(differing, [
      // The enumeration of reasons is marked in a module that is not read for facts.
      "apis/apiextensions.k8s.io/v1 io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule",
    ]);
    assert.ok(compared > 500, `${compared} schemas compared`);
  });

  const sorted = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(sorted);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item ?? null)]));
  };

  test("the schema of a custom kind equals the real server's", async () => {
    const path = "/openapi/v3/apis/schema.example.com/v1";
    const name = "com.example.schema.v1.Thing";
    const real = await until({ what: "the real server describes the custom kind", msMax: 30_000 }, async () => {
      const found = schemasOf(await theirs(path))[name];
      return found === undefined ? undefined : found;
    });
    const own = schemasOf(await ours(path))[name];
    assert.deepEqual(sorted(bare(own)), sorted(bare(real)));
  });
});
