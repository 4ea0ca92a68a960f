/** All behaviours of drivers that are played; add a row to one of these tables, or a table of your own. */
import type { Row } from "./row.ts";
import { claimRows } from "./rows/claims.ts";
import { errorRows } from "./rows/errors.ts";
import { handleRows } from "./rows/handles.ts";
import { metadataRows } from "./rows/metadata.ts";
import { unreadableRows } from "./rows/unreadable.ts";

export const rows: readonly Row[] = [...metadataRows, ...unreadableRows, ...handleRows, ...errorRows, ...claimRows];
