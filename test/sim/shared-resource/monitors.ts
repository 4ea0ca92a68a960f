/** What must hold at every moment: I-30 to I-33, I-39 and I-40 of the reliability rules, and the numbers of requests. */

import type { HttpRequest, HttpResponse } from "../../../src/base/http.ts";
import { isObject, parse } from "../../../src/base/json.ts";
import type { FileSet, VolumeSpec } from "../../../src/components/shared-resource/node/types.ts";
import { lackedRight } from "../shipped-rights.ts";
import type { Machine } from "./memory-host.ts";
import { filesOf, shareId, type Truth, wantedIn } from "./truth.ts";

export interface Monitors {
  readonly violations: string[];
  shown(target: string): void;
  /** A component has sent it. */
  request(request: HttpRequest, component: string): void;
  reply(request: HttpRequest, response: HttpResponse, startedMs: number): void;
  /** Looks at all volumes, some time after the last change and the last fault. */
  look(state: { readonly calmSinceMs: number }): void;
  /** Shares whose condition is wrong, so long after the last change and the last fault. */
  conditions(wrong: readonly string[], calmMs: number): void;
  /** All volumes were unpublished. */
  end(): void;
  published(spec: VolumeSpec): void;
  unpublishing(id: string): void;
  unpublished(id: string): void;
  /** A new process knows nothing of the questions of the old one. */
  restarted(): void;
}

/** The bound for removal and update, with the time that the simulated machine takes for a step. */
const boundMs = 10_000;
/** A watch that resumes after the longest cut repeats what happened meanwhile: a share that was deleted and created again. */
const repeatMs = 50_000;
const stepsMs = 500;
const reviewEveryMs = 5_000;
/** How old a permission may be where roles are watched: nothing has told of a change meanwhile. */
const watchedBoundMs = 35_000;

interface Asked {
  readonly startedMs: number;
  readonly allowed: boolean;
}

export function createMonitors(now: () => number, truth: Truth, machine: Machine, watchesRoles = false): Monitors {
  const violations: string[] = [];
  const specs = new Map<string, VolumeSpec>();
  const reviews = new Map<string, Asked[]>();
  /** The last two of each subject. */
  const askedAt = new Map<string, readonly number[]>();
  /** When the truth, or a reply, last said no about a volume; for what may be taken away. */
  const noAt = new Map<string, number>();
  /** What each volume showed before the change that is being looked at. */
  const lastShown = new Map<string, string | undefined>();
  const break_ = (rule: string, text: string): void => {
    if (violations.length < 20) violations.push(`${rule} at ${(now() / 1000).toFixed(1)} s: ${text}`);
  };
  const subjectOf = ({ shareKind, share, pod }: VolumeSpec): string =>
    `${shareKind.toLowerCase()}s ${share} system:serviceaccount:${pod.namespace}:${pod.serviceAccount}`;

  const checkSet = (spec: VolumeSpec, files: FileSet): void => {
    const texts = new Set([...files.values()].map((bytes) => Buffer.from(bytes).toString()));
    const [version = ""] = texts;
    const whole = Object.entries(filesOf(version));
    if (texts.size !== 1 || files.size !== whole.length || whole.some(([name]) => !files.has(name)))
      break_("I-33", `volume ${spec.id} shows a mix: ${[...files.keys()].join(" ")} of ${[...texts].join(" ")}`);
    const references = truth.references.get(shareId(spec.shareKind, spec.share)) ?? new Set();
    if (![...references].some((source) => truth.versions.get(source)?.has(version)))
      break_("I-30", `volume ${spec.id} shows ${version}, which its share never referred to`);
  };

  const noteNo = (): void => {
    for (const spec of specs.values())
      if (wantedIn(truth, spec, lastShown.get(spec.id)) === undefined)
        noAt.set(spec.id, Math.max(noAt.get(spec.id) ?? 0, now()));
  };

  return {
    violations,
    published: (spec) => void specs.set(spec.id, spec),
    unpublishing: (id) => void noAt.set(id, Number.POSITIVE_INFINITY),
    unpublished: (id) => {
      specs.delete(id);
      if (machine.records.has(id)) break_("I-33", `the record of ${id} is left after it was unpublished`);
      if ([...machine.mounts.values()].some((mount) => mount.id === id))
        break_("I-33", `${id} is mounted after it was unpublished`);
    },
    shown(target) {
      const mount = machine.mounts.get(target);
      const spec = mount && specs.get(mount.id);
      if (mount === undefined || spec === undefined) return;
      noteNo();
      lastShown.set(spec.id, versionOf(mount.shown));
      if (mount.shown === undefined) {
        const since = now() - (noAt.get(spec.id) ?? Number.NEGATIVE_INFINITY);
        if (since > repeatMs) break_("I-31", `${spec.id} was emptied, and nothing had been taken back`);
        return;
      }
      checkSet(spec, mount.shown);
      const asked = (reviews.get(subjectOf(spec)) ?? []).at(-1);
      if (asked?.allowed !== true) break_("I-30", `${spec.id} got bytes without a positive review`);
      else if (now() - asked.startedMs > (watchesRoles ? watchedBoundMs : boundMs) + stepsMs)
        break_("I-30", `${spec.id} got bytes ${now() - asked.startedMs} ms after the last review`);
    },
    request({ method, path, body }, component) {
      const right = lackedRight(component, method, path);
      if (right !== undefined) break_("I-39", `${component} may not ${right}`);
      if (!path.endsWith("/subjectaccessreviews")) return;
      const subject = subjectIn(body);
      // A change of roles after a quiet time is a reason to ask once more.
      const [last, ...earlier] = askedAt.get(subject) ?? [];
      const before = watchesRoles ? earlier[0] : last;
      if (before !== undefined && now() - before < reviewEveryMs - 1)
        break_("requests", `${subject} was reviewed again after ${now() - before} ms`);
      askedAt.set(subject, [now(), ...(last === undefined ? [] : [last])]);
    },
    reply({ path, body }, response, startedMs) {
      if (!path.endsWith("/subjectaccessreviews") || response.status >= 300) return;
      const answer = parse(String(response.body));
      const allowed = isObject(answer) && isObject(answer.status) && answer.status.allowed === true;
      const subject = subjectIn(body);
      reviews.set(subject, [...(reviews.get(subject) ?? []).slice(-5), { startedMs, allowed }]);
      if (!allowed) for (const spec of specs.values()) if (subjectOf(spec) === subject) noAt.set(spec.id, now());
    },
    look({ calmSinceMs }) {
      noteNo();
      const calmMs = now() - Math.max(calmSinceMs, truth.changedMs);
      if (calmMs < boundMs + stepsMs) return;
      for (const [target, { id, shown }] of machine.mounts) {
        const spec = specs.get(id);
        if (spec === undefined) continue;
        const version = versionOf(shown);
        const wanted = wantedIn(truth, spec, version);
        if (wanted === undefined && shown !== undefined)
          break_("I-31", `${id} at ${target} still shows ${version} after ${calmMs} ms`);
        else if (wanted !== undefined && shown === undefined)
          break_("I-31", `${id} is still empty ${calmMs} ms after ${wanted} may be shown`);
        else if (wanted !== version) break_("I-31", `${id} shows ${version} instead of ${wanted}`);
      }
    },
    conditions: (wrong, calmMs) => {
      for (const text of wrong) break_("I-40", `${text}, for ${calmMs.toFixed(0)} ms`);
    },
    restarted: () => askedAt.clear(),
    end() {
      if (machine.mounts.size > 0) break_("I-33", `${machine.mounts.size} mounts are left`);
      if (machine.records.size > 0) break_("I-33", `${machine.records.size} records are left`);
    },
  };
}

const versionOf = (files: FileSet | undefined): string | undefined =>
  files && Buffer.from([...files.values()][0] ?? []).toString();

function subjectIn(body: HttpRequest["body"]): string {
  const review = parse(String(body));
  const spec = isObject(review) && isObject(review.spec) ? review.spec : {};
  const { resource, name } = isObject(spec.resourceAttributes) ? spec.resourceAttributes : {};
  return `${String(resource)} ${String(name)} ${String(spec.user)}`;
}
