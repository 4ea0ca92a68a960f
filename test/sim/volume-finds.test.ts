/** Histories of the provisioner that were wrong once, each by the schedule that showed it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judged } from "./campaign.ts";
import { parseFaults } from "./faults/index.ts";
import { scenarioNamed } from "./scenarios.ts";

const histories: readonly (readonly [string, string, number, string])[] = [
  ["the server does not answer when the stored calls are to be read", "claim", 12, "13:reply-lost:1,14:http-500:1"],
  [
    "an owner retains a volume that the driver has just deleted",
    "claim-deleted",
    35,
    "19:csi-Unavailable:804192209,22:user-keeps-volume:901949717",
  ],
  [
    "a claim is gone while its watch is silent, and its volume was retained",
    "claim-retained",
    22,
    "10:watch-silent:250915667",
  ],
  [
    "a call is stored, and the reply to the write says that it is not",
    "restore-abandoned",
    14,
    "28:effect-after-the-deadline:57903000,10:user-recreates-snapshot:942590325",
  ],
  [
    "the source of a clone was protected for a call that could not be stored",
    "clone-deleted-at-once",
    172,
    "19:effect-after-the-deadline:507113911",
  ],
  [
    "the call of a clone is settled when its volume is deleted at once",
    "clone-deleted-at-once",
    45,
    "16:csi-NotFound:786238210,0:csi-OutOfRange:158844341,24:process-paused:1451059840",
  ],
  [
    "the outcome of a call is unknown, and its source is gone for good",
    "restore",
    253,
    "38:driver-forgets:1655574156,7:paused-while-sending:147182427,38:user-recreates-claim:223968314",
  ],
  [
    "nobody says for a while that snapshots may be updated, and one is protected",
    "restore-refused",
    2451,
    "8:crash-after-effect:331274673,37:effect-after-the-deadline:307183320,33:crash-request-arrives-late:440799102",
  ],
  [
    "a write of the predecessor removes a call that its successor repeats",
    "clone-deleted-at-once",
    6720,
    "0:list-from-the-past:905870800,26:watch-expired:1001183045,33:crash-request-arrives-late:432716029",
  ],
  [
    "a claim is bound before the cache has its PersistentVolume, which is retained and deleted soon after",
    "volume-kept",
    36,
    "21:http-504-after-effect:29812848,23:slow:1770327077,15:driver-forgets-names:120629814",
  ],
  [
    "a claim is deleted whose call was stored and then denied",
    "across-namespaces-revoked",
    180,
    "65:paused-before-sending:442113060",
  ],
  [
    "a leader that was stopped stores calls when another leads",
    "two-provisioners",
    1035,
    "16:paused-before-sending:1439375179,6:http-500-after-effect:629009902",
  ],
  [
    "a claim was read from the server, and is gone with its retained volume while its watch is silent",
    "volume-kept",
    20001505,
    "22:csi-InvalidArgument:378425003,1:watch-late:1969944451,6:csi-OutOfRange:466245079,5:paused-before-sending:1451112952,22:watch-expired:416865216,18:process-paused:1000858311,36:user-recreates-claim:1520273843,16:http-409:1142479206,34:watch-silent:151156639,1:watch-cut:127488022,1:http-504:1768932650",
  ],
  [
    "a claim was labelled before it was read, and is gone with its retained volume while its watch is late",
    "claim-retained",
    20015299,
    "18:user-labels-everything:1963060078,24:driver-forgets:1268785880,13:watch-late:254882017",
  ],
  [
    "an owner gives a retained volume up and deletes it a millisecond later",
    "volume-kept",
    2800050558,
    "25:user-deletes-storage-class:61219872,13:watch-cut:2003174135,12:paused-while-sending:429648108,29:user-gives-volume-up:354988393,9:relist-everything:390666124",
  ],
  [
    "a user removes the finalizers of a snapshot that is going, while the call that needs it is stored",
    "restore-then-delete",
    2900092035,
    "40:crash-request-arrives-late:737750764,61:answer-truncated:609655704,47:never-answered:1045258246,44:crash-after-effect:24848663,55:user-deletes-content:2132254183,15:http-410:1829641624,26:http-500-after-effect:750095853,68:user-strips-snapshot:622112483",
  ],
  [
    "a volume is created by a late request and released, while a repetition of that request is in flight",
    "claim-with-secret",
    2900085215,
    "17:relist-everything:1600516972,0:list-from-the-past:1810214857,39:http-410:284851240,32:watch-cut:1658341694,9:reply-lost:1040219979,40:effect-after-the-deadline:1205133220,25:watch-truncated:956993646,42:slow:668303707,32:never-answered:1107838663,38:never-answered:221697152",
  ],
  [
    "a write that removes a call arrives after its deadline, and the write after it has stored what was stored before",
    "volume-kept",
    3000050544,
    "0:reply-lost:1748998477,26:paused-while-sending:1390323821,30:effect-after-the-deadline:2100849138,6:driver-forgets:1260893691,7:effect-after-the-deadline:674076852,10:process-paused:2016956730,7:http-503:888171579,8:answer-truncated:9560747",
  ],
  [
    "an owner retains a volume and deletes both objects while the request that has stored it waits to be repeated",
    "volume-kept",
    3100016207,
    "24:http-409:1864497949,11:http-500:803222430,32:http-429:1575710348,15:http-500:752558398,18:slow:2021591713,24:relist-everything:1693443695,29:http-500-after-effect:158519451,13:relist-everything:965120009,6:http-504:1548427547",
  ],
  [
    "a write that stores the id of a volume to delete has an effect and no reply, and the volume is made again",
    "clone-deleted-at-once",
    3100026846,
    "22:csi-Cancelled-after-effect:195167299,30:odd-volume-unreadable-deletions:198390747,25:driver-forgets:303224418,35:crash-all:1570128983,28:http-500-after-effect:1978026008",
  ],
];

for (const [given, scenario, seed, faults] of histories)
  test(`holds when ${given}`, async () => {
    const { violations, struck, trace } = await judged({
      scenario: scenarioNamed(scenario),
      seed,
      faults: parseFaults(faults),
    });
    assert.deepEqual(violations, [], trace().join("\n"));
    assert.ok(struck.length >= faults.split(",").length, `only ${struck.join(", ")} struck`);
  });
