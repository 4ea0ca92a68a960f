/** Undecodable replies: the snapshot must still be deletable. */
import type { Script } from "../driver.ts";
import { deletesNothing, type Row } from "../row.ts";
import { type Answer, bytes, message, noReply, rawRefusal, refusal } from "../wire.ts";

const invalidArgument = 3;

const unreadable: readonly { readonly what: string; readonly answer: Answer }[] = [
  { what: "nothing at all", answer: noReply },
  { what: "bytes that are not a message", answer: bytes(0x0a, 0xff, 0xff, 0x07) },
  { what: "with code 99, which gRPC does not know", answer: refusal(99, "what?") },
  { what: "with code 17, the first that gRPC does not know", answer: refusal(17, "what?") },
  { what: "with code -1", answer: refusal(-1, "what?") },
];
/** Two that can be read, and name no snapshot. */
const nameless: typeof unreadable = [
  { what: "without a snapshot", answer: message({}) },
  { what: "with an empty snapshot_id", answer: message({ snapshot: { readyToUse: true } }) },
];

/** Nothing was taken: the answer is all there is. */
const always = (answer: Answer): Script => ({ createSnapshot: () => answer });

export const unreadableRows: readonly Row[] = [
  ...[...unreadable, ...nameless].map(
    ({ what, answer }): Row => ({
      driver: `answers a request to take a snapshot ${what}`,
      script: always(answer),
      right: { ready: false },
      says: /Failed to create snapshot/,
      reports: /let go.* snapshot "snapshot-[0-9a-f-]{36}" of volume "data" may be left/,
      shows: deletesNothing,
    }),
  ),
  ...unreadable.map(
    ({ what, answer }): Row => ({
      driver: `answers a request to delete a snapshot ${what}, though it has deleted it`,
      script: {
        deleteSnapshot: ({ honest }) => {
          honest();
          return answer;
        },
      },
      reports: /let go.* snapshot "taken-snapshot-.*" may be left/,
    }),
  ),
  ...unreadable.map(
    ({ what, answer }): Row => ({
      driver: `answers a list ${what}`,
      handle: "kept",
      script: { holds: ["kept"], listSnapshots: () => answer },
      right: { ready: false, left: ["kept"] },
      says: /Failed to check and update snapshot content/,
      reports: /let go without DeleteSnapshot.*"kept"/,
      shows: deletesNothing,
    }),
  ),
  {
    driver: "answers the first request to take a snapshot with bytes that are not a message",
    script: {
      createSnapshot: ({ honest, times }) => (times === 1 ? bytes(0x0a, 0xff) : message(honest())),
    },
  },
  {
    driver: "refuses with a text of invalid UTF-8",
    script: always(rawRefusal(invalidArgument, "the%20pool%20%22gr%F6%DFe%22%20is%20full")),
    right: { ready: false },
    says: /the pool .{1,2}gr.+e.{1,2} is full/,
  },
  {
    driver: "refuses with a text of many alphabets",
    script: always(refusal(invalidArgument, "100 % of pool “größe” is used, 容量不足")),
    right: { ready: false },
    says: /100 % of pool “größe” is used, 容量不足/,
  },
  {
    driver: "takes a snapshot, and replies with bytes that are not a message",
    script: {
      createSnapshot: ({ honest }) => {
        honest();
        return bytes(0x0a, 0xff);
      },
    },
    // Nobody knows its handle: all that can be done is to say what may be there.
    right: { ready: false, left: ["taken"] },
    reports: /let go.* snapshot "snapshot-[0-9a-f-]{36}" of volume "data" may be left/,
  },
  {
    driver: "lists an entry without a snapshot",
    handle: "kept",
    script: { holds: ["kept"], listSnapshots: () => message({ entries: [{}] }) },
    right: { ready: false, left: ["kept"] },
    says: /Failed to check and update snapshot content/,
    shows: deletesNothing,
  },
  {
    driver: "lists an entry with an empty snapshot_id",
    handle: "kept",
    script: { holds: ["kept"], listSnapshots: () => message({ entries: [{ snapshot: { readyToUse: true } }] }) },
    right: { ready: false, left: ["kept"] },
    says: /Failed to check and update snapshot content/,
    shows: deletesNothing,
  },
];
