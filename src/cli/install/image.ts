/** The image of --image: its repository, and its tag if one is given. Pure. */

export type ParsedImage =
  | { readonly kind: "image"; readonly repository: string; readonly tag: string }
  | { readonly kind: "wrong"; readonly why: string };

const repositoryForm = /^[a-z0-9][a-z0-9._-]*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;
const tagForm = /^\w[\w.-]{0,127}$/;

export function parseImage(given: string, version: string): ParsedImage {
  const quoted = JSON.stringify(given);
  if (given.includes("@"))
    return {
      kind: "wrong",
      why: `${quoted} has a digest, and there are two images: the plain one, and one for drivers whose tag ends in -driver; give the repository, or the repository with a tag`,
    };
  // A colon before a slash belongs to the port of the registry.
  const [, repository = given, tag = version] = /^(.*):([^/:]*)$/.exec(given) ?? [];
  if (!repositoryForm.test(repository) || !tagForm.test(tag))
    return { kind: "wrong", why: `${quoted} is no image; expected for example registry.example.com/snapkeep` };
  return { kind: "image", repository, tag };
}
