/** IP addresses and networks in rules. */
import { groupsOf, isIPv4 } from "../../ip-text.ts";
import { fn, isReadable, type Library, method, opaqueData, text } from "../functions.ts";
import { types } from "../types.ts";
import { CelFault, opaque, type Value } from "../value.ts";

const { bool, int, string, ip: ipType, cidr: cidrType } = types;

interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}
interface Network {
  readonly address: Address;
  readonly prefix: number;
}

const widthOf = ({ family }: Address): number => (family === 4 ? 32 : 128);
const cannotParse = (value: string): CelFault =>
  new CelFault(
    `IP Address ${JSON.stringify(value)} parse error during conversion from string: ParseAddr(${JSON.stringify(value)}): unable to parse IP`,
  );

function readAddress(value: string): Address {
  if (isIPv4(value) && !/(^|\.)0\d/.test(value))
    return { family: 4, bits: value.split(".").reduce((bits, part) => bits * 256n + BigInt(part), 0n) };
  const groups = groupsOf(value);
  const hasOctal = /[:.]0\d+(\.|$)/.test(value) && value.includes(".");
  if (groups === undefined || hasOctal || !value.includes(":")) throw cannotParse(value);
  const bits = groups.reduce((all, group) => all * 65_536n + BigInt(group), 0n);
  if (bits >> 32n === 0xffffn) throw new CelFault(`IPv4-mapped IPv6 address ${JSON.stringify(value)} is not allowed`);
  return { family: 6, bits };
}

function printAddress(address: Address): string {
  const width = address.family === 4 ? 8n : 16n;
  const count = address.family === 4 ? 4 : 8;
  const parts = Array.from(
    { length: count },
    (_, index) => (address.bits >> (width * BigInt(count - 1 - index))) & ((1n << width) - 1n),
  );
  return address.family === 4 ? parts.join(".") : shortened(parts.map((part) => part.toString(16)));
}

/** The longest run of zero groups becomes "::"; a single one does not. */
function shortened(groups: readonly string[]): string {
  let best = { at: -1, length: 1 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === "0") length += 1;
    if (length > best.length) best = { at, length };
  }
  if (best.at === -1) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.length).join(":")}`;
}

function readNetwork(value: string): Network {
  const parts = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(value);
  const bad = new CelFault(
    `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(value)}): no '/'`,
  );
  if (parts === null) throw bad;
  const address = readAddress(parts[1] ?? "");
  const prefix = Number(parts[2]);
  if (prefix > widthOf(address)) throw bad;
  return { address, prefix };
}

const maskOf = ({ address, prefix }: Network): bigint => {
  const width = BigInt(widthOf(address));
  return ((1n << width) - 1n) ^ ((1n << (width - BigInt(prefix))) - 1n);
};
const contains = (network: Network, address: Address): boolean =>
  network.address.family === address.family &&
  (network.address.bits & maskOf(network)) === (address.bits & maskOf(network));
const containsNetwork = (outer: Network, inner: Network): boolean =>
  outer.prefix <= inner.prefix && contains(outer, inner.address);

const within = (address: Address, network: string): boolean => contains(readNetwork(network), address);
const isMulticast = (address: Address): boolean => within(address, "224.0.0.0/4") || within(address, "ff00::/8");
const isLoopback = (address: Address): boolean => within(address, "127.0.0.0/8") || within(address, "::1/128");
const isLinkLocal = (address: Address): boolean => within(address, "169.254.0.0/16") || within(address, "fe80::/10");
const isLinkLocalMulticast = (address: Address): boolean =>
  within(address, "224.0.0.0/24") || within(address, "ff02::/16");
const isBroadcast = (address: Address): boolean => address.family === 4 && address.bits === 0xffffffffn;
const isUnspecified = ({ bits }: Address): boolean => bits === 0n;
const isGlobal = (address: Address): boolean =>
  !isUnspecified(address) &&
  !isLoopback(address) &&
  !isMulticast(address) &&
  !isLinkLocal(address) &&
  !isBroadcast(address);

const addressOf = (value: Value | undefined): Address => opaqueData<Address>(value, "net.IP");
const networkOf = (value: Value | undefined): Network => opaqueData<Network>(value, "net.CIDR");
const addressValue = (address: Address): Value => opaque("net.IP", address);
const networkValue = (network: Network): Value => opaque("net.CIDR", network);
const printNetwork = ({ address, prefix }: Network): string => `${printAddress(address)}/${prefix}`;

const holds = (test: (address: Address) => boolean): readonly ReturnType<typeof method>[] => [
  method([ipType], bool, ([value]) => test(addressOf(value))),
];

export const addresses: Library = {
  ip: [
    fn([string], ipType, ([value]) => addressValue(readAddress(text(value)))),
    method([cidrType], ipType, ([value]) => addressValue(networkOf(value).address)),
  ],
  isIP: [fn([string], bool, ([value]) => isReadable(() => readAddress(text(value))))],
  "ip.isCanonical": [fn([string], bool, ([value]) => printAddress(readAddress(text(value))) === text(value))],
  family: [method([ipType], int, ([value]) => BigInt(addressOf(value).family))],
  isUnspecified: holds(isUnspecified),
  isLoopback: holds(isLoopback),
  isLinkLocalMulticast: holds(isLinkLocalMulticast),
  isLinkLocalUnicast: holds(isLinkLocal),
  isGlobalUnicast: holds(isGlobal),
  cidr: [fn([string], cidrType, ([value]) => networkValue(readNetwork(text(value))))],
  isCIDR: [fn([string], bool, ([value]) => isReadable(() => readNetwork(text(value))))],
  containsIP: [
    method([cidrType, string], bool, ([network, value]) => contains(networkOf(network), readAddress(text(value)))),
    method([cidrType, ipType], bool, ([network, value]) => contains(networkOf(network), addressOf(value))),
  ],
  containsCIDR: [
    method([cidrType, string], bool, ([network, value]) =>
      containsNetwork(networkOf(network), readNetwork(text(value))),
    ),
    method([cidrType, cidrType], bool, ([network, value]) => containsNetwork(networkOf(network), networkOf(value))),
  ],
  prefixLength: [method([cidrType], int, ([value]) => BigInt(networkOf(value).prefix))],
  masked: [
    method([cidrType], cidrType, ([value]) => {
      const network = networkOf(value);
      return networkValue({
        ...network,
        address: { ...network.address, bits: network.address.bits & maskOf(network) },
      });
    }),
  ],
  string: [
    fn([ipType], string, ([value]) => printAddress(addressOf(value))),
    fn([cidrType], string, ([value]) => printNetwork(networkOf(value))),
  ],
};
