import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoops } from "./loops.ts";

/** As losetup prints it: name, read-only, autoclear. */
const rows = [
  { given: "no device", printed: "", device: "/dev/loop9" },
  { given: "a device of the image", printed: "/dev/loop3 0 0\n", device: "/dev/loop3" },
  { given: "only a read-only one", printed: "/dev/loop3 1 0\n", device: "/dev/loop9" },
  { given: "one that the kernel is about to take away", printed: "/dev/loop3 0 1\n", device: "/dev/loop9" },
  { given: "such a one and a usable one", printed: "/dev/loop3 0 1\n/dev/loop4 0 0\n", device: "/dev/loop4" },
];
for (const { given, printed, device } of rows)
  test(`an image with ${given} is published as ${device === "/dev/loop9" ? "a new device" : device}`, async () => {
    const run = async (_program: string, args: readonly string[]) => ({
      code: 0,
      output: args.includes("--associated") ? printed : "/dev/loop9",
    });
    const { loopFor } = createLoops(run as never, { bindsOf: async () => [] });
    assert.equal(await loopFor("/images/a", false), device);
  });
