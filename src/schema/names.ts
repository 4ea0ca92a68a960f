/** What Kubernetes accepts as a name, a label and a label's value, and the sentences it refuses others with. */
import type { NameRule } from "./contracts.ts";

const labelFormat = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`;
const label1035Format = "[a-z]([-a-z0-9]*[a-z0-9])?";
const keyFormat = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const valueFormat = `(${keyFormat})?`;

const whole = (format: string): RegExp => new RegExp(`^(?:${format})$`);
const labelPattern = whole(labelFormat);
const subdomainPattern = whole(subdomainFormat);
const label1035Pattern = whole(label1035Format);
const keyPattern = whole(keyFormat);
const valuePattern = whole(valueFormat);
const qualifiedPattern = whole(`(${subdomainFormat}/)?${keyFormat}`);

const labelBytesMax = 63;
const subdomainBytesMax = 253;

const bytesOf = (text: string): number => Buffer.byteLength(text);
const tooLongFor = (max: number): string => `must be no more than ${max} bytes`;
/** Names are counted in the same way, and told in another word. */
const nameTooLongFor = (max: number): string => `must be no more than ${max} characters`;
const regexText = (rule: string, format: string, ...examples: readonly string[]): string =>
  `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${format}')`;

const alphanumericEnds = "and must start and end with an alphanumeric character";
const keyRule = `must consist of alphanumeric characters, '-', '_' or '.', ${alphanumericEnds}`;

export function subdomainProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (bytesOf(value) > subdomainBytesMax) problems.push(nameTooLongFor(subdomainBytesMax));
  if (!subdomainPattern.test(value))
    problems.push(
      regexText(
        `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${alphanumericEnds}`,
        subdomainFormat,
        "example.com",
      ),
    );
  return problems;
}

export function labelProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (bytesOf(value) > labelBytesMax) problems.push(nameTooLongFor(labelBytesMax));
  if (labelPattern.test(value)) return problems;
  if (subdomainPattern.test(value)) problems.push("must not contain dots");
  else
    problems.push(
      regexText(
        `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${alphanumericEnds}`,
        labelFormat,
        "my-name",
        "123-abc",
      ),
    );
  return problems;
}

export function label1035Problems(value: string): readonly string[] {
  const problems: string[] = [];
  if (bytesOf(value) > labelBytesMax) problems.push(nameTooLongFor(labelBytesMax));
  if (!label1035Pattern.test(value))
    problems.push(
      regexText(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        label1035Format,
        "my-name",
        "abc-123",
      ),
    );
  return problems;
}

function pathSegmentProblems(value: string, prefix: boolean): readonly string[] {
  if (!prefix && (value === "." || value === "..")) return [`may not be '${value}'`];
  return ["/", "%"].filter((illegal) => value.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
}

/** Label keys, annotation keys (in lower case) and finalizers. */
export function qualifiedNameProblems(value: string): readonly string[] {
  return isPlainQualifiedName(value) ? none : problemsOfQualifiedName(value);
}

/** What passes the pattern is plain ASCII, so its characters are its bytes. Every write has some of these, and nearly all are right. */
function isPlainQualifiedName(value: string): boolean {
  const nameLength = value.length - (value.indexOf("/") + 1);
  return nameLength <= labelBytesMax && value.length <= subdomainBytesMax && qualifiedPattern.test(value);
}
const none: readonly string[] = [];

function problemsOfQualifiedName(value: string): readonly string[] {
  const parts = value.split("/");
  const name = parts.at(-1) ?? "";
  const keyText = regexText(keyRule, keyFormat, "MyName", "my.name", "123-abc");
  if (parts.length > 2)
    return [`a valid label key ${keyText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const problems: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? "";
    if (prefix === "") problems.push("prefix part must be non-empty");
    else problems.push(...subdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (bytesOf(name) > labelBytesMax) problems.push(`name part ${tooLongFor(labelBytesMax)}`);
  if (!keyPattern.test(name)) problems.push(`name part ${keyText}`);
  return problems;
}

export function labelValueProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (bytesOf(value) > labelBytesMax) problems.push(tooLongFor(labelBytesMax));
  if (!valuePattern.test(value))
    problems.push(
      regexText(
        `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ${alphanumericEnds}`,
        valueFormat,
        "MyValue",
        "my_value",
        "12345",
      ),
    );
  return problems;
}

/** A generateName may end in a dash, because five characters follow it. */
const withoutTrailingDash = (value: string): string =>
  value.length > 1 && value.endsWith("-") ? `${value.slice(0, -2)}a` : value;

/** `prefix`: a generateName is judged, of which only the beginning of the name is known. */
export function nameProblems(rule: NameRule, value: string, prefix = false): readonly string[] {
  const judged = prefix ? withoutTrailingDash(value) : value;
  switch (rule) {
    case "subdomain":
      return subdomainProblems(judged);
    case "label":
      return labelProblems(judged);
    case "label1035":
      return label1035Problems(judged);
    case "pathSegment":
      return pathSegmentProblems(value, prefix);
    default:
      return rule satisfies never;
  }
}
