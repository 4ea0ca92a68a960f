/** Which form an answer takes: the object itself, a Table for people, or metadata only. Always JSON on the wire. */
import type { HttpRequest } from "../base/http.ts";
import { Refusal } from "./status.ts";

export type Form =
  | { readonly kind: "object" }
  | { readonly kind: "Table"; readonly version: "v1" | "v1beta1" }
  | { readonly kind: "PartialObjectMetadata" | "PartialObjectMetadataList"; readonly version: "v1" | "v1beta1" };

export interface Answer {
  readonly form: Form;
  readonly pretty: boolean;
}

interface Clause {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

const supported = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

export function clausesOf(accept: string): readonly Clause[] {
  const clauses = accept.split(",").map((part): Clause => {
    const [type = "", ...rest] = part.split(";").map((piece) => piece.trim());
    const parameters = Object.fromEntries(rest.map((pair) => splitOnce(pair, "=")));
    return { type: type.toLowerCase(), parameters, quality: qualityOf(parameters.q) };
  });
  // A stable sort keeps the client's order among equals.
  return clauses.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function qualityOf(text: string | undefined): number {
  const quality = text === undefined ? 1 : Number(text);
  return Number.isFinite(quality) ? quality : 1;
}

export const acceptsJson = ({ type }: Clause): boolean =>
  type === "application/json" || type === "*/*" || type === "application/*";

const tableKinds: ReadonlySet<string> = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);

/** The form a clause asks for; undefined when it is one we do not have, and the next clause shall be tried. */
function formOf({ parameters }: Clause): Form | undefined {
  const { as, g, v } = parameters;
  if (as === undefined && g === undefined && v === undefined) return { kind: "object" };
  if (g !== "meta.k8s.io" || (v !== "v1" && v !== "v1beta1") || as === undefined || !tableKinds.has(as))
    return undefined;
  return { kind: as as "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList", version: v };
}

export function negotiate(request: HttpRequest, query: URLSearchParams): Answer {
  const accept = request.headers.accept ?? "";
  const pretty = isPretty(request, query);
  if (accept === "") return { form: { kind: "object" }, pretty };
  // What most programs say, in so many words.
  if (accept === "application/json") return { form: { kind: "object" }, pretty };
  for (const clause of clausesOf(accept)) {
    const form = acceptsJson(clause) ? formOf(clause) : undefined;
    if (form !== undefined) return { form, pretty: pretty || clause.parameters.pretty === "1" };
  }
  throw new Refusal(406, "NotAcceptable", `only the following media types are accepted: ${supported}`);
}

/** People at a terminal get indented JSON, as from the real server. */
function isPretty(request: HttpRequest, query: URLSearchParams): boolean {
  const asked = query.get("pretty");
  if (asked !== null && asked !== "") return ["1", "t", "T", "true", "TRUE", "True"].includes(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers["user-agent"] ?? "");
}
