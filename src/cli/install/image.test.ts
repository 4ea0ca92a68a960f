import assert from "node:assert/strict";
import { test } from "node:test";
import { parseImage } from "./image.ts";

for (const [given, repository, tag] of [
  ["snapkeep", "snapkeep", "1.2.3"],
  ["snapkeep:0.2.0", "snapkeep", "0.2.0"],
  ["registry.example.com/team/snapkeep", "registry.example.com/team/snapkeep", "1.2.3"],
  ["localhost:5000/snapkeep", "localhost:5000/snapkeep", "1.2.3"],
  ["localhost:5000/snapkeep:v9", "localhost:5000/snapkeep", "v9"],
] as const)
  test(`--image=${given} is ${repository} with tag ${tag}`, () => {
    assert.deepEqual(parseImage(given, "1.2.3"), { kind: "image", repository, tag });
  });

for (const [given, why] of [
  ["snapkeep@sha256:00", /has a digest/],
  ["snapkeep:", /is no image/],
  ["snap keep", /is no image/],
  ["https://registry.example.com/snapkeep", /is no image/],
  ["Snapkeep", /is no image/],
] as const)
  test(`--image=${given} is refused`, () => {
    const parsed = parseImage(given, "1.2.3");
    assert.match(parsed.kind === "wrong" ? parsed.why : "", why);
  });
