/** Group snapshots: SNAP-26x and SNAP-29x by the snapshot-controller, SNAP-54x about the calls of csi-snapshotter. */
import { annotations } from "../api/names.ts";
import type { ErrorRow } from "./row.ts";

export const groupErrorRows = {
  "SNAP-261": {
    title: "The selector of a VolumeGroupSnapshot selects nothing in particular",
    why: "An empty selector would select every claim of the namespace, and one with an unknown operator nobody knows which.",
    fix: "delete the VolumeGroupSnapshot, and create one whose spec.source.selector names a label",
    more: "The selector of an existing group cannot be changed.",
  },
  "SNAP-262": {
    title: "No claim matches the selector of a VolumeGroupSnapshot",
    why: "A group needs at least one volume. It is taken once a claim of its namespace has the labels.",
    fix: "label the claims, or delete the VolumeGroupSnapshot",
  },
  "SNAP-263": {
    title: "A claim of a group cannot be snapshotted",
    why: "All claims that the selector matches are taken together, or none. The message names the claim and what is wrong with it.",
    fix: "correct the claim, or take the label from it",
  },
  "SNAP-264": {
    title: "Two claims of a group stand for one volume",
    why: "Two PersistentVolumes have the same volumeHandle, so that two members would be one snapshot.",
    fix: "take the label from one of the claims",
  },
  "SNAP-265": {
    title: "The class of a VolumeGroupSnapshot cannot be used",
    why: "The class says which driver takes the group, and with which parameters. It does not exist, is for another driver, or there is not exactly one default class.",
    fix: "create the class, or name another in spec.volumeGroupSnapshotClassName",
    more: `A default class has the annotation ${annotations.defaultGroupClass}: "true".`,
  },
  "SNAP-266": {
    title: "The content of a VolumeGroupSnapshot is missing or belongs to another group",
    why: "The VolumeGroupSnapshotContent was removed although the group still needs it, does not exist, or refers to another VolumeGroupSnapshot. A group is never taken a second time.",
    fix: "delete the VolumeGroupSnapshot, or bring its content back",
  },
  "SNAP-267": {
    title: "A member of a group was deleted by itself",
    why: "A group that lacks a member cannot be restored. Its members are protected while it exists, and go with it.",
    fix: (group = "the VolumeGroupSnapshot") => `delete ${group}, and its members are deleted with it`,
  },
  "SNAP-268": {
    title: "A VolumeGroupSnapshot cannot be deleted yet",
    why: "A claim is being restored from a member, or the driver has not deleted the group. The message says which.",
    fix: "wait for the restore or delete its claim, or remove the cause at the storage system",
    more: "To keep the data and delete the object, set spec.deletionPolicy of the VolumeGroupSnapshotContent to Retain.",
  },
  "SNAP-269": {
    title: "A VolumeGroupSnapshotContent without a driver was deleted, and a group may be left at the driver",
    why: "Its spec.driver is empty, so no csi-snapshotter takes it for its own. The object is not kept for ever.",
    fix: "look for the group in the message at the storage system and delete it there",
  },
  "SNAP-294": {
    title: "A group snapshot is being created",
    why: "Nothing is wrong: the VolumeGroupSnapshotContent exists, and the driver is asked to take the group.",
    fix: "nothing",
    more: "If this stays the last event, look at the events of the VolumeGroupSnapshotContent.",
  },
  "SNAP-295": {
    title: "A group snapshot is ready to use",
    why: "Nothing is wrong: claims can be restored from every member.",
    fix: "nothing",
  },
  "SNAP-541": {
    title: "The driver takes no group snapshots",
    why: "The driver does not announce a group controller with CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT.",
    fix: "take a VolumeSnapshot of each claim, or use a driver that takes groups",
    more: "Nothing was sent to the driver: the VolumeGroupSnapshot can be deleted.",
  },
  "SNAP-542": {
    title: "The driver's group is not what was asked for",
    why: "A group must have one snapshot of each volume. With other members it would be restored wrongly, so it never becomes ready. All ids that the driver answered are kept, so that nothing is left when the group is deleted.",
    fix: "delete the VolumeGroupSnapshot, and report this to the maker of the driver",
  },
  "SNAP-543": {
    title: "The driver does not tell whether a group is ready",
    why: "GetVolumeGroupSnapshot failed; the message quotes the driver. It is asked again, with growing pauses.",
    fix: "remove the cause at the driver or the storage system",
  },
} as const satisfies Record<string, ErrorRow>;
