import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { parseFlags } from "../runtime/flags.ts";
import { commands } from "./commands.ts";
import { componentRows, deployFiles } from "./deploy.ts";
import { findingsIn } from "./lint/findings.ts";
import { readManifests } from "./lint/manifests.ts";

for (const { name, workload } of componentRows) {
  const [component = "", ...argv] = workload.container.args ?? [];
  const load = () => commands.find((row) => row.name === component)?.load() ?? assert.fail(`no command ${component}`);

  test(`the Deployment of ${name} starts a command that accepts its flags`, async () => {
    const { command } = await load();
    const { options, positionals, warnings } = parseFlags(command.flags, argv);
    assert.deepEqual([command.check?.(options as never, positionals), positionals, warnings], [undefined, [], []]);
  });

  test(`pods of ${name} have more time to stop than they go on serving`, async () => {
    const { options } = parseFlags((await load()).command.flags, argv);
    const { shutdownDelayDuration = 0 } = options as { readonly shutdownDelayDuration?: number };
    assert.ok(workload.terminationGracePeriodSeconds * 1_000 > shutdownDelayDuration + 10_000);
  });

  test(`the mounts of ${name} hold the files that its flags name`, () => {
    const mounted = (workload.container.volumeMounts ?? []).flatMap((mount) =>
      workload.volumes
        .filter((volume) => volume.name === mount.name)
        .flatMap(({ secret }) => (secret?.items ?? []).map(({ path }) => `${mount.mountPath}/${path}`)),
    );
    const named = argv.flatMap((flag) => /=(\/.*)/.exec(flag)?.[1] ?? []);
    assert.deepEqual(named, mounted);
  });
}

test("the arguments that the requirement document prints start the webhook", async () => {
  const file = join(import.meta.dirname, "../../test/e2e/fixtures/requirement-000/deployment.yaml");
  const [container] = parse(readFileSync(file, "utf8")).spec.template.spec.containers;
  const [component, ...argv] = container.args as string[];
  const { command } = (await commands.find((row) => row.name === component)?.load()) ?? assert.fail();
  const { options, positionals } = parseFlags(command.flags, argv);
  assert.equal(command.check?.(options as never, positionals), undefined);
});

test("lint has nothing to say about the manifests", () => {
  const files = Object.entries(deployFiles({ namespace: "snapkeep", image: "i" })).map(([path, text]) => ({
    path,
    text,
  }));
  const gates = { anyVolumeDataSource: true, crossNamespace: true };
  assert.deepEqual(findingsIn(readManifests(files), [], gates), []);
});
