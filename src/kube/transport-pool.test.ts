import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { targetAt } from "../../test/http-server.ts";
import { limits } from "../base/limits.ts";
import type { Connection } from "./connection.ts";
import { type Applicant, createPool } from "./transport-pool.ts";

test("whoever gives up while a connection is made for it in place of one that died gets none", async () => {
  const server = createServer((socket) => void socket.on("error", () => undefined));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const trust = { authority: undefined, certificate: undefined, key: undefined };
  const pool = createPool(targetAt(`http://127.0.0.1:${port}`), trust, 60_000);
  const taken = await Promise.all(
    Array.from(
      { length: limits.socketsPerHostMax },
      () => new Promise<Connection>((ready, fail) => void pool.take("request", { ready, fail } satisfies Applicant)),
    ),
  );
  const late = Promise.withResolvers<string>();
  const giveUp = pool.take("request", {
    ready: () => late.resolve("has a connection"),
    fail: () => late.resolve("has none"),
  });
  const ignore = (): void => undefined;
  // Told after the place was given away, and before the new connection can be there.
  taken[0]?.send("GET", "GET / HTTP/1.1\r\n\r\n", undefined, { head: ignore, data: ignore, end: ignore, fail: giveUp });
  taken[0]?.destroy();
  assert.equal(await late.promise, "has none");
  pool.destroy();
  server.close();
});
