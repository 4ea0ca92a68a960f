/** The world of tests is that in which `snapkeep what-if` runs a copy of a cluster. */
export { createVirtualWorld, diceFrom, type VirtualWorld } from "../src/runtime/virtual-world.ts";
