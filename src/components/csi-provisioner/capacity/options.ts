/** What the flags say of storage capacity. */
import type { Millis } from "../../../base/brand.ts";

export interface CapacityOptions {
  /** The namespace of the objects, and of the pod. */
  readonly namespace: string;
  readonly podName: string;
  /** 0: the pod owns the objects; 1: what controls it, and so on. Below 0: the objects have no owner. */
  readonly ownerLevel: number;
  readonly pollMs: Millis;
  readonly forImmediateBinding: boolean;
  /** Objects worked on at once. */
  readonly threads: number;
  /** The rate of requests about them. */
  readonly rate: { readonly kubeApiQps: number; readonly kubeApiBurst: number };
}
