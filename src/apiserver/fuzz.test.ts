import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";
import { complaintAbout } from "../../test/fuzz/judge.ts";
import { diceFrom, hostileRequest } from "../../test/fuzz/requests.ts";
import { snapshotCrds } from "../api/crds/index.ts";

const requests = 1_500;

test(`${requests} hostile requests all get a valid response, and change no prototype`, async () => {
  const server = startApiServer({ definitions: snapshotCrds(3) });
  const complaints: string[] = [];
  for (let seed = 1; seed <= requests; seed += 1) {
    const request = hostileRequest(diceFrom(seed));
    const complaint = await complaintAbout(server.handler, request);
    if (complaint !== undefined)
      complaints.push(`seed ${seed}: ${request.method} ${request.path.slice(0, 150)}: ${complaint}`);
  }
  assert.deepEqual(complaints, []);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  assert.equal(server.watches(), 0);
});
