/** Where a volume is, as segments: as csi-provisioner and external-provisioner write the affinity of its PersistentVolume. */
import type { PersistentVolume } from "../../../api/types.ts";
import type { Segments } from "../driver/topology.ts";

/** Empty: nowhere in particular, or somewhere that only a person can have written. */
export const segmentsOfVolume = ({ spec }: PersistentVolume): readonly Segments[] =>
  (spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap(({ matchExpressions = [], matchFields = [] }) => {
    const isOfLabels = matchFields.length === 0 && matchExpressions.length > 0;
    const isSegment = matchExpressions.every(({ operator, values }) => operator === "In" && values?.length === 1);
    return isOfLabels && isSegment
      ? [Object.fromEntries(matchExpressions.map(({ key, values }) => [key, values?.[0] ?? ""]))]
      : [];
  });
