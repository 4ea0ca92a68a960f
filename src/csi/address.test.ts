import assert from "node:assert/strict";
import { test } from "node:test";
import { socketPathOf } from "./address.ts";

const good: readonly (readonly [string, string])[] = [
  ["/run/csi/socket", "/run/csi/socket"],
  ["unix:///run/csi/socket", "/run/csi/socket"],
  ["unix:/run/csi/socket", "/run/csi/socket"],
  ["unix://relative.sock", "relative.sock"],
  [`/${"a".repeat(106)}`, `/${"a".repeat(106)}`],
];
for (const [address, path] of good)
  test(`the address ${address.slice(0, 30)} is the socket ${path.slice(0, 30)}`, () =>
    assert.equal(socketPathOf(address), path));

const bad: readonly (readonly [string, string, RegExp])[] = [
  ["", "is empty", /names no socket/],
  ["unix://", "is a scheme alone", /names no socket/],
  ["tcp://127.0.0.1:10000", "is TCP", /not a Unix socket: give a path/],
  [`/${"a".repeat(107)}`, "has 108 bytes", /108 bytes, the kernel takes 107: use a shorter one/],
  [`unix:///${"ä".repeat(54)}`, "has few characters but too many bytes", /109 bytes/],
];
for (const [address, what, message] of bad)
  test(`an address that ${what} is refused with a reason`, () =>
    assert.throws(() => socketPathOf(address), { code: "InvalidArgument", message }));
