/** Everything `kubectl create` can make of a kind that is served: it sends these as protobuf, not as JSON. */
import type { Script } from "./compare.ts";

/** What the controllers of the real server fill in after a creation comes at any time, so objects are shown by what was asked for. */
const asCreated = "--dry-run=server -o yaml";

/** Created for show, created, created again, and shown as it is stored. */
function creation(what: string, kind: string, name: string, options = "", namespace = "-n k-team"): Script {
  const command = `create ${what} ${name} ${namespace} ${options}`.replace(/ +/g, " ").trim();
  return {
    name: `create ${what} ${options}`.trim(),
    steps: [
      `${command} ${asCreated}`,
      command,
      command,
      `get ${kind} ${name} ${namespace} -o jsonpath='{.spec}{.rules}{.subjects}{.roleRef}{.data}{.type}'`.trim(),
      `delete ${kind} ${name} ${namespace}`.trim(),
    ],
  };
}

const service = (type: string, options: string): Script => creation(`service ${type}`, "service", "s", options);

export const creations: readonly Script[] = [
  creation("deployment", "deployment", "d", "--image=nginx:1"),
  creation("deployment", "deployment", "d", "--image=nginx:1 --image=box:2 --replicas=3 --port=80"),
  creation("deployment", "deployment", "d", "--image=box:1 -- sleep 5"),
  creation("deployment", "deployment", "Bad_Name", "--image=box:1"),
  creation("job", "job", "j", "--image=box:1"),
  creation("job", "job", "j", "--image=box:1 -- date"),
  creation("cronjob", "cronjob", "c", "--image=box:1 --schedule='*/5 * * * *'"),
  creation("cronjob", "cronjob", "c", "--image=box:1 --schedule='*/5 * * * *' --restart=Never -- date"),
  creation("cronjob", "cronjob", "c", "--image=box:1 --schedule='now and then'"),
  {
    name: "create job --from a cron job",
    steps: [
      "create cronjob c -n k-team --image=box:1 --schedule='0 0 1 1 *'",
      "create job now -n k-team --from=cronjob/c --dry-run=server -o yaml",
      "create job now -n k-team --from=cronjob/c",
      "create job never -n k-team --from=cronjob/nothing",
      "get job now -n k-team -o jsonpath={.metadata.annotations}{.metadata.ownerReferences[*].name}",
      "delete job/now cronjob/c -n k-team",
    ],
  },
  service("clusterip", "--tcp=80:8080"),
  service("clusterip", "--tcp=80 --tcp=443:https"),
  service("clusterip", "--clusterip=None"),
  service("nodeport", "--tcp=80:8080 --node-port=30123"),
  service("nodeport", "--tcp=80 --node-port=80"),
  service("loadbalancer", "--tcp=80:8080"),
  service("externalname", "--external-name=example.com"),
  creation("namespace", "namespace", "k-made", "", ""),
  creation("configmap", "configmap", "m", "--from-literal=a=1"),
  creation("secret generic", "secret", "x", "--from-literal=a=1 --type=example.com/kind"),
  creation(
    "secret docker-registry",
    "secret",
    "x",
    "--docker-server=example.com --docker-username=me --docker-password=it --docker-email=me@example.com",
  ),
  creation("serviceaccount", "serviceaccount", "a"),
  creation("role", "role", "r", "--verb=get,list --resource=pods,deployments.apps --resource-name=one"),
  creation("rolebinding", "rolebinding", "b", "--clusterrole=view --user=ann --group=people --serviceaccount=k-team:a"),
  creation("clusterrole", "clusterrole", "k-made", "--verb=get --non-resource-url=/metrics", ""),
  creation("clusterrole", "clusterrole", "k-made", "--aggregation-rule=a=b", ""),
  creation("clusterrolebinding", "clusterrolebinding", "k-made", "--clusterrole=view --user=ann", ""),
];
