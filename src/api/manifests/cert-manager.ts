/**
 * The webhook's certificate where cert-manager makes and renews it: an authority of ten years signs the serving certificate of a year, and
 * cert-manager writes the authority into each caBundle. Two steps, so that a renewed serving certificate is trusted by what is there already.
 */
import type { JsonObject } from "../../base/json.ts";
import { installationLabel, type ManifestObject } from "./component.ts";

export const certManagerGroup = "cert-manager.io/v1";
/** On a webhook configuration, with namespace and name of a Certificate. */
export const injectAnnotation = "cert-manager.io/inject-ca-from";
export const servingCertificate = "snapshot-validation";
const [selfSigned, authority] = ["snapshot-validation-self-signed", "snapshot-validation-authority"] as const;

export interface CertificatePlace {
  readonly namespace: string;
  readonly service: string;
  /** Where the pods find the certificate. */
  readonly secret: string;
}

const privateKey = { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" };

export function certManagerObjects({ namespace, service, secret }: CertificatePlace): readonly ManifestObject[] {
  const named = (kind: "Issuer" | "Certificate", name: string, spec: JsonObject): ManifestObject =>
    ({ apiVersion: certManagerGroup, kind, metadata: { name, namespace }, spec }) as ManifestObject;
  const dnsNames = [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`];
  return [
    named("Issuer", selfSigned, { selfSigned: {} }),
    named("Certificate", authority, {
      isCA: true,
      commonName: "snapkeep webhook authority",
      secretName: authority,
      duration: "87600h0m0s",
      privateKey,
      issuerRef: { name: selfSigned, kind: "Issuer" },
    }),
    named("Issuer", authority, { ca: { secretName: authority } }),
    named("Certificate", servingCertificate, {
      secretName: secret,
      // An uninstallation has to know whose it is.
      secretTemplate: { labels: { [installationLabel]: namespace } },
      dnsNames,
      usages: ["server auth", "digital signature"],
      duration: "8760h0m0s",
      renewBefore: "1440h0m0s",
      privateKey,
      issuerRef: { name: authority, kind: "Issuer" },
    }),
  ];
}

export const isOfCertManager = ({ apiVersion }: { readonly apiVersion: string }): boolean =>
  apiVersion === certManagerGroup;

/** A webhook configuration whose caBundle cert-manager writes. */
export function injected(configuration: JsonObject, namespace: string): JsonObject {
  const { metadata } = configuration as { readonly metadata: { readonly annotations?: JsonObject } };
  const annotations = { ...metadata.annotations, [injectAnnotation]: `${namespace}/${servingCertificate}` };
  return { ...configuration, metadata: { ...metadata, annotations } };
}
