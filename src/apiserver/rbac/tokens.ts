/** Who is asking: a static token file, one line per token: `token,user,uid,"group1,group2"`. */
import { Fault } from "../../base/fault.ts";
import type { User } from "../contracts.ts";

const everyone = "system:authenticated";

/** Whoever holds the server's own token, or is in its process. */
export const administrator: User = { name: "admin", groups: ["system:masters", everyone] };

/** Fields may be quoted; a quote inside of quotes is doubled. Empty lines and lines beginning with # are skipped. */
export function parseTokens(text: string): ReadonlyMap<string, User> {
  const users = new Map<string, User>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [token = "", name = "", uid = "", groups = ""] = fieldsOf(line);
    if (token === "" || name === "")
      throw new Fault(
        "InvalidArgument",
        `line ${index + 1} of the token file needs a token and a user name: write token,user,uid,"group1,group2"`,
      );
    const listed = groups.split(",").map((group) => group.trim());
    users.set(token, {
      name,
      ...(uid === "" ? {} : { uid }),
      groups: [...listed.filter((group) => group !== ""), everyone],
    });
  }
  return users;
}

function fieldsOf(line: string): readonly string[] {
  const fields = line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*/g);
  return [...fields].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? "");
}
