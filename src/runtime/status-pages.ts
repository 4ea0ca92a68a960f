/** What a component shows of itself over HTTP: metrics for Prometheus, health for the kubelet. */
import type { Handler, HttpResponse } from "../base/http.ts";
import type { Metrics } from "./metrics.ts";

/** Undefined when all is well, else what is wrong. Asked at each request, so it must be quick. */
export type Check = () => string | undefined;

export interface StatusPagesOptions {
  readonly metrics: Metrics;
  readonly metricsPath: string;
  readonly ready: Check;
  /** Parts of /healthz, each also at /healthz/<name>. */
  readonly health: Readonly<Record<string, Check>>;
  /** Further pages of a component, by path. */
  page?(path: string): (() => Promise<string>) | undefined;
}

const plain = (status: number, body: string): HttpResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body,
});

export function statusPages({ metrics, metricsPath, ready, health, page: further }: StatusPagesOptions): Handler {
  const checked = (checks: Readonly<Record<string, Check>>): HttpResponse => {
    const problems = Object.entries(checks)
      .map(([name, check]) => [name, check()] as const)
      .filter(([, problem]) => problem !== undefined);
    return problems.length === 0
      ? plain(200, "ok")
      : plain(500, problems.map(([name, problem]) => `${name}: ${problem}\n`).join(""));
  };
  const pages: Readonly<Record<string, () => HttpResponse | Promise<HttpResponse>>> = {
    [metricsPath]: async () => {
      const { type, text } = await metrics.scrape();
      return { status: 200, headers: { "content-type": type }, body: text };
    },
    "/healthz": () => checked(health),
    "/readyz": () => checked({ ready }),
    ...Object.fromEntries(
      Object.entries(health).map(([name, check]) => [`/healthz/${name}`, () => checked({ [name]: check })]),
    ),
  };
  return async ({ method, path: requested }) => {
    const path = requested.split("?", 1)[0] ?? "";
    const own = further?.(path);
    const page = pages[path] ?? (own && (async () => plain(200, await own())));
    if (page === undefined) return plain(404, `there is ${Object.keys(pages).join(", ")}\n`);
    return method === "GET" || method === "HEAD" ? page() : plain(405, "only GET\n");
  };
}
