/**
 * Text of people, drivers and storage systems, and whole logs, without what looks like a credential. A text is judged as a whole: a key
 * in PEM stands on many lines, and so may a name and its value. It is better to hide a word too many. Each repetition is bounded, so that
 * no text takes long. Pure.
 */
import { redacted } from "../../base/redact.ts";

const secretWord =
  "(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|tokens?|credentials?|creds?|cookie|session|signature|sig|sas|otp|pin|psk|community|bearer|jwt|(?:api|access|account|private|secret|encryption|shared|client|auth|ssh|signing|master|storage|root|admin|user|license)[-_. ]?keys?|key[-_]?data)";
/** "secretName" and "token_count" are none, and "passed" is no password. */
const harmlessEnd = "(?:name|namespace|ref|kind|count|version|type|class|file|path|mode|expir)";
const wordEnd = `(?![-_.]?${harmlessEnd})(?![a-z]{0,3}ed\\b|ing\\b|es\\b)`;
const name = `(?<![A-Za-z0-9])(?:[\\w.-]{0,40}[-_.]|[a-z]{0,24}(?=[A-Z])|[a-z]{0,12})${secretWord}${wordEnd}[\\w.-]{0,24}`;
const quote = "\\\\{0,4}[\"'`]?";
/** In quotes with whatever is escaped, else up to what ends a word; YAML may begin a block first. */
const value = `(?:[|>][-+]?\\s{1,40})?(?:\\\\{1,4}"(?:(?!\\\\{1,4}")[\\s\\S]){0,8000}\\\\{1,4}"|"(?:[^"\\\\]|\\\\[\\s\\S]){0,8000}"|'[^']{0,8000}'|\`[^\`]{0,8000}\`|[^\\s"'\`,;&)}\\]]{1,8000})`;

type Pattern = readonly [pattern: RegExp, by: string];

/** A map in a message of gRPC, as text, has its key before its value, and the whole may be quoted once more. */
const quotedKey = (key: string): string =>
  `key\\s{0,4}:\\s{0,4}\\\\{0,4}"${key}\\\\{0,4}"\\s{1,4}value\\s{0,4}:\\s{0,4}`;

const patterns: readonly Pattern[] = [
  // Keys in PEM, however their lines are broken, prefixed or escaped. Of one that is cut off, all that follows.
  [
    /-----BEGIN (?!CERTIFICATE-----|PUBLIC KEY-----)[A-Z0-9 ]{1,40}-----(?:(?!-----BEGIN)[\s\S]){0,40000}?(?:-----END [A-Z0-9 ]{1,40}-----|$(?![\s\S]))/g,
    redacted,
  ],
  // The user of a URL, and the password.
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'<>]{1,2000}@/gi, `$1${redacted}@`],
  // Headers have several words.
  [
    new RegExp(
      `((?<![\\w-])(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,24}(?:token|key|secret)[a-z-]{0,12})${quote}\\s{0,4}[:=]\\s{0,4}\\[?${quote})[^\\n"'\`\\]\\\\]{1,8000}`,
      "gi",
    ),
    `$1${redacted}`,
  ],
  [/\b(Bearer|Basic|Negotiate|Digest|Token)\s{1,4}(?=\S*[0-9=._])[\w.~+/=-]{4,}/gi, `$1 ${redacted}`],
  [/\b(Bearer|Basic)\s{1,4}[\w.~+/=-]{8,}/gi, `$1 ${redacted}`],
  // Secrets of a request, whatever their keys are, and a secret's name among parameters.
  [new RegExp(`(${name}\\s{0,4}:?\\s{0,4}[<{]\\s{0,4}${quotedKey('[^"\\\\]{0,200}')})${value}`, "gi"), `$1${redacted}`],
  [new RegExp(`(${quotedKey(name)})${value}`, "gi"), `$1${redacted}`],
  [new RegExp(`(<(?:[\\w-]{1,20}:)?${name}(?:\\s[^<>]{0,200})?>)[^<]{1,8000}(?=<)`, "gi"), `$1${redacted}`],
  // iscsiadm says what to set before it says the value.
  [new RegExp(`(${name}\\s{1,4}(?:-v|--value)[=\\s]\\s{0,4})${value}`, "gi"), `$1${redacted}`],
  [new RegExp(`(${name}${quote}\\s{0,40}(?::=|=>|[:=]|%3[ad])\\s{0,40})${value}`, "gi"), `$1${redacted}`],
  [new RegExp(`(--?[\\w-]{0,40}${secretWord}[\\w-]{0,24}\\s{1,4})(?!-)${value}`, "gi"), `$1${redacted}`],
  // "password hunter2 was refused", "password is hunter2", "password for admin is hunter2"
  [
    new RegExp(
      `\\b((?:password|passwd|passphrase|passcode|pwd|(?:api|access|secret) key|token)s?(?:\\s{1,4}(?:for|of)\\s{1,4}\\S{1,60})?(?:\\s{1,4}(?:is|was))?\\s{1,4}${quote})(?=[^\\s"']{0,200}[0-9!$%^*+=@])[^\\s"'\`,;)]{3,}`,
      "gi",
    ),
    `$1${redacted}`,
  ],
  // Known by their form.
  [
    /\beyJ[\w-]{10,}(?:\.[\w-]{2,}){0,2}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{8,}|\bAIza[\w-]{30,}|\bhvs\.[\w-]{16,}|\bsha256~[\w-]{20,}|\bnpm_\w{20,}|\b[sr]k_live_\w{10,}/g,
    redacted,
  ],
];

/** Too short to be looked for in values of objects. */
const shortNames: readonly Pattern[] = [
  [new RegExp(`((?<![\\w-])(?:--?key(?:=|\\s{1,4})(?!-)|pw\\s{0,4}[:=]\\s{0,4}))${value}`, "gi"), `$1${redacted}`],
  // A user and a password before a host; an image has a digest there.
  [/(?<![\w.:/@-])([\w.-]{1,64}:)[^\s"'<>@:/]{1,200}@(?!sha\d)(?=[\w[])/g, `$1${redacted}@`],
];

/** Lines of base64 alone, whatever their time stamp: the rest of a key whose beginning is cut off. */
const loneLines: Pattern = [
  /^(\S{1,40}Z )?([ \t]*)(?![0-9a-f]+[ \t]*$)[A-Za-z0-9+/]{40,}={0,2}[ \t]*$/gm,
  `$1$2${redacted}`,
];

const without = (text: string, all: readonly Pattern[]): string =>
  all.reduce((left, [pattern, by]) => left.replace(pattern, by), text);

/** A value of an object: a handle may be base64. */
export const redactValue = (text: string): string => without(text, patterns);

export const redactLog = (text: string): string => without(text, [...patterns, ...shortNames, loneLines]);

const secretName = new RegExp(`^${name}$`, "i");
/** Beside what the logs call a secret's name. */
export const isSecretWord = (text: string): boolean => secretName.test(text);
