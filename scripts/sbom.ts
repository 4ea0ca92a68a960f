/** A software bill of materials, in SPDX 2.3: packages by name, version, licence and package URL. */

export interface Part {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Package URL, without the version. */
  readonly purl: string;
  readonly sha256?: string;
}

export interface Document {
  readonly name: string;
  readonly version: string;
  readonly created: string;
  readonly parts: readonly Part[];
}

const idOf = (text: string): string => `SPDXRef-${text.replace(/[^A-Za-z0-9.-]+/g, "-")}`;
/** What is no SPDX expression is not asserted. */
const licence = (text: string): string => (/^[\w.+() -]+$/.test(text) ? text : "NOASSERTION");

export function spdx({ name, version, created, parts }: Document): string {
  const own = { name, version, license: "Apache-2.0", purl: "pkg:npm/snapkeep" };
  const idOfPart = (part: Part): string => idOf(`${part.purl.split("/")[0]}-${part.name}-${part.version}`);
  const packages = [own, ...parts].map((part: Part) => ({
    SPDXID: part === own ? idOf("snapkeep") : idOfPart(part),
    name: part.name,
    versionInfo: part.version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: licence(part.license),
    copyrightText: "NOASSERTION",
    externalRefs: [
      {
        referenceCategory: "PACKAGE-MANAGER",
        referenceType: "purl",
        referenceLocator: `${part.purl}@${encodeURIComponent(part.version)}`,
      },
    ],
    ...(part.sha256 === undefined ? {} : { checksums: [{ algorithm: "SHA256", checksumValue: part.sha256 }] }),
  }));
  const relationships = [
    { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: idOf("snapkeep") },
    ...parts.map((part) => ({
      spdxElementId: idOf("snapkeep"),
      relationshipType: "CONTAINS",
      relatedSpdxElement: idOfPart(part),
    })),
  ];
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${name}-${version}`,
    documentNamespace: `https://snapkeep.dev/spdx/${name}-${version}`,
    creationInfo: { created, creators: ["Tool: snapkeep-build"] },
    packages,
    relationships,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
