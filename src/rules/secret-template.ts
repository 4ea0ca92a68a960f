/**
 * Class parameters may name a secret by a template: "${volumesnapshot.namespace}". `$token` and `${token}` are replaced; a token
 * that does not exist is an error, never an empty string, because an empty name would point at somebody else's secret.
 */
import { parameters } from "../api/names.ts";

export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

export interface TemplateNames {
  readonly contentName: string;
  readonly snapshotName?: string | undefined;
  readonly snapshotNamespace?: string | undefined;
}

export type SecretLookup =
  | { readonly kind: "none" }
  | { readonly kind: "secret"; readonly secret: SecretRef }
  | { readonly kind: "wrong"; readonly message: string };

interface SecretKeys {
  readonly name: string;
  readonly namespace: string;
}

export const snapshotterSecretKeys: SecretKeys = {
  name: parameters.snapshotterSecretName,
  namespace: parameters.snapshotterSecretNamespace,
};
export const listSecretKeys: SecretKeys = {
  name: parameters.snapshotterListSecretName,
  namespace: parameters.snapshotterListSecretNamespace,
};

const token = /\$(?:\{([^}]*)\}|([A-Za-z0-9_]+))/g;
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function secretFor(
  keys: SecretKeys,
  classParameters: Readonly<Record<string, string>>,
  names: TemplateNames,
): SecretLookup {
  const templates = { name: classParameters[keys.name], namespace: classParameters[keys.namespace] };
  if (templates.name === undefined && templates.namespace === undefined) return { kind: "none" };
  if (!templates.name || !templates.namespace) {
    const missing = templates.name ? keys.namespace : keys.name;
    return wrong(
      `class parameter ${missing} is missing or empty: set both ${keys.name} and ${keys.namespace}, or neither`,
    );
  }
  const namespaceTokens = {
    "volumesnapshotcontent.name": names.contentName,
    "volumesnapshot.namespace": names.snapshotNamespace,
  };
  const nameTokens = { ...namespaceTokens, "volumesnapshot.name": names.snapshotName };
  const namespace = expand(templates.namespace, namespaceTokens);
  const name = expand(templates.name, nameTokens);
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

const wrong = (message: string): SecretLookup => ({ kind: "wrong", message });

interface Expanded {
  readonly text: string;
  readonly unknown: readonly string[];
}

function expand(template: string, tokens: Readonly<Record<string, string | undefined>>): Expanded {
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
): SecretLookup | undefined {
  if (unknown.length > 0)
    return wrong(
      `class parameter ${key}: "${template}" has invalid tokens: ${unknown.map((word) => `"${word}"`).join(", ")}`,
    );
  return shape.test(text)
    ? undefined
    : wrong(`class parameter ${key}: "${template}" becomes "${text}", which is not ${expected}`);
}

const secretKeys: ReadonlySet<string> = new Set([
  parameters.snapshotterSecretName,
  parameters.snapshotterSecretNamespace,
  parameters.snapshotterListSecretName,
  parameters.snapshotterListSecretNamespace,
  parameters.groupSnapshotterSecretName,
  parameters.groupSnapshotterSecretNamespace,
  parameters.groupSnapshotterGetSecretName,
  parameters.groupSnapshotterGetSecretNamespace,
]);

/** What of a class's parameters the driver gets to see, and the keys of our prefix that nobody knows. */
export function driverParameters(classParameters: Readonly<Record<string, string>>): {
  readonly passed: Readonly<Record<string, string>>;
  readonly unknown: readonly string[];
} {
  const rest = Object.entries(classParameters).filter(([key]) => !secretKeys.has(key));
  return {
    passed: Object.fromEntries(rest.filter(([key]) => !key.startsWith(parameters.prefix))),
    unknown: rest.map(([key]) => key).filter((key) => key.startsWith(parameters.prefix)),
  };
}
