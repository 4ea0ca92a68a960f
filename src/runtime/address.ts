/** Where to listen: ":8080", "localhost:8080", "[::1]:8080", as Go's programs take it. */
export interface Address {
  /** Undefined: every address of the machine. */
  readonly host: string | undefined;
  readonly port: number;
}

const form = /^(?:\[([\da-f:.]+)\]|([^[\]:]*)):(\d{1,5})$/i;

export function parseAddress(text: string): Address | undefined {
  const [, ip6, host, digits] = form.exec(text) ?? [];
  const port = Number(digits);
  return digits === undefined || port > 65_535 ? undefined : { host: ip6 ?? (host || undefined), port };
}

export const printAddress = ({ host = "", port }: Address): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
