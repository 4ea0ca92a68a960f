/** Performs the steps of plan-renewal.ts, each from what is stored by then. */
import type { Millis } from "../../../base/brand.ts";
import { Fault } from "../../../base/fault.ts";
import type { World } from "../../../base/world.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { keptMax, validOf } from "./bundle.ts";
import {
  factsOf,
  readConfigurations,
  readSecret,
  type SecretPlace,
  type Stored,
  storeNext,
  storeServing,
  writeBundles,
} from "./cluster.ts";
import { certificatesIn, type Endpoint, namesOf } from "./facts.ts";
import type { KeyPair } from "./issue.ts";
import { planRenewal, type RenewalStep, type StoredFacts } from "./plan-renewal.ts";

export interface CertificateOptions extends Endpoint {
  readonly secret: string;
  readonly validity: Millis;
  readonly authorityValidity: Millis;
  readonly renewBefore: Millis;
  /** How long API servers may take to read a changed caBundle. */
  readonly settleTime: Millis;
}

export interface RenewalDeps {
  readonly api: KubeApi;
  readonly world: Pick<World, "now" | "elapsed">;
  readonly options: CertificateOptions;
  /** A new authority is wanted, although the current one is good. */
  readonly isForced?: boolean;
  /** Absent: a Secret that is not there is created. */
  readonly needsSecret?: true;
  say(line: string): void;
}

export interface Renewal {
  /** Performs one step, and returns it. A Conflict is thrown when somebody else wrote in between: then try again. */
  advance(signal: AbortSignal): Promise<RenewalStep>;
}

/** Memory: since when each webhook was seen to trust the next authority. After a restart the time is waited for again. */
export function createRenewal({ api, world, options, isForced = false, needsSecret, say }: RenewalDeps): Renewal {
  const secret: SecretPlace = { namespace: options.namespace, name: options.secret };
  let isWanted = isForced;
  let trusted: { readonly pem: string; readonly sinceMs: Millis } | undefined;

  const read = async (signal: AbortSignal) => {
    const stored = await readSecret(api, secret, signal);
    if (needsSecret && stored.resourceVersion === undefined)
      throw new Fault("NotFound", `Secret ${secret.namespace}/${secret.name} does not exist`);
    return { stored, facts: factsOf(stored, await readConfigurations(api, signal), options) };
  };
  const trustedForMs = ({ next, webhooks }: StoredFacts): Millis | undefined => {
    const isTrusted = next !== undefined && webhooks.every((one) => one.trusted.some(({ pem }) => pem === next.pem));
    if (!isTrusted) trusted = undefined;
    else if (trusted?.pem !== next.pem) trusted = { pem: next.pem, sinceMs: world.elapsed() };
    return trusted && world.elapsed() - trusted.sinceMs;
  };
  const issueOptions = () => ({
    dnsNames: namesOf(options),
    nowMs: world.now(),
    validMs: options.validity,
    authorityValidMs: options.authorityValidity,
  });

  const introduce = async (stored: Stored, signal: AbortSignal): Promise<void> => {
    const { newAuthority } = await issuing();
    await storeNext(api, secret, stored, await newAuthority(issueOptions()), signal);
  };
  const serve = async (stored: Stored, facts: StoredFacts, by: "authority" | "next", signal: AbortSignal) => {
    const { issueServing } = await issuing();
    const authority = (by === "next" ? stored.next : stored.authority) as KeyPair;
    const serving = await issueServing(authority, issueOptions());
    const current = certificatesIn(authority.certificate)[0]?.pem;
    const before = [...facts.earlier, ...(facts.authority === undefined ? [] : [facts.authority])];
    const earlier = validOf(before, world.now())
      .filter(({ pem }) => pem !== current)
      .slice(0, keptMax);
    await storeServing(api, secret, stored, { authority, serving, earlier }, signal);
    isWanted = false;
    say(`wrote Secret ${secret.namespace}/${secret.name}`);
  };

  return {
    async advance(signal) {
      const { stored, facts } = await read(signal);
      const step = planRenewal({
        facts,
        nowMs: world.now(),
        trustedForMs: trustedForMs(facts),
        renewBeforeMs: options.renewBefore,
        settleMs: options.settleTime,
        isForced: isWanted,
      });
      switch (step.kind) {
        case "introduce":
          say(`a new authority is made: ${step.why}`);
          await introduce(stored, signal);
          break;
        case "trust":
          for (const name of await writeBundles(api, step.changes, signal)) say(`set caBundle of ${name}`);
          break;
        case "serve":
          say(`a new serving certificate is made: ${step.why}`);
          await serve(stored, facts, step.by, signal);
          break;
        default:
      }
      return step;
    },
  };
}

/** The library is loaded when something is to be signed, about once a year. */
const issuing = () => import("./issue.ts");
