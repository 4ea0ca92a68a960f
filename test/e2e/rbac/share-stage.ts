/** Where shares and their owners are in the lives of this folder. */
import { installation } from "./rights.ts";

export const { namespace: home } = installation;
export const team = "team";
/** Shares by their kind: plural, plural of what they stand for, and the field that names it. */
export const kinds = {
  SharedSecret: ["sharedsecrets", "secrets", "secretRef"],
  SharedConfigMap: ["sharedconfigmaps", "configmaps", "configMapRef"],
} as const;

export type CreateShare = (component: string, kind: keyof typeof kinds, name: string, owner?: string) => Promise<void>;
