import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { realWorld } from "../base/world.ts";
import { loggingFlags, servingFlags } from "./common-flags.ts";
import { parseFlags } from "./flags.ts";
import { runStandalone } from "./frame.ts";

test("the metrics and health endpoints of a service accept no bodies and report readiness", async () => {
  const stop = new AbortController();
  let said = "";
  const { options } = parseFlags({ ...loggingFlags, ...servingFlags }, ["--http-endpoint=127.0.0.1:0"]);
  const write = (text: string): void => {
    said += text;
  };
  const ask = async (request: string): Promise<string> => {
    const [, port = ""] = /url="http:\/\/127\.0\.0\.1:(\d+)"/.exec(said) ?? [];
    const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
    socket.write(request);
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return answer.toString();
  };
  const readiness = "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n";
  const code = await runStandalone(
    { options, environment: {}, signal: stop.signal, world: realWorld, out: { write }, error: { write }, version: "1" },
    "tester",
    async () => {
      assert.match(await ask(readiness), /^HTTP\/1\.1 500 .*ready: starting/s);
      return {
        run: async () => {
          assert.match(await ask(readiness), /^HTTP\/1\.1 200 .*ok/s);
          const unfinished = "POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\nx";
          assert.match(await ask(unfinished), /^HTTP\/1\.1 413 .*requests have no bodies here/s);
        },
      };
    },
  );
  assert.equal(code, 0);
});
