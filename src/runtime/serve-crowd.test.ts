import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { test } from "node:test";
import { keepFew } from "./serve-crowd.ts";

test("when all connections are in use, a new one replaces the longest idle one", async () => {
  const server = createServer((_request, response) => void response.end("ok"));
  keepFew(server, 3);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const lost: string[] = [];
  const open = async (name: string): Promise<Socket> => {
    const accepted = once(server, "connection");
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.once("close", () => lost.push(name));
    await accepted;
    return socket;
  };
  const asks = async (socket: Socket): Promise<void> => {
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    await once(socket, "data");
  };
  const [first, second, third] = [await open("first"), await open("second"), await open("third")];
  await asks(first);
  const fourth = await open("fourth");
  await once(second, "close");
  await asks(fourth);
  const fifth = await open("fifth");
  await once(third, "close");
  assert.deepEqual(lost, ["second", "third"]);
  for (const socket of [first, fourth, fifth]) await asks(socket);
  for (const socket of [first, fourth, fifth]) socket.destroy();
  server.close();
});
