import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect } from "node:tls";
import { gunzipSync } from "node:zlib";
import { parse as parseYaml } from "yaml";
import { createApiServer, type ServedApi } from "../index.ts";

let folder: string;
const server = createApiServer();
let api: ServedApi;
let authority: string;

describe("the server over HTTPS", () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "api-"));
    const tokenFile = join(folder, "tokens.csv");
    await writeFile(tokenFile, 'janes-token,jane,7,"readers"\n');
    api = await server.start({ tokenFile });
    const config = parseYaml(api.kubeconfig) as { clusters: [{ cluster: { "certificate-authority-data": string } }] };
    authority = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64").toString();
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  interface Got {
    readonly status: number;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly body: Buffer;
  }

  async function send(options: RequestOptions, body: string | Buffer = ""): Promise<Got> {
    const outgoing = httpsRequest(api.url, { ca: authority, agent: false, ...options });
    outgoing.end(body);
    const [incoming] = await once(outgoing, "response");
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    return { status: incoming.statusCode, headers: incoming.headers, body: Buffer.concat(chunks) };
  }
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const maps = "/api/v1/namespaces/default/configmaps";

  test("the administrator's token has all rights, and the kubeconfig trusts the server's certificate", async () => {
    const { status, body } = await send({ path: "/api/v1/namespaces/default", headers: as(api.token) });
    assert.equal(status, 200);
    assert.equal(JSON.parse(String(body)).kind, "Namespace");
    assert.match(api.kubeconfig, new RegExp(api.token));
  });

  test("a token of the file is a user without rights, no token is anonymous, and an unknown token is rejected", async () => {
    const jane = await send({ path: maps, headers: as("janes-token") });
    assert.match(String(jane.body), /User \\"jane\\" cannot list resource/);
    const nobody = await send({ path: maps });
    assert.match(String(nobody.body), /User \\"system:anonymous\\" cannot list resource/);
    assert.equal((await send({ path: maps, headers: as("unknown") })).status, 401);
    assert.equal((await send({ path: "/readyz" })).status, 200);
  });

  test("a body over the limit is rejected with a Status, not by closing the connection", async () => {
    const body = `{"metadata":{"name":"big"},"data":{"x":"${"x".repeat(4 * 2 ** 20)}"}}`;
    const headers = { ...as(api.token), "content-type": "application/json" };
    const answer = await send({ method: "POST", path: maps, headers }, body);
    assert.equal(answer.status, 413);
    assert.equal(JSON.parse(String(answer.body)).message, "Request entity too large: limit is 3145728");
  });

  test("large responses are compressed for clients that accept gzip", async () => {
    const headers = { ...as(api.token), "content-type": "application/json" };
    const object = { metadata: { name: "large" }, data: { x: "x".repeat(200_000) } };
    await send({ method: "POST", path: maps, headers }, JSON.stringify(object));
    const { headers: got, body } = await send({ path: maps, headers: { ...as(api.token), "accept-encoding": "gzip" } });
    assert.equal(got["content-encoding"], "gzip");
    assert.ok(body.length < 10_000);
    assert.equal(JSON.parse(String(gunzipSync(body))).kind, "ConfigMapList");
    const plain = await send({ path: maps, headers: as(api.token) });
    assert.equal(plain.headers["content-encoding"], undefined);
  });

  test("watches of disconnected clients are removed", async () => {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect({
          host: "127.0.0.1",
          port: Number(new URL(api.url).port),
          ca: authority,
          servername: "localhost",
        });
        await once(socket, "secureConnect");
        socket.write(
          `GET ${maps}?watch=true HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${api.token}\r\n\r\n`,
        );
        await once(socket, "data");
        return socket;
      }),
    );
    assert.equal(server.watches(), 20);
    for (const socket of sockets) socket.destroy();
    for (let tries = 0; tries < 200 && server.watches() > 0; tries += 1)
      await new Promise((next) => setImmediate(next));
    assert.equal(server.watches(), 0);
  });

  test("the error names an unreadable token file", async () => {
    await assert.rejects(createApiServer().start({ tokenFile: join(folder, "missing") }), {
      message: /cannot read the token file .*missing: there is no such file or folder; check --token-auth-file/,
    });
  });
});
