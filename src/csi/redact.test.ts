import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import {
  CreateSnapshotResponseSchema,
  CreateVolumeRequestSchema,
  file_csi,
  VolumeCapability_AccessMode_Mode as Mode,
  NodePublishVolumeRequestSchema,
} from "./gen/csi_pb.js";
import { redactMessage, secretTextsOf } from "./redact.ts";
import { createScrub, scrubMark } from "./scrub.ts";

const asIs = (text: string): string => text;
const canary = "c4nary-5ecret-value";
const messages = [...nestedTypes(file_csi)].filter((type): type is DescMessage => type.kind === "message");
const withSecrets = messages.filter(({ field }) => field.secrets !== undefined);

test("no secrets of any message reach its printed form", () => {
  assert.ok(withSecrets.length >= 17, `only ${withSecrets.length} messages with secrets were found`);
  for (const schema of withSecrets) {
    const message = create(schema, { secrets: { password: canary } } as unknown as Message);
    assert.deepEqual(redactMessage(schema, message, asIs), { secrets: scrubMark }, schema.typeName);
    assert.ok(secretTextsOf(schema, message).has(canary), schema.typeName);
  }
});

const tokens = JSON.stringify({ vault: { token: `eyJ-${canary}`, expirationTimestamp: "2030-01-01T00:00:00Z" } });
const publish = create(NodePublishVolumeRequestSchema, {
  volumeId: "volume-1",
  volumeContext: { "csi.storage.k8s.io/serviceAccount.tokens": tokens, "csi.storage.k8s.io/pod.name": "web-0" },
});

test("service account tokens in the volume context are redacted, the rest is not", () => {
  assert.deepEqual(redactMessage(NodePublishVolumeRequestSchema, publish, asIs), {
    volumeId: "volume-1",
    volumeContext: { "csi.storage.k8s.io/serviceAccount.tokens": scrubMark, "csi.storage.k8s.io/pod.name": "web-0" },
  });
});

test("a token extracted from its JSON is still redacted", () => {
  const secrets = secretTextsOf(NodePublishVolumeRequestSchema, publish);
  assert.equal(createScrub(secrets)(`login with eyJ-${canary} failed`), `login with ${scrubMark} failed`);
});

test("a printed message shows what is set: enums by name, 64-bit numbers exactly, nested messages and lists", () => {
  const request = create(CreateVolumeRequestSchema, {
    name: "pvc-1",
    capacityRange: { requiredBytes: 2n ** 60n },
    volumeCapabilities: [
      { accessType: { case: "mount", value: { fsType: "xfs" } }, accessMode: { mode: Mode.SINGLE_NODE_WRITER } },
    ],
  });
  assert.deepEqual(redactMessage(CreateVolumeRequestSchema, request, asIs), {
    name: "pvc-1",
    capacityRange: { requiredBytes: "1152921504606846976" },
    volumeCapabilities: [{ mount: { fsType: "xfs" }, accessMode: { mode: "SINGLE_NODE_WRITER" } }],
  });
});

test("a date that does not exist is printed, not thrown", () => {
  const nonsense = create(CreateSnapshotResponseSchema, {
    snapshot: { creationTime: { seconds: 2n ** 62n, nanos: -1 } },
  });
  assert.deepEqual(redactMessage(CreateSnapshotResponseSchema, nonsense, asIs), {
    snapshot: { creationTime: { seconds: "4611686018427387904", nanos: -1 } },
  });
});

test("texts and map keys of a reply that contain a secret of the call are redacted", () => {
  const snapshot = create(CreateSnapshotResponseSchema, { snapshot: { snapshotId: `s?password=${canary}` } });
  const scrub = createScrub(new Set([canary]));
  assert.deepEqual(redactMessage(CreateSnapshotResponseSchema, snapshot, scrub), {
    snapshot: { snapshotId: `s?password=${scrubMark}` },
  });
  const volume = create(CreateVolumeRequestSchema, { parameters: { [`key-${canary}`]: `value-${canary}` } });
  assert.deepEqual(redactMessage(CreateVolumeRequestSchema, volume, scrub), {
    parameters: { [`key-${scrubMark}`]: `value-${scrubMark}` },
  });
});

test("each line of a secret and each value of a JSON secret is redacted", () => {
  const found = secretTextsOf(
    CreateVolumeRequestSchema,
    create(CreateVolumeRequestSchema, {
      secrets: { key: '{"user":"u","password":"hunter2hunter2"}', pem: "A\nMIIEvQIBADAN\n" },
    }),
  );
  assert.ok(found.has("hunter2hunter2") && found.has("MIIEvQIBADAN") && !found.has("u"));
});
