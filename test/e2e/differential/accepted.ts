/**
 * Where we differ from the real server on purpose, and why. Each is a change made to both answers before they are compared.
 * Every file of scripts ends with a test that each of its differences still makes one: what is no longer needed must go.
 */
export interface Accepted {
  readonly why: string;
  /** Whose scripts show it. */
  readonly where: "objects" | "schemas" | "webhooks";
  readonly change: (text: string) => string;
}

export const accepted: readonly Accepted[] = [
  {
    why: "after a line break, the real server prints a difference of internal Go structs; we name the changed fields",
    where: "objects",
    change: (text) =>
      text.replace(/( is immutable after creation| it was previously negative\)|for bound claims)\n[\s\S]*$/, "$1"),
  },
  {
    why: "an empty map of labels is shown as an absent one",
    where: "schemas",
    change: (text) =>
      text.replace(/Invalid value: \{\}(: `selector` does not match template `labels`)/, "Invalid value: null$1"),
  },
  {
    why: "why a webhook's answer cannot be read, or its patch not applied, is said in our own words",
    where: "webhooks",
    change: (text) =>
      text
        .replace(/couldn't get version\/kind; json parse error: .*|the webhook's answer is not JSON/, "<not JSON>")
        .replace(/EOF$|the connection to \S+ was cut before the answer was complete \(ECONNRESET\)$/, "<cut>")
        .replace(
          /add operation does not apply: .*|the server rejected our request due to an error in our request$/,
          "<does not apply>",
        ),
  },
  {
    why: "a validating webhook is shown a new claim's phase, which the real server fills in only when it stores the claim",
    where: "webhooks",
    change: (text) => text.replaceAll('"status":{"phase":"Pending"}', '"status":{}'),
  },
  {
    why: "an object that a patch made unreadable is shown with its keys in another order",
    where: "schemas",
    change: (text) => text.replace(/(Invalid value: )"(\{\\".*\}|map\[.*\])": /s, '$1"<object>": '),
  },
  {
    why: "why such an object, or a text that is no YAML, cannot be read follows from Go's own types and parser",
    where: "schemas",
    change: (text) =>
      text
        .replace(
          /(Invalid value: "<object>": )(json: cannot unmarshal .*|unrecognized type: \w+|illegal base64 data .*|unable to decode .*)$/,
          "$1<unreadable>",
        )
        .replace(/(error decoding YAML: ).*$/s, "$1<why>"),
  },
];
