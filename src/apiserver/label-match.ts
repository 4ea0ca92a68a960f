/** Does a LabelSelector (matchLabels and matchExpressions) select these labels? An empty selector selects everything. */
import type { LabelSelector } from "kubernetes-types/meta/v1.js";
import { holds } from "../rules/requirement.ts";

type Labels = Readonly<Record<string, string>>;

export const matchesSelector = (selector: LabelSelector, labels: Labels = {}): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  ) && (selector.matchExpressions ?? []).every((requirement) => holds(requirement, labels));
