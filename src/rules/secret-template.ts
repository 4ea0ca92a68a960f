/**
 * Class parameters may name a secret by a template: "${volumesnapshot.namespace}", "${pvc.annotations['tier']}". `$token` and `${token}`
 * are replaced; a token that does not exist is an error, never an empty string, because an empty name would point at somebody else's
 * secret. Which tokens there are, the caller says.
 */
import { type ErrorCode, fix, type Problem } from "../errors/codes.ts";

export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

/** What each token is replaced by; one without a value is as wrong as one that does not exist. */
export type Tokens = Readonly<Record<string, string | undefined>>;
/** The two templates of a secret may use different tokens. */
export type TemplateTokens = Readonly<Record<keyof SecretRef, Tokens>>;

export interface Wrong<Code extends ErrorCode = ErrorCode> extends Problem<Code> {
  readonly kind: "wrong";
}
export type SecretLookup<Code extends ErrorCode = ErrorCode> =
  | { readonly kind: "none" }
  | { readonly kind: "secret"; readonly secret: SecretRef }
  | Wrong<Code>;
/** The codes of a template that names no secret. */
export type TemplateCode = "SNAP-231" | "SNAP-232" | "SNAP-233";

/** The class parameters that hold the two templates. */
export type SecretKeys = Readonly<Record<keyof SecretRef, string>>;

const token = /\$(?:\{([^}]*)\}|([A-Za-z0-9_]+))/g;
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function secretFor(
  keys: SecretKeys,
  classParameters: Readonly<Record<string, string>>,
  tokens: TemplateTokens,
): SecretLookup<TemplateCode> {
  const templates = { name: classParameters[keys.name], namespace: classParameters[keys.namespace] };
  if (templates.name === undefined && templates.namespace === undefined) return { kind: "none" };
  if (!templates.name || !templates.namespace) {
    const missing = templates.name ? keys.namespace : keys.name;
    return wrong(
      "SNAP-231",
      `class parameter ${missing} is missing or empty: ${fix("SNAP-231", `${keys.name} and ${keys.namespace}`)}`,
    );
  }
  const namespace = expand(templates.namespace, tokens.namespace);
  const name = expand(templates.name, tokens.name);
  return (
    problemWith(
      keys.namespace,
      templates.namespace,
      namespace,
      label,
      "a namespace: lower-case letters, digits and -, at most 63",
    ) ??
    problemWith(
      keys.name,
      templates.name,
      name,
      subdomain,
      "an object name: lower-case letters, digits, - and ., at most 253",
    ) ?? { kind: "secret", secret: { namespace: namespace.text, name: name.text } }
  );
}

const wrong = (code: TemplateCode, problem: string): Wrong<TemplateCode> => ({ kind: "wrong", code, problem });

interface Expanded {
  readonly text: string;
  readonly unknown: readonly string[];
}

function expand(template: string, tokens: Tokens): Expanded {
  const unknown: string[] = [];
  const text = template.replace(token, (_match, braced: string | undefined, bare: string | undefined) => {
    const word = braced ?? bare ?? "";
    const value = Object.hasOwn(tokens, word) ? tokens[word] : undefined;
    if (value === undefined) unknown.push(word);
    return value ?? "";
  });
  return { text, unknown };
}

function problemWith(
  key: string,
  template: string,
  { text, unknown }: Expanded,
  shape: RegExp,
  expected: string,
): Wrong<TemplateCode> | undefined {
  if (unknown.length > 0)
    return wrong(
      "SNAP-232",
      `class parameter ${key}: "${template}" has invalid tokens: ${unknown.map((word) => `"${word}"`).join(", ")}`,
    );
  return shape.test(text)
    ? undefined
    : wrong("SNAP-233", `class parameter ${key}: "${template}" becomes "${text}", which is not ${expected}`);
}
