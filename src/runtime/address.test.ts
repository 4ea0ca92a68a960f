import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress, printAddress } from "./address.ts";

const good: readonly (readonly [string, string | undefined, number])[] = [
  [":8080", undefined, 8080],
  ["localhost:0", "localhost", 0],
  ["0.0.0.0:65535", "0.0.0.0", 65535],
  ["[::1]:443", "::1", 443],
];
for (const [text, host, port] of good)
  test(`"${text}" is an address, and prints as it was written`, () => {
    assert.deepEqual(parseAddress(text), { host, port });
    assert.equal(printAddress({ host, port }), text);
  });

for (const text of ["", "8080", "localhost", ":65536", "::1:80", "a:b", "http://localhost:80", ":-1"])
  test(`"${text}" is not an address`, () => assert.equal(parseAddress(text), undefined));
