/**
 * Exec plugins (client.authentication.k8s.io): a program that prints a token or a certificate. What it prints is kept until
 * shortly before it expires or until the server refuses it, and one run serves all who wait for it.
 */
import { type ExecFileException, execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Fault } from "../base/fault.ts";
import { isObject, type JsonObject, parse, print } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { ContextDeps } from "./config-context.ts";
import {
  type ConfigLocation,
  configError,
  describeLocation,
  type Section,
  sectionOf,
  within,
} from "./config-location.ts";
import { besideFile, checkCertificates, checkKey, checkToken } from "./config-material.ts";
import { bearerHeader, type Credential, type Credentials, isSameCredential } from "./target.ts";

interface Plugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly installHint: string | undefined;
  readonly spot: ConfigLocation;
}

interface Issued {
  readonly credential: Credential;
  /** On the wall clock; undefined: until the server refuses it. */
  readonly useUntil: number | undefined;
}

export function createExecCredentials(exec: Section, cluster: Section, deps: ContextDeps): Credentials {
  const plugin = pluginOf(exec, cluster, deps);
  const { world } = deps;
  let issued: Issued | undefined;
  let running: Promise<Issued> | undefined;
  const run = (): Promise<Issued> => {
    running ??= runPlugin(plugin, world)
      .then((text) => {
        issued = issuedIn(text, plugin, world.now());
        return issued;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  return {
    current: async () => {
      const isFresh = issued !== undefined && (issued.useUntil === undefined || world.now() < issued.useUntil);
      return (isFresh && issued !== undefined ? issued : await run()).credential;
    },
    // Many requests are refused at the same time; the last of them must not throw away what the next run has brought.
    refused: (credential) => {
      if (issued !== undefined && isSameCredential(issued.credential, credential)) issued = undefined;
    },
    origin: describeLocation(plugin.spot),
  };
}

const apiVersions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

function pluginOf(exec: Section, cluster: Section, { environment }: ContextDeps): Plugin {
  const command = exec.text("command");
  const apiVersion = exec.text("apiVersion");
  if (command === undefined) throw configError(exec.at("command"), "is missing", "name the plugin's program");
  if (apiVersion === undefined || !apiVersions.includes(apiVersion))
    throw configError(exec.at("apiVersion"), `is ${apiVersion ?? "missing"}`, `write ${apiVersions.join(" or ")}`);
  if (exec.text("interactiveMode") === "Always")
    throw configError(
      exec.at("interactiveMode"),
      "Always needs a terminal, and there is none",
      "use a plugin that works alone",
    );
  return {
    apiVersion,
    // A bare name is looked up in PATH, anything with a slash lies beside the kubeconfig.
    command: command.includes("/") ? besideFile(exec.spot, command) : command,
    args: exec.list("args").map(String),
    environment: {
      ...environment,
      ...variablesIn(exec),
      KUBERNETES_EXEC_INFO: print({
        apiVersion,
        kind: "ExecCredential",
        spec: { cluster: exec.flag("provideClusterInfo") ? clusterInfo(cluster) : undefined, interactive: false },
      }),
    },
    installHint: exec.text("installHint"),
    spot: exec.spot,
  };
}

const variablesIn = (exec: Section): Record<string, string> =>
  Object.fromEntries(
    exec.list("env").map((value, index) => {
      const row = sectionOf(value, within(exec.spot, `env[${index}]`));
      const name = row.text("name");
      if (name === undefined) throw configError(row.at("name"), "is missing", "name the variable");
      return [name, row.text("value") ?? ""];
    }),
  );

function clusterInfo(cluster: Section): JsonObject {
  const extension = cluster
    .list("extensions")
    .find((row) => isObject(row) && row.name === "client.authentication.k8s.io/exec");
  return {
    server: cluster.text("server"),
    "tls-server-name": cluster.text("tls-server-name"),
    "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify") || undefined,
    "proxy-url": cluster.text("proxy-url"),
    "certificate-authority-data": cluster.text("certificate-authority-data") ?? authorityFile(cluster),
    config: isObject(extension) ? extension.extension : undefined,
  };
}

function authorityFile(cluster: Section): string | undefined {
  const path = cluster.text("certificate-authority");
  return path === undefined ? undefined : readFileSync(besideFile(cluster.spot, path)).toString("base64");
}

/** What the plugin prints is a secret, so no part of its output is ever quoted; its last word on stderr is, blackened. */
const runPlugin = (plugin: Plugin, world: Pick<World, "after">): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { env: plugin.environment, maxBuffer: limits.execPluginBytesMax, windowsHide: true };
    const child = execFile(plugin.command, plugin.args, options, (error, stdout, stderr) => {
      stopTimer();
      if (error === null) resolve(stdout);
      else reject(failureOf(plugin, error, stderr));
    });
    // Everybody waits for this one run: it ends though the plugin does not listen, and though a child of it holds the output open.
    const stopTimer = world.after(limits.execPluginMsMax, () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.kill("SIGKILL");
    });
    child.stdin?.end();
  });

function failureOf(plugin: Plugin, error: ExecFileException, stderr: string): Fault {
  const name = `the plugin "${plugin.command}"`;
  const spot = within(plugin.spot, "command");
  if (error.code === "ENOENT")
    return configError(
      spot,
      `${name} is not installed`,
      plugin.installHint?.trim() || "install it or correct the command",
    );
  if (error.code === "EACCES") return configError(spot, `${name} may not be executed`, "make the file executable");
  const lastWord = blackened(stderr.trim().split("\n").at(-1) ?? "");
  const problem =
    (error.code as unknown) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER"
      ? `${name} printed more than ${limits.execPluginBytesMax} bytes`
      : error.killed
        ? `${name} was ended after ${limits.execPluginMsMax / 1_000} s`
        : `${name} failed with exit code ${error.code}`;
  // Not final: a plugin that cannot reach its provider now may do so in a minute.
  const said = lastWord === "" ? "" : ` saying: ${lastWord}`;
  return configError(spot, `${problem}${said}`, "run it by hand to see why", "Unavailable");
}

const lastWordMax = 200;
const blackened = (text: string): string => text.replace(/[A-Za-z0-9+/=._~-]{32,}/g, "…").slice(0, lastWordMax);

function issuedIn(text: string, plugin: Plugin, now: number): Issued {
  const { spot } = plugin;
  const status = statusIn(text, plugin);
  const token = status.text("token");
  const [certificate, key] = [status.text("clientCertificateData"), status.text("clientKeyData")];
  if (token === undefined && certificate === undefined)
    throw nonsense(plugin, "an ExecCredential without status.token and status.clientCertificateData");
  if ((certificate === undefined) !== (key === undefined))
    throw nonsense(plugin, "only one of status.clientCertificateData and status.clientKeyData");
  if (token !== undefined) checkToken(token, spot);
  if (certificate !== undefined) checkCertificates(certificate, spot);
  if (key !== undefined) checkKey(key, spot);
  const headers = token === undefined ? {} : bearerHeader(token);
  return {
    credential: { headers, certificate, key },
    useUntil: useUntil(status.text("expirationTimestamp"), now, plugin),
  };
}

function statusIn(text: string, plugin: Plugin): Section {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw nonsense(plugin, "something that is no JSON");
  }
  if (!isObject(value) || value.kind !== "ExecCredential" || !isObject(value.status))
    throw nonsense(plugin, "JSON that is no ExecCredential with a status");
  if (value.apiVersion !== plugin.apiVersion)
    throw nonsense(plugin, `an ExecCredential of another apiVersion than ${plugin.apiVersion}`);
  return sectionOf(value.status, within(plugin.spot, "status"));
}

const nonsense = ({ command, spot }: Plugin, printed: string): Fault =>
  configError(
    within(spot, "command"),
    `the plugin "${command}" printed ${printed}`,
    "run it by hand and compare with its manual",
  );

const expiryMarginMsMax = 10_000;

/** A little early, so that a token does not run out on its way; never so early that a short life is no life. */
function useUntil(timestamp: string | undefined, now: number, plugin: Plugin): number | undefined {
  if (timestamp === undefined) return undefined;
  const expiresAt = Date.parse(timestamp);
  if (Number.isNaN(expiresAt)) throw nonsense(plugin, "a status.expirationTimestamp that is no date");
  return expiresAt - Math.min(expiryMarginMsMax, Math.max(0, expiresAt - now) / 10);
}
