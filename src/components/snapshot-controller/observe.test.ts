import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aSnapshot } from "../../../test/builders.ts";
import { keyOf } from "../../api/types.ts";
import { createStores } from "../../kube/stores.ts";
import { observeClaim } from "./observe.ts";
import { storeTable } from "./wakes.ts";

test("a claim looks at its snapshots that are not ready, and only as far as it must", () => {
  const stores = createStores(storeTable);
  const claim = aClaim();
  stores.PersistentVolumeClaim.see(claim);
  const named = (name: string, readyToUse: boolean) =>
    aSnapshot({ metadata: { name, uid: `uid-${name}` }, status: { readyToUse } });
  for (const name of ["a", "b"]) stores.VolumeSnapshot.see(named(name, true));
  for (const name of ["c", "d"]) stores.VolumeSnapshot.see(named(name, false));
  let looks = 0;
  const options = { preventVolumeModeConversion: true, nodeOf: () => undefined };
  const counting = {
    ...stores,
    VolumeSnapshot: {
      ...stores.VolumeSnapshot,
      get: (key: Parameters<typeof stores.VolumeSnapshot.get>[0]) => {
        looks += 1;
        return stores.VolumeSnapshot.get(key);
      },
    },
  };
  const view = observeClaim(counting, options, keyOf(claim), 0);
  const [first] = view?.snapshots ?? [];
  assert.equal(first?.snapshot.metadata.name, "c");
  assert.equal(looks, 1);
});
