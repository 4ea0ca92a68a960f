/** Writes src/base/quantity.table.json again, with the spellings it holds and what the real Kubernetes says to them. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { canonicalByKubectl, type QuantityTable } from "./harness/quantities.ts";
import { useControlPlane } from "./harness/shared.ts";

const path = resolve(import.meta.dirname, "../../src/base/quantity.table.json");
const rows = JSON.parse(readFileSync(path, "utf8")) as QuantityTable;
const given = [...new Set(rows.map(([text]) => text))];
const { kubeconfig } = await useControlPlane();
const table = await canonicalByKubectl(kubeconfig, given);
writeFileSync(path, `[\n${table.map((row) => `  ${JSON.stringify(row).replace('",', '", ')}`).join(",\n")}\n]\n`);
