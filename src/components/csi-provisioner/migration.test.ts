import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, silent } from "../../base/log.ts";
import { warnOfMigration } from "./migration.ts";

test("beside a driver that has taken over from an in-tree plugin the log says that nothing is migrated", () => {
  const warned: unknown[] = [];
  const log: Log = { ...silent, warn: (message, fields) => void warned.push([message, fields]) };
  warnOfMigration("disk.example.com", log);
  assert.deepEqual(warned, []);
  warnOfMigration("ebs.csi.aws.com", log);
  assert.match(
    JSON.stringify(warned),
    /not migrated.*kubernetes\.io\/aws-ebs.*whose provisioner is ebs\.csi\.aws\.com/,
  );
});
