/** One control plane for all suites of a run, started when the first one asks. Tests that break things start their own. */
import { type ControlPlane, startControlPlane } from "./control-plane.ts";

let shared: Promise<ControlPlane> | undefined;

export const useControlPlane = (): Promise<ControlPlane> => {
  shared ??= startControlPlane();
  return shared;
};

let counter = 0;

/** A namespace of its own for a test, so that tests that share a control plane do not see each other. */
export async function newNamespace({ request }: ControlPlane, prefix: string): Promise<string> {
  counter += 1;
  const name = `${prefix}-${counter}`;
  const answer = await request("POST", "/api/v1/namespaces", { metadata: { name } });
  if (answer.status !== 201) throw new Error(`namespace ${name} was not created: ${answer.text}`);
  return name;
}
