/** Query parameters, added to those that the path has; those that are undefined or empty are left out. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const isQueried = path.includes("?");
  let query = "";
  for (const name of Object.keys(parameters)) {
    const value = parameters[name];
    if (value !== undefined && value !== "")
      query += `${query === "" && !isQueried ? "?" : "&"}${name}=${encodeURIComponent(String(value))}`;
  }
  return path + query;
}
