/** Watches of the calling component: disconnected, expired, doubled, late, truncated, or silent. */
import type { Tap } from "../tap.ts";
import { boundaryKinds, pass } from "../verdict.ts";
import { type FaultRow, oneOf, type Strike } from "./fault.ts";

/** All of its watches, or one of them. */
function someTaps({ incarnation, draw }: Strike): readonly Tap[] {
  const taps = [...incarnation.taps];
  const [first, ...others] = taps;
  return first === undefined || draw() < 0.4 ? taps : [oneOf(draw, [first, ...others])];
}

const watchSilenceMs = 90_000;

const onTaps = (name: string, change: (tap: Tap, strike: Strike) => void): FaultRow => ({
  name,
  family: "watch",
  on: boundaryKinds,
  strike: (strike) => {
    for (const tap of someTaps(strike)) change(tap, strike);
    return pass;
  },
});

export const watchFaults: readonly FaultRow[] = [
  onTaps("watch-cut", (tap) => tap.disconnect()),
  onTaps("watch-expired", (tap) => tap.expire()),
  onTaps("watch-doubled", (tap) => tap.repeat()),
  onTaps("watch-late", (tap, { draw, slow }) => {
    const ms = oneOf(draw, [500, 5_000, 60_000]);
    slow(ms);
    tap.hold(ms);
  }),
  onTaps("watch-truncated", (tap) => tap.breakOff()),
  onTaps("watch-silent", (tap, { slow }) => {
    slow(watchSilenceMs);
    tap.silence();
  }),
];
