import assert from "node:assert/strict";
import { contentRef, type Scenario } from "../harness/scenario.ts";
import { until } from "../harness/until.ts";

export const twoWritersOneAnnotationMap: Scenario = {
  shows: "annotations of other writers survive all our writes",
  async play({ client, stand, driver, volume, take, deleteHandles, assertNothingLeft }) {
    driver.oddities.set(volume, () => ({ readyToUse: false }));
    await take("noted");
    const content = await until({ what: "the snapshot is bound" }, () =>
      stand.contentOf("noted").catch(() => undefined),
    );
    const ref = contentRef(content.metadata.name);
    await client.patch(ref, { type: "merge", body: { metadata: { annotations: { "their/note": "x" } } } });
    driver.mend();
    await stand.untilReady("noted");
    await client.patch(ref, { type: "merge", body: { spec: { deletionPolicy: "Retain" } } });
    await stand.remove("noted");
    assert.equal((await client.get(ref)).metadata.annotations?.["their/note"], "x");
    await client.delete(ref);
    await stand.untilGone(ref);
    await deleteHandles();
    await assertNothingLeft();
  },
};
