/** Label selectors as columns show them. */
import { isObject, type JsonObject } from "../../base/json.ts";

/** matchLabels and matchExpressions as they would stand in a query; a bare map is matchLabels. */
export function selectorText(selector: JsonObject): string {
  const labels = isObject(selector.matchLabels) ? selector.matchLabels : "matchExpressions" in selector ? {} : selector;
  const expressions = Array.isArray(selector.matchExpressions) ? selector.matchExpressions : [];
  const parts = [
    ...Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`),
    ...expressions.flatMap((expression) => (isObject(expression) ? [expressionText(expression)] : [])),
  ];
  return parts.sort().join(",");
}

function expressionText({ key, operator, values }: JsonObject): string {
  const list = Array.isArray(values) ? values.map(String).sort().join(",") : "";
  if (operator === "Exists") return String(key);
  if (operator === "DoesNotExist") return `!${String(key)}`;
  return `${String(key)} ${operator === "NotIn" ? "notin" : "in"} (${list})`;
}
