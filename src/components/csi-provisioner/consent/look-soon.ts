/** Links and grants that a claim needs and that cannot be read: their CRD may have been installed, or the right to read them granted. */
import type { Grants } from "../../../runtime/grants.ts";
import type { Links } from "../../../runtime/links.ts";
import type { VolumeView } from "../volumes/observe.ts";

/** Has what a claim lacks looked for soon. */
export type LookSoon = (view: Pick<VolumeView, "facts">) => void;

export const createLookSoon =
  (links: Pick<Links, "lookSoon"> | undefined, grants: Pick<Grants, "lookSoon"> | undefined): LookSoon =>
  ({ facts: { source } }) => {
    if (source.kind === "unlinked" && source.why === "unreadable") links?.lookSoon();
    if ("access" in source && source.access.kind === "denied" && source.access.why === "unreadable") grants?.lookSoon();
  };
