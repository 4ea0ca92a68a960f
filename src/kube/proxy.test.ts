import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "../base/fault.ts";
import { isProxied, proxyInEnvironment } from "./proxy.ts";

const server = new URL("https://kube.example.com:6443");

test("the variable is that of the server's protocol, in either case, the upper one first", () => {
  const found = (environment: Record<string, string>, of = server) =>
    proxyInEnvironment(of, environment)?.url.href ?? "none";
  assert.equal(found({}), "none");
  assert.equal(found({ HTTPS_PROXY: "http://a:1" }), "http://a:1/");
  assert.equal(found({ https_proxy: "http://b:1" }), "http://b:1/");
  assert.equal(found({ HTTPS_PROXY: "http://a:1", https_proxy: "http://b:1" }), "http://a:1/");
  assert.equal(found({ HTTPS_PROXY: "", https_proxy: "http://b:1" }), "http://b:1/");
  assert.equal(found({ HTTP_PROXY: "http://a:1", ALL_PROXY: "http://a:1" }), "none");
  assert.equal(found({ HTTP_PROXY: "http://a:1" }, new URL("http://kube")), "http://a:1/");
  assert.equal(found({ HTTPS_PROXY: "a:3128" }), "http://a:3128/");
  assert.equal(found({ HTTPS_PROXY: "https://a" }), "https://a/");
  assert.equal(found({ HTTPS_PROXY: "a", NO_PROXY: "example.com" }), "none");
  assert.equal(found({ HTTPS_PROXY: "a", no_proxy: "example.com" }), "none");
  assert.equal(found({ HTTPS_PROXY: "a", NO_PROXY: "other", no_proxy: "example.com" }), "http://a/");
});

test("an invalid proxy URL is one error line with its location, without its password", () => {
  for (const [value, says] of [
    ["socks5://me:s3cret@a:1", /^environment: HTTPS_PROXY: proxies of socks5:\/\/ are not supported; name one/],
    ["http://me:s3cret@", /^environment: HTTPS_PROXY: is no address of a proxy; write it as http:\/\/host:port$/],
    ["http://a:99999/s3cret", /is no address of a proxy/],
    ["http://me:s3cret%@a:1", /has a user or password that is not percent-encoded; write % as %25$/],
  ] as const)
    assert.throws(
      () => proxyInEnvironment(server, { HTTPS_PROXY: value }),
      (reason) => isFault(reason, "InvalidArgument") && says.test(reason.message) && !reason.message.includes("s3cret"),
    );
  assert.equal(proxyInEnvironment(server, { HTTPS_PROXY: "socks5://a:1", NO_PROXY: "*" }), undefined);
});

const direct: readonly (readonly [server: string, noProxy: string])[] = [
  ["https://localhost:6443", ""],
  ["https://LOCALHOST", ""],
  ["https://127.8.0.1", ""],
  ["https://[::1]:6443", ""],
  ["https://kube", "*"],
  ["https://kube", "other, *"],
  ["https://kube.example.com", "example.com"],
  ["https://example.com", "example.com"],
  ["https://kube.example.com", " Example.COM "],
  ["https://kube.example.com", "x,.example.com,y"],
  ["https://kube.example.com", "*.example.com"],
  ["https://kube:6443", "kube:6443"],
  ["https://kube", "kube:443"],
  ["http://kube", "kube:80"],
  ["https://10.96.0.1", "10.96.0.1"],
  ["https://10.96.0.1:6443", "10.96.0.1:6443"],
  ["https://10.96.0.1", "10.0.0.0/8"],
  ["https://[fd00::1]", "fd00::/8"],
  ["https://[fd00::1]", "fd00::1"],
  ["https://[fd00::1]", "fd00:0::1"],
  ["https://[fd00::1]:6443", "[fd00::1]:6443"],
  ["https://[fd00::1]", "[fd00::1]"],
  ["https://[::ffff:10.0.0.1]", "10.0.0.0/8"],
];
for (const [address, noProxy] of direct)
  test(`${address} is reached directly when NO_PROXY is "${noProxy}"`, () => {
    assert.equal(isProxied(new URL(address), noProxy), false);
  });

const proxied: readonly (readonly [server: string, noProxy: string])[] = [
  ["https://kube", ""],
  ["https://kube", ",,"],
  ["https://kube", ":443"],
  ["https://badexample.com", "example.com"],
  ["https://example.com", ".example.com"],
  ["https://example.com", "*.example.com"],
  ["https://example.com.evil.net", "example.com"],
  ["https://kube:6443", "kube:443"],
  ["https://11.96.0.1", "10.0.0.0/8"],
  ["https://10.96.0.1", "10.96.0.1:6443"],
  ["https://10.96.0.1", "10.0.0.0/33"],
  ["https://10.96.0.1", "10.96.0"],
  ["https://kube", "10.0.0.0/8"],
  ["https://[fd00::1]", "fe00::/8"],
  ["https://localhost.example.com", ""],
];
for (const [address, noProxy] of proxied)
  test(`${address} is reached through the proxy when NO_PROXY is "${noProxy}"`, () => {
    assert.equal(isProxied(new URL(address), noProxy), true);
  });
