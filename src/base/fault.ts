/**
 * Every way an operation can fail, in one table: how it travels over HTTP, over gRPC, and whether it is final.
 * Final means: the other side has answered that it did nothing and is doing nothing. Only then may a caller stop asking;
 * after anything else the effect may still arrive.
 */
import { limits } from "./limits.ts";

interface FaultRow {
  readonly http: number;
  readonly grpc: number;
  readonly final: boolean;
  /** Kubernetes' Status.reason, where there is one. */
  readonly reason: string;
  readonly meaning: string;
}

export const faults = {
  InvalidArgument: { http: 400, grpc: 3, final: true, reason: "BadRequest", meaning: "The request is invalid." },
  Unauthenticated: {
    http: 401,
    grpc: 16,
    final: true,
    reason: "Unauthorized",
    meaning: "The caller is unknown: no token, or an expired token.",
  },
  PermissionDenied: {
    http: 403,
    grpc: 7,
    final: true,
    reason: "Forbidden",
    meaning: "The caller is known and not allowed to do this.",
  },
  NotFound: { http: 404, grpc: 5, final: true, reason: "NotFound", meaning: "The object or the route does not exist." },
  MethodNotAllowed: {
    http: 405,
    grpc: 12,
    final: true,
    reason: "MethodNotAllowed",
    meaning: "The resource does not support this verb.",
  },
  NotAcceptable: {
    http: 406,
    grpc: 3,
    final: true,
    reason: "NotAcceptable",
    meaning: "None of the accepted media types can be served.",
  },
  AlreadyExists: {
    http: 409,
    grpc: 6,
    final: true,
    reason: "AlreadyExists",
    meaning: "An object of this name exists and differs.",
  },
  Conflict: { http: 409, grpc: 10, final: true, reason: "Conflict", meaning: "The object changed since it was read." },
  Aborted: {
    http: 409,
    grpc: 10,
    final: false,
    reason: "Conflict",
    meaning: "Another operation on the same object is pending.",
  },
  Expired: {
    http: 410,
    grpc: 11,
    final: true,
    reason: "Expired",
    meaning: "The requested version is no longer available: list again.",
  },
  TooLarge: {
    http: 413,
    grpc: 8,
    final: true,
    reason: "RequestEntityTooLarge",
    meaning: "The request is larger than the server accepts.",
  },
  UnsupportedMediaType: {
    http: 415,
    grpc: 3,
    final: true,
    reason: "UnsupportedMediaType",
    meaning: "The server does not support the media type of the body.",
  },
  Invalid: { http: 422, grpc: 3, final: true, reason: "Invalid", meaning: "The object breaks a rule of its kind." },
  FailedPrecondition: {
    http: 422,
    grpc: 9,
    final: true,
    reason: "Invalid",
    meaning: "The system is not in the required state; retrying alone does not help.",
  },
  OutOfRange: {
    http: 400,
    grpc: 11,
    final: true,
    reason: "BadRequest",
    meaning: "A number or size is out of range.",
  },
  ResourceExhausted: {
    http: 429,
    grpc: 8,
    final: false,
    reason: "TooManyRequests",
    meaning: "Too many requests, or no space left: retry later.",
  },
  Unimplemented: {
    http: 501,
    grpc: 12,
    final: true,
    reason: "NotImplemented",
    meaning: "The other side does not implement this.",
  },
  Internal: {
    http: 500,
    grpc: 13,
    final: true,
    reason: "InternalError",
    meaning: "The other side reports an internal failure.",
  },
  DataLoss: { http: 500, grpc: 15, final: true, reason: "InternalError", meaning: "Stored data is damaged." },
  Unavailable: {
    http: 503,
    grpc: 14,
    final: false,
    reason: "ServiceUnavailable",
    meaning: "The other side cannot be reached or is not ready.",
  },
  DeadlineExceeded: {
    http: 504,
    grpc: 4,
    final: false,
    reason: "Timeout",
    meaning: "No reply before the deadline; the call may still take effect.",
  },
  Cancelled: {
    http: 499,
    grpc: 1,
    final: false,
    reason: "ClientClosedRequest",
    meaning: "The caller stopped waiting.",
  },
  UnknownOutcome: {
    http: 500,
    grpc: 2,
    final: false,
    reason: "UnexpectedServerError",
    meaning: "No reply, or a reply that cannot be understood: the outcome is unknown.",
  },
  MalformedReply: {
    http: 500,
    grpc: 2,
    final: false,
    reason: "UnexpectedServerError",
    meaning: "A reply that breaks the protocol or cannot be decoded: the outcome is unknown.",
  },
} as const satisfies Record<string, FaultRow>;

export type FaultCode = keyof typeof faults;

export interface FaultOptions extends ErrorOptions {
  /** What the server asked us to wait before trying again. */
  readonly retryAfterMs?: number | undefined;
  /** Kubernetes' Status.details of the answer, as received. */
  readonly details?: unknown;
  /** Where a list whose token has expired may go on, at the newest version: Kubernetes' Status.metadata.continue. */
  readonly continueToken?: string | undefined;
  /** What was thrown in place of a fault: logs show its stack. */
  readonly unexpected?: Error | undefined;
  /** The server does not know the path at all: it serves no such kind, or not in this version. */
  readonly hasNoRoute?: boolean | undefined;
}

export class Fault extends Error {
  readonly code: FaultCode;
  readonly retryAfterMs: number | undefined;
  readonly details: unknown;
  readonly continueToken: string | undefined;
  readonly unexpected: Error | undefined;
  readonly hasNoRoute: boolean;

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options);
    this.name = "Fault";
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.continueToken = options.continueToken;
    this.unexpected = options.unexpected;
    this.hasNoRoute = options.hasNoRoute === true;
  }

  /** The funnel: whatever was thrown, a Fault comes out; what we do not recognise is "UnknownOutcome", never final. */
  static from(reason: unknown): Fault {
    if (reason instanceof Fault) return reason;
    if (reason instanceof Error && reason.name === "AbortError")
      return new Fault("Cancelled", reason.message, { cause: reason });
    const unexpected = reason instanceof Error ? reason : undefined;
    return new Fault("UnknownOutcome", unexpected?.message ?? String(reason), { cause: reason, unexpected });
  }
}

/** An unexpected error, most likely a bug; undefined for an intended Fault. */
export function unexpectedIn(reason: unknown): Error | undefined {
  if (reason instanceof Fault) return reason.unexpected;
  return reason instanceof Error && reason.name !== "AbortError" ? reason : undefined;
}

/** For the field of a log line: the sentence of a fault, or an unexpected error, which the log prints with its stack. */
export const loggable = (reason: unknown): Error | string => unexpectedIn(reason) ?? Fault.from(reason).message;

export const isFinal = (fault: Fault): boolean => faults[fault.code].final;
/** How long the other side asked us to wait: not for hours, though, because of a proxy's page or of a clock that is behind. */
export const retryAfterMsOf = ({ retryAfterMs = 0 }: Fault): number => Math.min(retryAfterMs, limits.retryAfterMsMax);
export const isFault = (reason: unknown, ...codes: readonly FaultCode[]): reason is Fault =>
  reason instanceof Fault && (codes.length === 0 || codes.includes(reason.code));

/** What is read, or undefined where it does not exist. */
export const ifFound = <T>(reading: Promise<T>): Promise<T | undefined> => reading.catch(nothingIfNotFound);

/** For the end of a promise: NotFound is an answer, and whatever else it fails with is not. */
export function nothingIfNotFound(reason: unknown): undefined {
  if (!isFault(reason, "NotFound")) throw reason;
  return undefined;
}
