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
import { redact, redacted, scrub, secretsOf } from "./redact.ts";

const canary = "c4nary-5ecret-value";
const messages = [...nestedTypes(file_csi)].filter((type): type is DescMessage => type.kind === "message");
const withSecrets = messages.filter(({ field }) => field.secrets !== undefined);

test("no secrets of any message reach its printed form", () => {
  assert.ok(withSecrets.length >= 17, `only ${withSecrets.length} messages with secrets were found`);
  for (const schema of withSecrets) {
    const message = create(schema, { secrets: { password: canary } } as unknown as Message);
    assert.deepEqual(redact(schema, message), { secrets: redacted }, schema.typeName);
    assert.ok(secretsOf(schema, message).has(canary), schema.typeName);
  }
});

const tokens = JSON.stringify({ vault: { token: `eyJ-${canary}`, expirationTimestamp: "2030-01-01T00:00:00Z" } });
const publish = create(NodePublishVolumeRequestSchema, {
  volumeId: "volume-1",
  volumeContext: { "csi.storage.k8s.io/serviceAccount.tokens": tokens, "csi.storage.k8s.io/pod.name": "web-0" },
});

test("the kubelet's service account tokens are hidden, the rest of the volume's context is not", () => {
  assert.deepEqual(redact(NodePublishVolumeRequestSchema, publish), {
    volumeId: "volume-1",
    volumeContext: { "csi.storage.k8s.io/serviceAccount.tokens": redacted, "csi.storage.k8s.io/pod.name": "web-0" },
  });
});

test("a token taken out of its JSON is still a secret", () => {
  const secrets = secretsOf(NodePublishVolumeRequestSchema, publish);
  assert.equal(scrub(`login with eyJ-${canary} failed`, secrets), `login with ${redacted} failed`);
});

test("a printed message shows what is set: enums by name, 64-bit numbers exactly, nested messages and lists", () => {
  const request = create(CreateVolumeRequestSchema, {
    name: "pvc-1",
    capacityRange: { requiredBytes: 2n ** 60n },
    volumeCapabilities: [
      { accessType: { case: "mount", value: { fsType: "xfs" } }, accessMode: { mode: Mode.SINGLE_NODE_WRITER } },
    ],
  });
  assert.deepEqual(redact(CreateVolumeRequestSchema, request), {
    name: "pvc-1",
    capacityRange: { requiredBytes: "1152921504606846976" },
    volumeCapabilities: [{ mount: { fsType: "xfs" }, accessMode: { mode: "SINGLE_NODE_WRITER" } }],
  });
});

test("a date that does not exist is printed, not thrown", () => {
  const nonsense = create(CreateSnapshotResponseSchema, {
    snapshot: { creationTime: { seconds: 2n ** 62n, nanos: -1 } },
  });
  assert.deepEqual(redact(CreateSnapshotResponseSchema, nonsense), {
    snapshot: { creationTime: { seconds: "4611686018427387904", nanos: -1 } },
  });
});

const secretsIn = (value: string): ReadonlySet<string> =>
  secretsOf(CreateVolumeRequestSchema, create(CreateVolumeRequestSchema, { secrets: { key: value } }));

const echoes: readonly {
  readonly given: string;
  readonly secret: string;
  readonly text: string;
  readonly cleaned: string;
}[] = [
  { given: "as it is", secret: canary, text: `bad password ${canary}!`, cleaned: `bad password ${redacted}!` },
  { given: "twice", secret: canary, text: `${canary}/${canary}`, cleaned: `${redacted}/${redacted}` },
  { given: "without its newline", secret: `${canary}\n`, text: `got "${canary}"`, cleaned: `got "${redacted}"` },
  { given: "as quoted text", secret: 'a"b\\c d', text: 'got "a\\"b\\\\c d"', cleaned: `got "${redacted}"` },
  { given: "in base64", secret: canary, text: `Basic ${btoa(canary)}`, cleaned: `Basic ${redacted}==` },
  { given: "in a URL", secret: "p&ss w/rd", text: "user:p%26ss%20w%2Frd@host", cleaned: `user:${redacted}@host` },
  {
    given: "one line of a key",
    secret: "-----BEGIN\nMIIEvQIBADAN\n",
    text: "line MIIEvQIBADAN",
    cleaned: `line ${redacted}`,
  },
  {
    given: "a short one, alone",
    secret: "pw",
    text: "pw: bad pw, upward",
    cleaned: `${redacted}: bad ${redacted}, upward`,
  },
  { given: "an empty one", secret: "", text: "nothing to hide", cleaned: "nothing to hide" },
  { given: "half a character", secret: "\ud800-lone", text: "got \ud800-lone", cleaned: `got ${redacted}` },
];
for (const { given, secret, text, cleaned } of echoes)
  test(`a secret echoed in an error is hidden: ${given}`, () => assert.equal(scrub(text, secretsIn(secret)), cleaned));

test("a secret that contains another is hidden whole", () => {
  const secrets = new Set(["pass", "password-1"]);
  assert.equal(scrub("password-1 or pass", secrets), `${redacted} or ${redacted}`);
});
