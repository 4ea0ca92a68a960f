/** Event, under both of its names, and Lease. Whatever an event is called in the request, errors use the core names. */
import type { Lease } from "kubernetes-types/coordination/v1.js";
import type { Event } from "kubernetes-types/core/v1.js";
import type { JsonObject } from "../../base/json.ts";
import { forbidden, invalid, required } from "../../schema/field-error.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import { eventConversion } from "../event-conversion.ts";
import { as, immutableField, oneOf, part, qualifiedNameErrors, subdomainErrors } from "./check.ts";

const wordBytesMax = 128;
const messageBytesMax = 1024;

/** The fields both names share, in the words of the core group. */
type EventFields = Pick<Event, "type" | "count" | "reason" | "message" | "action" | "reportingComponent"> &
  Pick<Event, "reportingInstance" | "firstTimestamp" | "lastTimestamp" | "source" | "related" | "series"> & {
    readonly eventTime?: string | null;
    readonly involvedObject: Event["involvedObject"];
    readonly metadata: ApiObject["metadata"];
  };

const asCore = (object: ApiObject): EventFields =>
  (object.apiVersion === "v1" ? object : eventConversion.toStored(object)) as unknown as EventFields;
const isSet = (time: string | null | undefined): boolean => (time ?? "") !== "";

export const coreEventStrategy: Strategy = {
  validateCreate: (object) => commonErrors(asCore(object), "reportingComponent"),
  validateUpdate: (object) => commonErrors(asCore(object), "reportingComponent"),
};

export const modernEventStrategy: Strategy = {
  validateCreate: (object) => {
    const event = asCore(object);
    return [...commonErrors(event, "reportingController"), ...seriesErrors(event), ...strictErrors(event)];
  },
  validateUpdate: (object, old) => {
    const [now, before] = [asCore(object), asCore(old)];
    const series = immutableField("series", now.series, before.series).length === 0 ? [] : seriesErrors(now);
    return [...commonErrors(now, "reportingController"), ...series, ...changeErrors(now, before)];
  },
};

const mismatch = (namespace: string): FieldError =>
  invalid("involvedObject.namespace", namespace, "does not match event.namespace");

/** An event with an eventTime is of the newer kind, and has to say more. */
function commonErrors(event: EventFields, reporter: string): readonly FieldError[] {
  const namespace = event.metadata.namespace ?? "";
  const about = event.involvedObject?.namespace ?? "";
  const errors = isSet(event.eventTime) ? newerErrors(event, reporter) : [];
  if (!isSet(event.eventTime)) {
    const fits = about === "" ? namespace === "" || namespace === "default" : namespace === about;
    if (!fits) errors.push(mismatch(about));
  }
  return [...errors, ...subdomainErrors("namespace", namespace)];
}

function newerErrors(event: EventFields, reporter: string): FieldError[] {
  const namespace = event.metadata.namespace ?? "";
  const about = event.involvedObject?.namespace ?? "";
  const errors: FieldError[] = [];
  if (about === "" && namespace !== "default" && namespace !== "kube-system") errors.push(mismatch(about));
  const controller = event.reportingComponent ?? "";
  if (controller === "") errors.push(required(reporter));
  errors.push(...qualifiedNameErrors(reporter, controller));
  for (const [field, text] of [
    ["reportingInstance", event.reportingInstance ?? ""],
    ["action", event.action ?? ""],
    ["reason", event.reason ?? ""],
  ] as const) {
    if (text === "") errors.push(required(field));
    errors.push(...lengthErrors(field, text, wordBytesMax));
  }
  return [...errors, ...lengthErrors("message", event.message ?? "", messageBytesMax)];
}

const lengthErrors = (field: string, text: string, max: number): readonly FieldError[] =>
  Buffer.byteLength(text) > max ? [invalid(field, "", `can have at most ${max} characters`)] : [];

function seriesErrors({ series }: EventFields): readonly FieldError[] {
  if (series === undefined) return [];
  const errors = (series.count ?? 0) < 2 ? [invalid("series.count", "", "should be at least 2")] : [];
  if (!isSet(series.lastObservedTime)) errors.push(required("series.lastObservedTime"));
  return errors;
}

function strictErrors(event: EventFields): readonly FieldError[] {
  const errors: FieldError[] = isSet(event.eventTime) ? [] : [required("eventTime")];
  if (event.type !== "Normal" && event.type !== "Warning")
    errors.push(invalid("type", "", `has invalid value: ${event.type ?? ""}`));
  const unset = "needs to be unset";
  if (isSet(event.firstTimestamp)) errors.push(invalid("firstTimestamp", "", unset));
  if (isSet(event.lastTimestamp)) errors.push(invalid("lastTimestamp", "", unset));
  if ((event.count ?? 0) !== 0) errors.push(invalid("count", "", unset));
  if (Object.keys(event.source ?? {}).length > 0) errors.push(invalid("source", "", unset));
  return errors;
}

const fixed = ["involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count"] as const;
const alsoFixed = ["type", "eventTime", "action", "related"] as const;

const changeErrors = (now: EventFields, before: EventFields): readonly FieldError[] => [
  ...[...fixed, ...alsoFixed].flatMap((field) => immutableField(field, now[field], before[field])),
  ...immutableField("reportingController", now.reportingComponent ?? "", before.reportingComponent ?? ""),
  ...immutableField("reportingInstance", now.reportingInstance ?? "", before.reportingInstance ?? ""),
];

const coordinatedGate = "CoordinatedLeaderElection";

/** Two fields are for leaders chosen by the server, which is off unless asked for. */
export const leaseStrategy: Strategy = {
  prepareForCreate: (object, { gates }) => {
    if (!gates.enabled(coordinatedGate)) dropCoordination(part(object, "spec"));
  },
  prepareForUpdate: (object, _old, { gates }) => {
    if (!gates.enabled(coordinatedGate)) dropCoordination(part(object, "spec"));
  },
  validateCreate: (object) => leaseErrors(object),
  validateUpdate: (object) => leaseErrors(object),
};

function dropCoordination(spec: JsonObject): void {
  delete spec.strategy;
  delete spec.preferredHolder;
}

function leaseErrors(object: ApiObject): readonly FieldError[] {
  const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = as<Lease>(object).spec ?? {};
  const { strategy, preferredHolder } = part(object, "spec");
  const errors: FieldError[] = [];
  if (seconds !== undefined && seconds <= 0)
    errors.push(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
  if (transitions !== undefined && transitions < 0)
    errors.push(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  if (typeof strategy === "string") errors.push(...oneOf("spec.strategy", strategy, ["OldestEmulationVersion"]));
  if ((preferredHolder ?? "") !== "" && (strategy ?? "") === "")
    errors.push(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  return errors;
}
