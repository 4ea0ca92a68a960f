/**
 * Sends admission reviews over kept TLS connections, one at a time on each, and prints rate, errors and latencies as JSON. A process
 * of its own, and close to the socket: an ordinary HTTP client would cost more than what is measured.
 *
 *   node review-load.ts PORT CONNECTIONS SECONDS
 */
import { connect, type TLSSocket } from "node:tls";

const [port = 0, connections = 0, seconds = 0] = process.argv.slice(2).map(Number);
const group = "snapshot.storage.k8s.io";

const review = (spec: object, index: number) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    kind: { group, version: "v1", kind: "VolumeSnapshot" },
    resource: { group, version: "v1", resource: "volumesnapshots" },
    requestKind: { group, version: "v1", kind: "VolumeSnapshot" },
    requestResource: { group, version: "v1", resource: "volumesnapshots" },
    name: "monday",
    namespace: "team",
    operation: "CREATE",
    userInfo: {
      username: "system:serviceaccount:team:backup",
      groups: ["system:serviceaccounts", "system:authenticated"],
    },
    object: {
      apiVersion: `${group}/v1`,
      kind: "VolumeSnapshot",
      metadata: {
        name: "monday",
        namespace: "team",
        labels: { app: "db", tier: "gold" },
        annotations: { note: "x".repeat(200) },
      },
      spec,
    },
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  },
});
const source = { persistentVolumeClaimName: "data" };
/** One of eight is refused. */
const requests = Array.from({ length: 8 }, (_, index) => {
  const spec = index === 0 ? { source, volumeSnapshotClassName: "" } : { source, volumeSnapshotClassName: "gold" };
  const body = JSON.stringify(review(spec, index));
  return {
    isAllowed: index !== 0,
    bytes: Buffer.from(
      `POST /volumesnapshot?timeout=2s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  };
});

const latenciesMs: number[] = [];
let errors = 0;
const endAt = performance.now() + seconds * 1_000;

const open = (): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => resolve(socket));
    socket.once("error", reject);
  });

async function lane(first: number): Promise<void> {
  const socket = await open();
  socket.setNoDelay(true);
  let received = "";
  let turn = first;
  let sentAt = 0;
  const ended = Promise.withResolvers<void>();
  const send = (): void => {
    received = "";
    turn = (turn + 1) % requests.length;
    sentAt = performance.now();
    socket.write(requests[turn]?.bytes ?? "");
  };
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    received += chunk;
    const end = received.indexOf("\r\n\r\n");
    const length = /content-length: (\d+)/i.exec(received)?.[1];
    if (end === -1 || length === undefined || received.length < end + 4 + Number(length)) return;
    const now = performance.now();
    latenciesMs.push(now - sentAt);
    const isRight = received.includes(`"allowed":${requests[turn]?.isAllowed}`) && received.startsWith("HTTP/1.1 200");
    if (!isRight) errors += 1;
    if (now < endAt) send();
    else ended.resolve();
  });
  socket.on("error", () => {
    errors += 1;
    ended.resolve();
  });
  socket.on("close", () => ended.resolve());
  send();
  await ended.promise;
  socket.destroy();
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: connections }, (_, index) => lane(index)));
const tookSeconds = (performance.now() - startedAt) / 1_000;
latenciesMs.sort((a, b) => a - b);
const at = (share: number): number => latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? 0;
console.log(
  JSON.stringify({
    perSecond: latenciesMs.length / tookSeconds,
    errors,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    reviews: latenciesMs.length,
  }),
);
