/** Every queue, body, loop and wait has a named bound, and the names are here. Units stand last. */
export const limits = {
  queueKeysMax: 100_000,
  requestBytesMax: 3 * 2 ** 20,
  responseBytesMax: 256 * 2 ** 20,
  requestMsMax: 30_000,
  listPageObjects: 500,
  socketsPerHostMax: 32,
  socketIdleMsMax: 60_000,
  watchMsMin: 240_000,
  watchMsMax: 540_000,
  watchSilenceMsMax: 90_000,
  csiCallMsMax: 60_000,
  shutdownMsMax: 25_000,
} as const;
