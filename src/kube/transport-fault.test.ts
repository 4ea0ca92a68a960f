import assert from "node:assert/strict";
import { test } from "node:test";
import { targetAt } from "../../test/http-server.ts";
import { faultOfFailure } from "./transport-fault.ts";

const failures: readonly { code: string; reached: "sent" | "unsent"; fault: string; says: RegExp }[] = [
  {
    code: "ENOTFOUND",
    reached: "unsent",
    fault: "Unavailable",
    says: /the host name kube \(clusters.*\) cannot be resolved; correct it/,
  },
  { code: "EAI_AGAIN", reached: "unsent", fault: "Unavailable", says: /cannot be resolved/ },
  { code: "EHOSTUNREACH", reached: "unsent", fault: "Unavailable", says: /cannot be reached; correct the address/ },
  { code: "CERT_NOT_YET_VALID", reached: "unsent", fault: "Unavailable", says: /is not valid yet; set the clock/ },
  {
    code: "EPROTO",
    reached: "unsent",
    fault: "Unavailable",
    says: /refused the TLS handshake \(EPROTO\)/,
  },
  {
    code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    reached: "sent",
    fault: "Unavailable",
    says: /refused the TLS handshake .*users\[0\]/,
  },
  { code: "ECONNRESET", reached: "unsent", fault: "Unavailable", says: /may be starting or stopping/ },
  { code: "ETIMEDOUT", reached: "unsent", fault: "Unavailable", says: /cannot be reached/ },
  { code: "ETIMEDOUT", reached: "sent", fault: "UnknownOutcome", says: /was cut before the answer was complete/ },
  {
    code: "HPE_INVALID_CONSTANT",
    reached: "sent",
    fault: "UnknownOutcome",
    says: /answered something that is no HTTP\/1\.1 \(HPE/,
  },
  { code: "ECONNRESET", reached: "sent", fault: "UnknownOutcome", says: /was cut before the answer was complete/ },
];
for (const { code, reached, fault, says } of failures)
  test(`${code} on a request that was ${reached} is ${fault}`, () => {
    const explained = faultOfFailure(Object.assign(new Error("x"), { code }), targetAt("https://kube"), reached);
    assert.equal(explained.code, fault);
    assert.match(explained.message, says);
  });
