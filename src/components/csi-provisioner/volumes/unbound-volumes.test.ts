import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolume } from "../../../api/types.ts";
import { volumeName } from "../identity.ts";
import { createUnboundVolumes } from "./unbound-volumes.ts";

type Listener = (before: PersistentVolume | undefined, after: PersistentVolume | undefined) => void;

function setUp() {
  const cached = new Map<string, PersistentVolume>();
  let tell: Listener = () => undefined;
  const unbound = createUnboundVolumes({ onChange: (listener) => (tell = listener) }, (name) => cached.get(name));
  /** The cache sees the PersistentVolume in this phase; without one it is gone. */
  const see = (name: string, phase: string | undefined): void => {
    const before = cached.get(name);
    const after =
      phase === undefined ? undefined : ({ metadata: { name }, status: { phase } } as unknown as PersistentVolume);
    if (after === undefined) cached.delete(name);
    else cached.set(name, after);
    tell(before, after);
  };
  return { unbound, see };
}

for (const end of ["Bound", "Released", "Failed", undefined])
  test(`a stored PersistentVolume counts as unbound until it is ${end?.toLowerCase() ?? "gone"}`, () => {
    const { unbound, see } = setUp();
    see("pvc-1", "Pending");
    unbound.add(volumeName("pvc-1"));
    see("pvc-1", "Available");
    assert.equal(unbound.areThere(), true);
    see("pvc-1", end);
    assert.equal(unbound.areThere(), false);
  });

test("a PersistentVolume that was bound before the reply came does not count", () => {
  const { unbound, see } = setUp();
  see("pvc-1", "Bound");
  unbound.add(volumeName("pvc-1"));
  unbound.add(volumeName("pvc-that-is-gone-again"));
  assert.equal(unbound.areThere(), false);
});

test("PersistentVolumes of others do not count", () => {
  const { unbound, see } = setUp();
  see("pv-of-an-administrator", "Available");
  assert.equal(unbound.areThere(), false);
});
