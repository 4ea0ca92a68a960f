/** Addresses as Go's net package reads them; leading zeros in IPv4 are tolerated, as Kubernetes does in schemas. */

export function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d{1,16}$/.test(part) && Number(part) <= 255);
}

export function isIPv6(text: string): boolean {
  if (!text.includes(":")) return false;
  const groups = groupsOf(text);
  return groups !== undefined;
}

export const isIP = (text: string): boolean => isIPv4(text) || isIPv6(text);

/** The eight sixteen-bit groups, or undefined when the text is no IPv6 address. Zones are not accepted. */
export function groupsOf(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = [halves[0] ?? "", halves[1]].map((half) => (half === undefined ? undefined : readGroups(half)));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  return missing < 1 ? undefined : [...head, ...new Array<number>(missing).fill(0), ...(tail ?? [])];
}

function readGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.includes(".") && index === parts.length - 1) {
      if (!isIPv4(part)) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}
