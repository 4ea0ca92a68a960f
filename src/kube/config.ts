/**
 * Where the API server is and who we are: from a kubeconfig or, inside a pod, from the service account. Files are read
 * again while the program runs, because tokens and authorities rotate. What is wrong is said in one line that names the
 * file, the field and the remedy; tokens and keys are never part of it.
 */
import { delimiter, join } from "node:path";
import { Fault } from "../base/fault.ts";
import type { World } from "../base/world.ts";
import { resolveContext } from "./config-context.ts";
import { readKubeconfig } from "./config-file.ts";
import { readInCluster, serviceAccountFolder } from "./config-pod.ts";
import { proxyInEnvironment } from "./proxy.ts";
import type { Environment, Target } from "./target.ts";

export interface ConfigOptions {
  /** --kubeconfig: this file and no other. */
  readonly kubeconfig?: string | undefined;
  /** --context instead of the file's current-context. */
  readonly context?: string | undefined;
  /** The process environment: KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST and _PORT, HTTPS_PROXY, NO_PROXY; handed on to exec plugins. */
  readonly environment: Environment;
  readonly world: World;
  /** Where a pod finds its token, for tests. */
  readonly serviceAccountFolder?: string | undefined;
}

/**
 * The first that is there: the file asked for, the files of KUBECONFIG, ~/.kube/config, the service account of the pod.
 * All that can be checked without the network has been checked when this returns.
 */
export async function loadConfig(options: ConfigOptions): Promise<Target> {
  const { environment, world, context } = options;
  // A proxy-url is for all servers of its cluster, whatever NO_PROXY excepts, as for kubectl.
  const throughProxy = (target: Target): Target =>
    target.proxy === undefined ? { ...target, proxy: proxyInEnvironment(target.server, environment) } : target;
  const listed = (environment.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  const home = environment.HOME === undefined ? [] : [join(environment.HOME, ".kube", "config")];
  const asked = options.kubeconfig === undefined || options.kubeconfig === "" ? undefined : options.kubeconfig;
  const files = asked !== undefined ? [asked] : listed.length > 0 ? listed : home;
  const config = await readKubeconfig(files, asked === undefined ? "is passed over" : "is wrong");
  if (config !== undefined) return throughProxy(await resolveContext(config, context, { world, environment }));
  const pod = await readInCluster(environment, world, options.serviceAccountFolder ?? serviceAccountFolder);
  if (pod !== undefined) return throughProxy(pod);
  const looked = [...files, "the service account of a pod"].join(" and ");
  throw new Fault(
    "InvalidArgument",
    `no API server is configured: looked for ${looked}; give --kubeconfig or set KUBECONFIG`,
  );
}
