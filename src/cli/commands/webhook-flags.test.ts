import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFlags } from "../../runtime/flags.ts";
import { command } from "./webhook.ts";

/** As the Deployment of OpenShift's shared-resource webhook has them. */
const upstream = [
  "--tls=true",
  "--tlscert=/etc/secrets/tls.crt",
  "--tlskey=/etc/secrets/tls.key",
  "--cacert=/etc/pki/tls/certs/ca-bundle.crt",
  "--listen=127.0.0.1",
  "--port=8443",
];

test("the arguments of OpenShift's shared-resource webhook start ours, and --cacert asks for no client certificate", () => {
  const { options, positionals } = parseFlags(command.flags, upstream);
  assert.equal(command.check?.(options as never, positionals), undefined);
  const { tlsCertFile, tlsPrivateKeyFile, listen, port, clientCaFile } = options as Readonly<Record<string, unknown>>;
  assert.deepEqual(
    [tlsCertFile, tlsPrivateKeyFile, listen, port, clientCaFile],
    ["/etc/secrets/tls.crt", "/etc/secrets/tls.key", "127.0.0.1", 8443, ""],
  );
});

test("a webhook without TLS is refused, because the API server would not call it", () => {
  const { options, positionals } = parseFlags(command.flags, [...upstream.slice(1), "--tls=false"]);
  assert.match(
    command.check?.(options as never, positionals) ?? "",
    /^--tls=false is not served: .*; leave --tls out$/,
  );
});
