/** `snapkeep apiserver`: the embedded Kubernetes API server on its own. */
import {
  type ClaimRules,
  claimRules,
  claimRulesPlugins,
  createApiServer,
  volumeBinder,
} from "../../apiserver/index.ts";
import { whenAborted } from "../../base/world.ts";
import { defineCommand } from "../../runtime/command.ts";
import { featureGates, integer, oneOf, text } from "../../runtime/flag-kinds.ts";
import { kubeconfigOut, publishKubeconfig } from "../kubeconfig/publish.ts";
import { openRunFolder } from "../run-folder.ts";
import { crossNamespaceAliases } from "./upstream-gates.ts";

export const command = defineCommand({
  flags: {
    host: text({ default: "127.0.0.1", help: "Address to listen on. Empty: all addresses of this machine." }),
    port: integer({ default: 6443, min: 0, max: 65_535, help: "Port to listen on; 0 selects a free port." }),
    kubeconfigOut,
    tokenAuthFile: text({
      default: "",
      example: "./tokens.csv",
      help: 'File with additional users: lines of token,user,uid,"group1,group2". RBAC roles and bindings define their rights.',
    }),
    featureGates: featureGates(
      { CrossNamespaceVolumeDataSource: false, AnyVolumeDataSource: true },
      {
        aliases: crossNamespaceAliases,
        help: "Kubernetes feature gates; unset gates have Kubernetes' defaults. CrossNamespaceVolumeDataSource is also written CrossNamespaceSourceProvisioning. AnyVolumeDataSource=false requires --claim-rules=strict or documents.",
      },
    ),
    claimRules: oneOf<ClaimRules>(claimRules, {
      default: "kubernetes",
      help: "How to handle a claim with an unsupported data source: kubernetes drops the source and stores the claim, strict and documents reject the claim. With the gate CrossNamespaceVolumeDataSource, documents also serves spec.dataSourceRef2 of claims, and documents-exclusive spec.crossNamespaceDataSourceRef in its place.",
    }),
  },
  examples: [
    { does: "Start an API server with its own kubeconfig", line: "snapkeep apiserver --kubeconfig-out ./kubeconfig" },
    {
      does: "Add a context to your own kubeconfig while the server runs",
      line: "snapkeep apiserver --kubeconfig-out ~/.kube/config",
    },
    { does: "Use any free port", line: "snapkeep apiserver --port 0 --kubeconfig-out ./kubeconfig" },
  ],
  check: ({ claimRules: rules, featureGates: gates }) =>
    rules === "kubernetes" && !gates.AnyVolumeDataSource
      ? "--feature-gates: AnyVolumeDataSource is always on in Kubernetes; to turn it off, add --claim-rules=strict"
      : undefined,
  async run({ options, world, signal, out, error, version }) {
    const warn = (line: string): unknown => error.write(`snapkeep apiserver: ${line}\n`);
    const folder = await openRunFolder({ world, warn });
    try {
      const server = createApiServer({
        world,
        featureGates: options.featureGates,
        plugins: [volumeBinder, claimRulesPlugins[options.claimRules]],
        version,
      });
      const api = await server.start({ host: options.host, port: options.port, tokenFile: options.tokenAuthFile });
      try {
        const { path, kubectl, withdraw } = await publishKubeconfig({ api, out: options.kubeconfigOut, folder, world });
        out.write(`Kubernetes API at ${api.url}\n\n  ${kubectl} --kubeconfig ${path} get namespaces\n\n`);
        await whenAborted(signal).finally(withdraw);
        return 0;
      } finally {
        await server.stop();
      }
    } finally {
      await folder.remove();
    }
  },
});
