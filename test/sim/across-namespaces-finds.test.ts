/** Histories of restores across namespaces that were wrong once: the monitors did not know links or took any grant, the controller deleted a snapshot before it knew the grants, or a claim was not looked at again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenIn } from "./once-found.ts";

const histories: readonly (readonly [string, string, number, string])[] = [
  [
    "a claim that names a link waits for its class, and holds the snapshot",
    "across-namespaces-by-link",
    20003973,
    "58:user-deletes-storage-class:975476957",
  ],
  [
    "a claim has a grant that is for links, and does not hold the snapshot",
    "across-namespaces-by-the-wrong-grant",
    20004209,
    "21:reply-lost:1468522583,62:user-recreates-snapshot:158579606",
  ],
  [
    "a link is gone, and the volume that was asked for through it is deleted together with the snapshot",
    "across-namespaces-by-link",
    20011108,
    "77:relist-everything:971670471,71:odd-volume-sourceless:890077741,77:csi-Unavailable:2126395018,95:user-deletes-snapshot:2062785439,12:effect-after-the-deadline:885797265,75:user-deletes-link:821218424,37:driver-forgets:1763799906",
  ],
  [
    "the controller cannot read links for ten seconds, and a snapshot is deleted then, which waits",
    "across-namespaces-granted-again",
    20019006,
    "71:csi-DataLoss:683519065,45:relist-everything:52387936,42:request-lost:2079846865,21:user-deletes-snapshot:469313992,83:crash-after-effect:1654519615,42:effect-after-the-deadline:1112981227",
  ],
  [
    "the controller cannot read grants for ten seconds, and a snapshot is deleted then, which waits",
    "across-namespaces-by-ref",
    20020551,
    "47:crash-after-effect:268410805,42:process-paused:1723739283,61:effect-after-the-deadline:11383589,81:user-deletes-snapshot:966208680",
  ],
  [
    "a claim is granted its source while the volume of an earlier call is being deleted",
    "across-namespaces-granted-late",
    2100048259,
    "71:driver-forgets:1877306157,71:crash-after-reply:896337910,23:csi-ResourceExhausted-after-effect:556430962,73:paused-while-sending:1556414365,27:csi-Unavailable-after-effect:579019673,20:http-504-after-effect:1136125678",
  ],
  [
    "a user removes the finalizers of a snapshot while its controller starts, and deletes it when no call is in flight",
    "across-namespaces-granted-again",
    2400020043,
    "57:user-strips-snapshot:454581888,19:reply-lost:1812099873,48:csi-DataLoss:1134573098,89:user-recreates-snapshot:1863774719,56:relist-everything:487512261,31:crash-after-effect:617391667",
  ],
];

for (const [given, scenario, seed, plan] of histories)
  test(`nothing is reported when ${given}`, async () => assert.deepEqual(await brokenIn({ scenario, seed, plan }), []));
