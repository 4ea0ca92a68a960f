/** One request on its way through the verbs: who asks, for what, and how the answer shall look. */
import type { HttpRequest } from "../base/http.ts";
import type { TableOptions } from "./answer.ts";
import type { DecodeProtobuf, FeatureGates, Patcher, User } from "./contracts.ts";
import type { Answer } from "./negotiate.ts";
import type { FullRegistry } from "./registry.ts";
import type { Target } from "./target.ts";

export interface Call extends Target {
  readonly request: HttpRequest;
  readonly query: URLSearchParams;
  readonly subresource: string;
  readonly user: User;
  readonly answer: Answer;
  readonly table: Omit<TableOptions, "headers">;
  warn(text: string): void;
  /** Asked when an update turns out to create; refuses with 403. */
  mayCreate(): void;
}

/** What verbs need besides the call. */
export interface Serving {
  readonly registry: FullRegistry;
  readonly gates: FeatureGates;
  readonly patcher: Patcher;
  readonly decodeProtobuf: DecodeProtobuf;
}

/** Who a write is recorded under when the client gives no name: the program, as it calls itself. */
export function managerOf(stated: string, request: HttpRequest): string {
  if (stated !== "") return stated;
  const agent = (request.headers["user-agent"] ?? "").split("/")[0] ?? "";
  return agent === "" ? "unknown" : agent.slice(0, 128);
}
