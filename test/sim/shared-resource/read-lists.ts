/** Allow-lists that have been read, as they are installed. */
import { platformAllowLists } from "../../../src/rules/share-allow-lists.ts";
import type { AllowListReader } from "../../../src/runtime/share-allow-lists.ts";

export const readLists: AllowListReader = {
  current: () => platformAllowLists,
  isRead: () => true,
  read: async () => undefined,
};
