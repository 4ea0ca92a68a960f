/** How the client is let in by the real kube-apiserver, and what it says when it is not. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { isFault } from "../../src/base/fault.ts";
import { createAuthority } from "./harness/certificates.ts";
import { connect } from "./harness/client.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { freePort } from "./harness/ports.ts";
import { refused } from "./harness/refused.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";

describe("the client at the door of the real API server", () => {
  let plane: ControlPlane;
  let namespace: string;
  before(async () => {
    plane = await useControlPlane();
    namespace = await newNamespace(plane, "access");
  });

  interface Kubeconfig {
    readonly url?: string;
    readonly ca?: string;
    readonly user: object;
  }
  /** A kubeconfig that differs from the administrator's in one thing. */
  function kubeconfigWith(name: string, { url = plane.url, ca, user }: Kubeconfig): string {
    const path = join(plane.folder, `${name}.client.json`);
    const authority =
      ca === undefined
        ? { "certificate-authority": plane.caFile }
        : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
    writeFileSync(
      path,
      JSON.stringify({
        "current-context": "x",
        contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
        clusters: [{ name: "x", cluster: { server: url, ...authority } }],
        users: [{ name: "x", user }],
      }),
    );
    return path;
  }

  test("a client certificate is accepted", async () => {
    const me = plane.authority.issue({ commonName: "certified", organizations: ["system:masters"] });
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const user = { "client-certificate-data": base64(me.certificate), "client-key-data": base64(me.key) };
    const { client: certified, close } = await connect(kubeconfigWith("certified", { user }));
    assert.equal((await certified.get({ kind: "Namespace", name: namespace })).metadata.name, namespace);
    close();
  });

  test("a wrong token, a wrong authority and a missing server are one error line each", async () => {
    const readWith = async (path: string): Promise<unknown> => {
      const { client: other, close } = await connect(path);
      return other.get({ kind: "Namespace", name: namespace }).finally(close);
    };
    const wrongToken = kubeconfigWith("token", { user: { token: "expired-long-ago" } });
    await assert.rejects(readWith(wrongToken), (reason) => {
      assert.ok(isFault(reason, "Unauthenticated"), String(reason));
      assert.equal(
        reason.message,
        `${plane.url} does not accept the credentials (users[0].user.token in ${wrongToken}): they are wrong or have expired; renew them`,
      );
      return true;
    });
    const wrongAuthority = kubeconfigWith("authority", {
      ca: createAuthority("stranger").certificate,
      user: { token: plane.token },
    });
    await refused(
      readWith(wrongAuthority),
      "Unavailable",
      /shows a certificate that the authority \(clusters\[0\]\.cluster\.certificate-authority-data in .*\) has not signed; /,
    );
    const nobody = kubeconfigWith("nobody", {
      url: `https://127.0.0.1:${await freePort()}`,
      user: { token: plane.token },
    });
    await refused(
      readWith(nobody),
      "Unavailable",
      /^nothing answers at https:\/\/127\.0\.0\.1:\d+ \(clusters\[0\]\.cluster\.server in .*\); start the API server or correct the address$/,
    );
    const wrongName = kubeconfigWith("name", {
      url: plane.url.replace("127.0.0.1", "127.0.0.2"),
      user: { token: plane.token },
    });
    await assert.rejects(readWith(wrongName), (reason) => isFault(reason, "Unavailable"));
  });

  test("a renewed token file is used as soon as the old token is refused", async () => {
    const file = join(plane.folder, "renewed.token");
    writeFileSync(file, plane.token);
    const { client: renewing, close } = await connect(kubeconfigWith("renewed", { user: { tokenFile: file } }));
    await renewing.get({ kind: "Namespace", name: namespace });
    writeFileSync(file, "not-this-one");
    assert.equal((await renewing.get({ kind: "Namespace", name: namespace })).metadata.name, namespace);
    writeFileSync(file, plane.token);
    close();
  });

  test("a forbidden request has an error that names the missing right", async () => {
    const me = plane.authority.issue({ commonName: "nobody-special" });
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const user = { "client-certificate-data": base64(me.certificate), "client-key-data": base64(me.key) };
    const { client: limited, close } = await connect(kubeconfigWith("limited", { user }));
    await refused(
      limited.list("Secret", { namespace }),
      "PermissionDenied",
      /User "nobody-special" cannot list resource "secrets"/,
    );
    close();
  });
});
