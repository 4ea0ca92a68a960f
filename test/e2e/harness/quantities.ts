/**
 * How Kubernetes itself prints a quantity: kubectl sends it to the real API server as the capacity of a device (a field
 * in which any quantity is valid, also a negative one) without storing it, and shows what comes back.
 */
import { createKubectl } from "./kubectl.ts";

/** The canonical spelling by the spelling given; null for what is no quantity. */
export type QuantityTable = readonly (readonly [given: string, canonical: string | null])[];

export async function canonicalByKubectl(kubeconfig: string, given: readonly string[]): Promise<QuantityTable> {
  const asGiven = await printedByKubectl(kubeconfig, given);
  const respelled = await printedByKubectl(kubeconfig, given.map(oneZeroMore));
  return given.map((text, index) => {
    const printed = asGiven[index] ?? null;
    return [text, printed === text ? (respelled[index] ?? null) : printed];
  });
}

/** Some spellings the server keeps as they are ("+1", "007", "1E+3"); of two that differ by a final zero, only ever one. */
const oneZeroMore = (text: string): string =>
  text.replace(/^([+-]?\d*)(\.\d*)?(?=[A-Za-z]|$)/, (all, whole: string, fraction?: string) =>
    all === "" ? all : `${whole}${fraction ?? "."}0`,
  );

async function printedByKubectl(kubeconfig: string, given: readonly string[]): Promise<readonly (string | null)[]> {
  const items = given.map((text, index) => slice(`quantity-${index}`, text));
  const template = "{.metadata.name} {.spec.devices[0].capacity.size.value}{'\\n'}";
  const { stdout, stderr } = await createKubectl(kubeconfig)(
    ["create", "--dry-run=server", "-o", `jsonpath=${template}`, "-f", "-"],
    { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) },
  );
  const lines = stdout.trim().split("\n");
  const refused = stderr.split("\n").filter((line) => line.startsWith("Error from server")).length;
  if (lines.length + refused !== given.length)
    throw new Error(`kubectl answered for ${lines.length} + ${refused} of ${given.length} quantities: ${stderr}`);
  const printed = new Map(lines.map((line) => line.split(" ") as [string, string]));
  return given.map((_, index) => printed.get(`quantity-${index}`) ?? null);
}

const slice = (name: string, value: string) => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceSlice",
  metadata: { name },
  spec: {
    driver: "quantity.test",
    nodeName: "anywhere",
    pool: { name: "pool", generation: 1, resourceSliceCount: 1 },
    devices: [{ name: "device", capacity: { size: { value } } }],
  },
});
