import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "../base/fault.ts";
import { createAnswerParser } from "./answer.ts";

/** What a reader is told, in words. Data is joined: where it is cut depends on how it came. */
function told(pieces: readonly string[], method = "GET", isClosed = false): readonly string[] {
  const heard: string[] = [];
  let body = "";
  const parser = createAnswerParser();
  parser.expect(method, {
    head: ({ status, headers }) => void heard.push(`${status} ${JSON.stringify(headers)}`),
    data: (bytes) => {
      body += bytes.toString("latin1");
    },
    end: (isReusable) => void heard.push(`"${body}" ${isReusable ? "and more may be asked" : "and no more"}`),
  });
  for (const piece of pieces) parser.feed(Buffer.from(piece, "latin1"));
  if (isClosed && !parser.finish()) heard.push("cut");
  return heard;
}

const answers: readonly {
  readonly given: string;
  readonly bytes: string;
  readonly method?: string;
  readonly isClosed?: true;
  readonly hears: readonly string[];
}[] = [
  {
    given: "a length",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A:  b \r\n\r\n{  }",
    hears: ['200 {"content-length":"4","x-a":"b"}', '"{  }" and more may be asked'],
  },
  {
    given: "no reason after the status",
    bytes: "HTTP/1.1 404\r\ncontent-length: 0\r\n\r\n",
    hears: ['404 {"content-length":"0"}', '"" and more may be asked'],
  },
  {
    given: "chunks, with an extension and a trailer",
    bytes:
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\n{\r\n\r\nA \r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n",
    hears: ['200 {"transfer-encoding":"Chunked"}', '"{\r\n0123456789" and more may be asked'],
  },
  {
    given: "a header twice",
    bytes: "HTTP/1.1 204 No Content\r\nWarning: 299 a\r\nWarning: 299 b\r\n\r\n",
    hears: ['204 {"warning":"299 a, 299 b"}', '"" and more may be asked'],
  },
  {
    given: "a wish to close the connection",
    bytes: "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok",
    hears: ['200 {"connection":"Close","content-length":"2"}', '"ok" and no more'],
  },
  {
    given: "HTTP/1.0",
    bytes: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    hears: ['200 {"content-length":"2"}', '"ok" and no more'],
  },
  {
    given: "Continue before it",
    bytes: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    hears: ['200 {"content-length":"2"}', '"ok" and more may be asked'],
  },
  {
    given: "a length and no body, being asked for its head only",
    method: "HEAD",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
    hears: ['200 {"content-length":"2"}', '"" and more may be asked'],
  },
  {
    given: "its end where the connection ends",
    bytes: "HTTP/1.1 200 OK\r\nA: b\r\n\r\nall of it",
    isClosed: true,
    hears: ['200 {"a":"b"}', '"all of it" and no more'],
  },
  {
    given: "a length, and cut before it",
    bytes: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nall",
    isClosed: true,
    hears: ['200 {"content-length":"10"}', "cut"],
  },
  {
    given: "chunks, and cut between two of them",
    bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nall\r\n",
    isClosed: true,
    hears: ['200 {"transfer-encoding":"chunked"}', "cut"],
  },
];
for (const { given, bytes, method, isClosed, hears } of answers)
  test(`an answer with ${given} is read the same in one piece, byte by byte, and cut anywhere`, () => {
    assert.deepEqual(told([bytes], method, isClosed), hears);
    assert.deepEqual(told([...bytes], method, isClosed), hears);
    for (let cut = 1; cut < bytes.length; cut++)
      assert.deepEqual(told([bytes.slice(0, cut), bytes.slice(cut)], method, isClosed), hears, `cut at ${cut}`);
  });

const sized = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const wrongs: Readonly<Record<string, readonly [bytes: string, why: RegExp]>> = {
  "another protocol": ["SSH-2.0-OpenSSH_9.2\r\n\r\n", /does not begin with HTTP\/1\.1/],
  "HTTP/2": ["HTTP/2 200\r\n\r\n", /does not begin with HTTP\/1\.1/],
  "a change of protocol": ["HTTP/1.1 101 Switching Protocols\r\n\r\n", /another protocol/],
  "a blank before a colon": ["HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\n", /no name/],
  "a folded header": ["HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", /no name/],
  "a line without a colon": ["HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", /no name/],
  "two lengths": [`${sized}Content-Length: 3\r\n\r\n`, /content-length is "2, 3"/],
  "a negative length": ["HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n", /content-length is "-2"/],
  "a length and chunks": [`${sized}Transfer-Encoding: chunked\r\n\r\n`, /both a content-length and/],
  "another encoding": ["HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", /is "gzip, chunked"/],
  "a chunk without a size": [`${chunked}zz\r\n`, /no size/],
  "a negative chunk": [`${chunked}-1\r\n`, /no size/],
  "a chunk of more than can be": [`${chunked}fffffffffffff\r\n`, /no size/],
  "a chunk longer than it says": [`${chunked}1\r\nab\r\n`, /longer than it says/],
  "a second answer": [`${sized}\r\nokHTTP/1.1 200 OK\r\n`, /more follows/],
  "a head without an end": [`HTTP/1.1 200 OK\r\nA: ${"b".repeat(70_000)}`, /longer than 65536 bytes/],
  "a chunk size without an end": [`${chunked}1;${"b".repeat(70_000)}`, /longer than 65536 bytes/],
};
for (const [given, [bytes, why]] of Object.entries(wrongs))
  test(`an answer with ${given} is refused`, () => {
    assert.throws(
      () => told([bytes]),
      (reason) => isFault(reason, "Lost") && why.test(reason.message),
    );
  });

test("what nobody has asked for is refused", () => {
  assert.throws(() => createAnswerParser().feed(Buffer.from("HTTP/1.1 408 Too late\r\n\r\n")), /nothing was asked for/);
});

test("one answer after the other is read from one connection", () => {
  const parser = createAnswerParser();
  const statuses: number[] = [];
  const ask = (): void =>
    parser.expect("GET", {
      head: ({ status }) => void statuses.push(status),
      data: () => undefined,
      end: () => {
        if (statuses.length < 3) ask();
      },
    });
  ask();
  for (const status of [200, 404, 409])
    parser.feed(Buffer.from(`HTTP/1.1 ${status} So\r\nContent-Length: 2\r\n\r\n{}`));
  assert.deepEqual(statuses, [200, 404, 409]);
});
