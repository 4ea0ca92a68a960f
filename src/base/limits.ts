/** Every queue, body, loop and wait has a named bound: here if layers share it, in `limits.ts` of a component otherwise. */
export const limits = {
  queueKeysMax: 100_000,
  /** At verbosity 4: keys of which a controller remembers what it has decided last. */
  decisionsRememberedMax: 2_048,
  /** Lines about decisions in each window: of one object, and of one controller. */
  decisionLinesPerKeyMax: 20,
  decisionLinesMax: 5_000,
  decisionLinesMs: 10_000,
  requestBytesMax: 3 * 2 ** 20,
  responseBytesMax: 256 * 2 ** 20,
  /** From the first byte sent to the last of a whole answer. */
  requestMsMax: 30_000,
  /** Before the first byte: credentials, a free connection or a new one. Longer than a plugin may take, which says more. */
  connectionMsMax: 70_000,
  listPageObjects: 500,
  listRestartsMax: 2,
  /** A list that is read page by page fails after so many retries of one page: about half a minute of an unreachable server. */
  listPageRetriesMax: 10,
  socketsPerHostMax: 32,
  socketIdleMsMax: 60_000,
  credentialFileMsMax: 10_000,
  execPluginMsMax: 60_000,
  execPluginBytesMax: 2 ** 20,
  retryAfterMsMax: 30_000,
  retryAfterAttemptsMax: 5,
  /** An object whose API server could not be reached waits no longer than this, however often it fails. */
  unreachedRetryMsMax: 10_000,
  /** A timer that rings so late says that the process was stopped. */
  retryLateMsMax: 2_000,
  watchMsMin: 240_000,
  watchMsMax: 540_000,
  /** kube-apiserver sends a bookmark about once a minute, as soon as it has seen an event of the kind. */
  watchSilenceMsMax: 90_000,
  /** Silent watches in a row, half an hour in total, before a new list. */
  watchSilencesMax: 20,
  /** All pages of a list; each request has its own, shorter, bound. */
  listMsMax: 300_000,
  watchRetryMsMin: 100,
  watchRetryMsMax: 10_000,
  /** How often it is asked whether a kind that the cluster need not have is served and may be read; how soon after a failure; and how long work waits for it. */
  optionalKindRecheckMs: 60_000,
  optionalKindRetryMs: 1_000,
  optionalKindMsMax: 10_000,
  /** The same where something waits for the kind. */
  optionalKindAwaitedMs: 5_000,
  /** How long what cannot be taken back waits for it, if something may depend on it. */
  optionalKindUndecidedMsMax: 300_000,
  /** A driver that sends so many replies that cannot be decoded, and no other, is not waited for. */
  malformedRepliesMax: 5,
  /** A watch that stayed open so long worked, even if nothing happened meanwhile. */
  watchLivelyMsMin: 1_000,
  /** Failed attempts to resume a watch before a new list. */
  watchResumesMax: 5,
  /** How seldom a candidate may look at the lease of another. */
  leaseLookMsMax: 1_000,
  /** A young candidate looks more often. */
  leaseLookMsMin: 250,
  /** A candidate leaves a released lease to younger ones for this part of its own age, but not for longer than the maximum. */
  leaseYieldRatio: 10,
  leaseYieldMsMax: 4_000,
  leaseAttemptMsMin: 1_000,
  leaseReleaseMsMax: 5_000,
  eventsWaitingMax: 4_096,
  eventLingerMs: 500,
  /** Between two events, so many times as long as the first took. */
  eventPausesPerAnswer: 4,
  eventPauseMsMax: 1_000,
  /** How long good news waits while the component is busy, and how often it looks. */
  eventBusyMsMax: 10_000,
  eventBusyLookMs: 100,
  eventTriesMax: 12,
  eventRetryMsMin: 500,
  eventRetryMsMax: 10_000,
  /** The recorder remembers what it sent for so many objects, reasons and messages. */
  eventSeriesMax: 4_096,
  eventAlikeMax: 10,
  eventAlikeMs: 600_000,
  eventBurstMax: 25,
  eventRefillMs: 300_000,
  eventMessageCharsMax: 1_024,
  /** Objects of which a process remembers which version the server last answered. */
  answeredVersionsMax: 10_000,
  /** The longest name that a Kubernetes object can have. */
  nameCharsMax: 253,
  csiCallMsMax: 60_000,
  /** A call that takes less does not hang, however quick its like are. */
  callHangsMsMin: 5_000,
  /** For each call that a component makes at once, so many may hang. */
  hangingCallsPerSlotMax: 3,
  /** Calls to a driver that were started less than `newCallMs` ago. */
  newCallsAtOnce: 8,
  newCallMs: 100,
  /** Time without a reply to Probe before a log message, and between two of them. */
  csiProbeNoticeMs: 1_500,
  csiProbeNoticeEveryMs: 60_000,
  csiProbeEveryMs: 1_000,
  /** Between two attempts to read the capabilities of a driver that came back. */
  csiReadAgainMsMax: 30_000,
  csiReconnectMsMax: 1_000,
  csiCutOffMs: 1_000,
  registrationDrainMs: 1_000,
  csiMessageBytesMax: 64 * 2 ** 20,
  csiErrorCharsMax: 4_096,
  /** sockaddr_un has 108 bytes, the last of them zero. */
  socketPathBytesMax: 107,
  shutdownMsMax: 25_000,
  /** For a controller that shares its process with others and has lost its lease: longer than running work may take to end. */
  controllerDrainMsMax: 30_000,
  serveHandshakeMsMax: 5_000,
  serveHeadersMsMax: 10_000,
  serveRequestMsMax: 60_000,
  /** Longer than the 90 s after which Go's clients drop an idle connection, so that the server never closes a connection in use. */
  serveIdleMsMax: 120_000,
  serveHeaderBytesMax: 64 * 2 ** 10,
  serveConnectionsMax: 4_096,
  /** The limit of all request bodies that are still arriving at one port. */
  serveBodiesBytesMax: 256 * 2 ** 20,
  /** To metrics and health: kubelet, Prometheus and a person or two. */
  statusConnectionsMax: 32,
} as const;
