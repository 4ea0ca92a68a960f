import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../../test/builders.ts";
import { aCsiNode, aNode } from "../../../../test/volume-plans.ts";
import { type TopologyInput, topologyRequirement } from "./topology.ts";

const zone = "example.com/zone";
const nodes = [aNode("n1", { [zone]: "a" }), aNode("n2", { [zone]: "b" }), aNode("n3", { [zone]: "b" })];
const csiNodes = ["n1", "n2", "n3"].map((name) => aCsiNode(name, [zone]));
const a = { [zone]: "a" };
const b = { [zone]: "b" };
const term = (...values: string[]) => ({ matchLabelExpressions: [{ key: zone, values }] });

const given = (change: Partial<TopologyInput> = {}): TopologyInput => ({
  driver,
  claimName: "data",
  selectedNode: undefined,
  storageClass: {},
  nodes,
  csiNodes,
  strict: false,
  immediate: true,
  ...change,
});

const rows: readonly (readonly [given: string, input: Partial<TopologyInput>, expected: object])[] = [
  ["a selected node", { selectedNode: "n2" }, { kind: "topology", requisite: [a, b], preferred: [b, a] }],
  [
    "a selected node, strict",
    { selectedNode: "n2", strict: true },
    { kind: "topology", requisite: [b], preferred: [b] },
  ],
  [
    "a selected node and topologies that allow it",
    { selectedNode: "n2", storageClass: { allowedTopologies: [term("c", "b")] } },
    { kind: "topology", requisite: [{ [zone]: "c" }, b], preferred: [b, { [zone]: "c" }] },
  ],
  ["no node, and topology only where asked for", { immediate: false }, { kind: "none" }],
  [
    "no node, topology only where asked for, and allowed topologies",
    { immediate: false, storageClass: { allowedTopologies: [term("a")] } },
    { kind: "topology", requisite: [a], preferred: [a] },
  ],
  ["no nodes at all", { nodes: [], csiNodes: [] }, { kind: "none" }],
  ["nodes of another driver only", { csiNodes: [aCsiNode("n1", [zone], "other.example.com")] }, { kind: "none" }],
  [
    "a node that lacks the label",
    { nodes: [aNode("n1", {}), aNode("n2", { [zone]: "b" })] },
    { kind: "topology", requisite: [b], preferred: [b] },
  ],
  [
    "two allowed topologies that are the same",
    { immediate: false, storageClass: { allowedTopologies: [term("a"), term("a")] } },
    { kind: "topology", requisite: [a], preferred: [a] },
  ],
];
for (const [what, input, expected] of rows)
  test(`given ${what}, the requirement is ${JSON.stringify(expected)}`, () =>
    assert.deepEqual(topologyRequirement(given(input)), expected));

const kinds: readonly (readonly [given: string, input: Partial<TopologyInput>, kind: string, message: RegExp])[] = [
  ["a selected node that is gone", { selectedNode: "n9" }, "reschedule", /node n9 or its CSINode is gone/],
  ["a selected node whose CSINode is gone", { selectedNode: "n1", csiNodes: [] }, "reschedule", /CSINode is gone/],
  [
    "a selected node where the driver is not registered",
    { selectedNode: "n1", csiNodes: [aCsiNode("n1", [zone], "other.example.com")] },
    "wrong",
    /start the driver's pod/,
  ],
  ["a selected node without its label", { selectedNode: "n1", nodes: [aNode("n1", {})] }, "wrong", /lacks a label/],
  [
    "a selected node outside of the allowed topologies",
    { selectedNode: "n1", storageClass: { allowedTopologies: [term("b")] } },
    "wrong",
    /outside of allowedTopologies/,
  ],
];
for (const [what, input, kind, message] of kinds)
  test(`given ${what}, the answer is ${kind}`, () => {
    const found = topologyRequirement(given(input));
    assert.equal(found.kind, kind);
    assert.match((found as { message: string }).message, message);
  });

test("terms are alternatives, and each combination of a term's values is one topology", () => {
  const rack = "example.com/rack";
  const allowedTopologies = [
    {
      matchLabelExpressions: [
        { key: zone, values: ["a", "b"] },
        { key: rack, values: ["1", "2"] },
      ],
    },
    term("c"),
  ];
  const found = topologyRequirement(given({ immediate: false, storageClass: { allowedTopologies } }));
  const requisite = ["a 1", "a 2", "b 1", "b 2"].map((pair) => {
    const [inZone, inRack] = pair.split(" ");
    return { [zone]: inZone, [rack]: inRack };
  });
  assert.deepEqual((found as { requisite: unknown }).requisite, [...requisite, { [zone]: "c" }]);
});

test("the claims of a StatefulSet prefer different topologies, each claim always the same", () => {
  const firstOf = (claimName: string): string => {
    const found = topologyRequirement(given({ claimName }));
    return found.kind === "topology" ? (found.preferred[0]?.[zone] ?? "") : found.kind;
  };
  const two = [firstOf("data-db-0"), firstOf("data-db-1")];
  assert.deepEqual(two.toSorted(), ["a", "b"]);
  assert.deepEqual([firstOf("data-db-0"), firstOf("data-db-1")], two);
});
