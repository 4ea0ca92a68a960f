import { connect } from "node:net";
import type { Scenario } from "../harness/scenario.ts";

export const metricsHandlerBlocks: Scenario = {
  shows: "metrics clients that never finish their request delay no snapshot",
  async play({ port, lifeGoesOn, assertNothingLeft }) {
    const scrapers = Array.from({ length: 50 }, () => connect(port, "127.0.0.1"));
    for (const scraper of scrapers) scraper.on("error", () => undefined).write("GET /metrics HTTP/1.1\r\n");
    await lifeGoesOn();
    for (const scraper of scrapers) scraper.destroy();
    await assertNothingLeft();
  },
};
