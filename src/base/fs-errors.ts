/** What an operating system says when a file or a folder cannot be had, in words for people. */
const words: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  EEXIST: "there is a file of that name",
  EISDIR: "there is a folder of that name",
  EACCES: "this user may not do that there",
  EPERM: "this user may not do that there",
  EROFS: "that file system is read-only",
  ELOOP: "symbolic links lead in a circle",
  ENXIO: "nothing is behind it: it is a socket or a device",
  ENAMETOOLONG: "its name is too long",
  ENOSPC: "no room is left on that disk",
};

export const errorCodeOf = (reason: unknown): string =>
  reason instanceof Error && "code" in reason && typeof reason.code === "string" ? reason.code : "";

export function fsErrorText(reason: unknown): string {
  const known = words[errorCodeOf(reason)];
  if (known !== undefined) return known;
  return reason instanceof Error ? reason.message : String(reason);
}
