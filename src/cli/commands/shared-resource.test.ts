import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFlags } from "../../runtime/flags.ts";
import { command } from "./shared-resource.ts";

test("the arguments of the driver that is replaced are accepted, with its metrics port and certificate files", () => {
  const { options } = parseFlags(command.flags, [
    "--config=/var/run/configmaps/config/config.yaml",
    "--drivername=csi.sharedresource.openshift.io",
    "--v=4",
    "--nodeid=node-1",
  ]);
  assert.equal(command.check?.(options, []), undefined);
  assert.deepEqual(
    [options.mode, options.endpoint, options.httpsEndpoint, options.tlsCertFile, options.tlsPrivateKeyFile],
    ["node", "unix:///csi/csi.sock", ":6000", "/etc/secrets/tls.crt", "/etc/secrets/tls.key"],
  );
});

test("an address without a port is refused", () => {
  const { options } = parseFlags(command.flags, ["--nodeid=node-1", "--https-endpoint=localhost"]);
  assert.match(command.check?.(options, []) ?? "", /^--https-endpoint: "localhost" is not valid: .*=:8080$/);
});
