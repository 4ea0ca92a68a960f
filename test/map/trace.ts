/** One walk through the sources: what happens between two requests or calls, and which functions run for the first time meanwhile. */
import type { HttpRequest } from "../../src/base/http.ts";
import { type Called, startCoverage } from "./coverage.ts";

export interface Step {
  /** Functions that had not run before in this walk. */
  readonly first: readonly Called[];
  /** The request or the call that ended the step: "snapshot-controller: POST volumesnapshotcontents"; undefined for the last. */
  readonly before: string | undefined;
}

export interface Walk {
  readonly title: string;
  readonly about: string;
  readonly steps: readonly Step[];
}

export interface Trace {
  /** Before this, nothing counts: components start, caches are read. */
  begin(): void;
  /** Something leaves a component. */
  leaves(what: string): void;
  end(): readonly Step[];
}

export function createTrace(): Trace {
  const coverage = startCoverage();
  const seen = new Set<string>();
  const steps: Step[] = [];
  let isOpen = false;
  const close = (before: string | undefined): void => {
    const first = coverage.take().filter(({ file, at }) => {
      const id = `${file}:${at}`;
      return !seen.has(id) && seen.add(id);
    });
    steps.push({ first, before });
  };
  return {
    begin() {
      coverage.take();
      isOpen = true;
    },
    leaves(what) {
      if (isOpen) close(what);
    },
    end() {
      close(undefined);
      isOpen = false;
      coverage.end();
      return steps;
    },
  };
}

/** "PATCH volumesnapshots/status" */
export function requestName({ method, path }: HttpRequest): string {
  const [bare = ""] = path.split("?", 1);
  const parts = bare.split("/").slice(bare.startsWith("/api/") ? 3 : 4);
  const [resource = "", , subresource] = parts[0] === "namespaces" && parts.length > 2 ? parts.slice(2) : parts;
  return `${method} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
}
