import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { createMemoryLog, eventually, startDriver, temporaryFolder } from "../../test/csi-sockets.ts";
import { registerOnBehalf } from "../../test/registration-on-behalf.ts";
import { realWorld } from "../base/world.ts";
import { Identity } from "./gen/csi_pb.js";
import { type PluginInfo, PluginInfoSchema, Registration, RegistrationStatusSchema } from "./gen/registration_pb.js";
import { createGrpcCore } from "./grpc.ts";
import { createRegistration, type RegistrationStatus } from "./registration.ts";
import { serve } from "./serve.ts";

/** What a kubelet does with a socket that it finds in its folder. */
function kubeletAt(t: TestContext, path: string) {
  const { call, close } = createGrpcCore(path);
  t.after(close);
  const { getInfo, notifyRegistrationStatus } = Registration.method;
  const never = new AbortController().signal;
  return {
    getInfo: () =>
      call({ method: getInfo, request: create(getInfo.input), timeoutMs: 9_000 }, never) as Promise<PluginInfo>,
    report: (pluginRegistered: boolean, error = "") => {
      const request = create(notifyRegistrationStatus.input, { pluginRegistered, error });
      return call({ method: notifyRegistrationStatus, request, timeoutMs: 9_000 }, never);
    },
  };
}

const surroundings = (t: TestContext) => {
  const stop = new AbortController();
  const seen: RegistrationStatus[] = [];
  t.after(() => stop.abort());
  const options = {
    registryFolder: temporaryFolder(t),
    log: createMemoryLog(),
    world: realWorld,
    signal: stop.signal,
    onStatus: (status: RegistrationStatus) => void seen.push(status),
  };
  return { stop, seen, options };
};

test("GetInfo returns type, name, endpoint and versions, and the registration status is kept", async (t) => {
  const { options, seen } = surroundings(t);
  const endpoint = "/var/lib/kubelet/plugins/dir/csi.sock";
  const registration = await createRegistration({ ...options, driver: "dir.example.com", endpoint });
  assert.equal(registration.path, join(options.registryFolder, "dir.example.com-reg.sock"));
  assert.deepEqual(registration.status(), { kind: "waiting" });

  const kubelet = kubeletAt(t, registration.path);
  const { type, name, endpoint: reported, supportedVersions } = await kubelet.getInfo();
  assert.deepEqual([type, name, reported, supportedVersions], ["CSIPlugin", "dir.example.com", endpoint, ["1.0.0"]]);
  await kubelet.report(false, "node is being drained");
  assert.deepEqual(registration.status(), { kind: "refused", error: "node is being drained" });
  await kubelet.report(true);
  assert.deepEqual(registration.status(), { kind: "registered" });
  assert.deepEqual(
    seen.map(({ kind }) => kind),
    ["refused", "registered"],
  );
});

test("registration messages have the bytes of the kubelet's protocol", () => {
  const field = (number: number, text: string): number[] => [(number << 3) | 2, text.length, ...Buffer.from(text)];
  const info = create(PluginInfoSchema, { type: "CSIPlugin", name: "n", endpoint: "/e", supportedVersions: ["1.0.0"] });
  const expected = [...field(1, "CSIPlugin"), ...field(2, "n"), ...field(3, "/e"), ...field(4, "1.0.0")];
  assert.deepEqual([...toBinary(PluginInfoSchema, info)], expected);
  const status = create(RegistrationStatusSchema, { pluginRegistered: true, error: "e" });
  assert.deepEqual([...toBinary(RegistrationStatusSchema, status)], [8, 1, ...field(2, "e")]);
});

test("another driver is registered under its own name once it is available", async (t) => {
  const { options } = surroundings(t);
  const address = join(temporaryFolder(t), "csi.sock");
  const registering = registerOnBehalf({ ...options, address: `unix://${address}` });
  const identity = serve(Identity, { probe: () => ({}), getPluginInfo: () => ({ name: "other.example.com" }) });
  await startDriver(t, [identity], { address });
  const registration = await registering;
  assert.equal(registration.path, join(options.registryFolder, "other.example.com-reg.sock"));
  const { name, endpoint } = await kubeletAt(t, registration.path).getInfo();
  assert.deepEqual([name, endpoint], ["other.example.com", address]);
});

test("a withdrawn registration leaves no socket behind", async (t) => {
  const { options, stop } = surroundings(t);
  const registration = await createRegistration({ ...options, driver: "dir.example.com", endpoint: "/x" });
  await kubeletAt(t, registration.path).getInfo();
  stop.abort();
  await registration.closed;
  await eventually("the socket is gone", () => !existsSync(registration.path));
});

test("a driver name that would leave the folder is refused", async (t) => {
  const { options } = surroundings(t);
  await assert.rejects(
    createRegistration({ ...options, driver: "../evil", endpoint: "/x" }),
    /is not valid: CSI wants/,
  );
});
