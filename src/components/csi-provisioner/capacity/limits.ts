/** Bounds of the capacity controller. */
export const capacityLimits = {
  /** Answers of GetCapacity that are remembered; one that is forgotten is asked for again. */
  answersMax: 20_000,
  /** The same segment and class are not asked for more often, however many volumes come and go. */
  askAgainMsMin: 1_000,
} as const;
