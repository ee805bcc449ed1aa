// The dashboard and the alert rules in deploy/ use figures that `/metrics` has, with labels that they have.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { Metrics } from "../../../../src/serve/gateway/monitoring/metrics.ts";
import { Tally } from "../../../../src/serve/gateway/monitoring/tally.ts";

const DEPLOY = join(import.meta.dirname, "../../../../deploy");
const alerts = parse(readFileSync(join(DEPLOY, "alerts.yaml"), "utf8")) as {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
};
const dashboard = JSON.parse(readFileSync(join(DEPLOY, "grafana.json"), "utf8")) as {
  panels: { title: string; targets: { expr: string }[] }[];
  templating: { list: { query: string }[] };
};

type Facts = ReturnType<ConstructorParameters<typeof Metrics>[1]>;

/** What a gateway says that has done nothing yet. */
async function metricsWith(health: Facts["health"], more: Partial<Facts> = {}): Promise<string> {
  const metrics = new Metrics(new Tally(), () => ({
    version: "1",
    startedAt: 1,
    servers: [],
    sessions: 0,
    clients: 0,
    attached: 0,
    inFlight: 0,
    connections: 0,
    bytesIn: 0,
    bytesOut: 0,
    responses: [],
    refusals: new Map(),
    approvals: 0,
    callers: new Map(),
    health,
    ...more,
  }));
  return (await metrics.text()).text;
}

async function knownNames(): Promise<Set<string>> {
  const text = await metricsWith({ replicas: 2, engines: ["postgres", "valkey"], away: [] });
  const names = Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = "", type]) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name],
  );
  return new Set(names.flat());
}

it("every figure that is named exists", async () => {
  const rules = alerts.groups.flatMap((group) => group.rules);
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...dashboard.templating.list.map(({ query }) => query),
  ];
  const named = expressions.flatMap(
    (each) => each.match(/\b(?:nodejs|plugboard|process)_\w+/g) ?? [],
  );
  const known = await knownNames();
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(rules.every(({ annotations }) => annotations.summary !== "")).toBe(true);
});

it.each(["failed", "backoff", "needs-auth"])("a server in the state %s is told", (state) => {
  const rules = alerts.groups.flatMap((group) => group.rules);
  const isNamed = (expr: string): boolean =>
    [...expr.matchAll(/plugboard_server_state\{state=~?"([^"]+)"/g)].some(([, states = ""]) =>
      states.split("|").includes(state),
    );
  expect(rules.filter(({ expr }) => isNamed(expr))).toHaveLength(1);
  const panels = dashboard.panels.flatMap(({ targets }) => targets);
  expect(panels.filter(({ expr }) => isNamed(expr))).toHaveLength(1);
});

it("gateways are counted without the workers, which do not share the state", () => {
  const counted = [
    ...alerts.groups.flatMap((group) => group.rules).map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ].flatMap((expr) => /\bcount\((plugboard_\w+)\)/.exec(expr)?.[1] ?? []);
  expect(new Set(counted)).toEqual(new Set(["plugboard_replicas"]));
});

it("every code that a rule leaves out is one", () => {
  const left = alerts.groups
    .flatMap((group) => group.rules)
    .flatMap(({ expr }) => /code!~"([^"]+)"/.exec(expr)?.[1]?.split("|") ?? []);
  const codes = readFileSync(join(DEPLOY, "../docs/troubleshooting.md"), "utf8");
  expect(left.length).toBeGreaterThan(0);
  expect(left.filter((code) => code !== "TOOL_ERROR" && !codes.includes(code))).toEqual([]);
});

it("an engine that is away is 1, and the others 0", async () => {
  const health = {
    replicas: 3,
    engines: ["postgres", "valkey"],
    away: [{ engine: "valkey", message: "Valkey cannot be reached" }],
  };
  const text = await metricsWith(health);
  expect(text).toContain('plugboard_engine_away{engine="valkey"} 1');
  expect(text).toContain('plugboard_engine_away{engine="postgres"} 0');
  expect(text).toContain("plugboard_replicas 3");
});

const serverIn = (state: object): Facts["servers"][number] =>
  ({
    agent: "default",
    status: { name: "s", state, calls: { inFlight: 0 }, restarts: 0, tools: 0 },
  }) as never;

it("nothing is said of a fleet by a gateway that is in none, or of a certificate by one without", async () => {
  const alone = await metricsWith(undefined);
  // The rules compare these figures, and one that is 0 would be compared too.
  for (const name of [
    "replicas",
    "configurations",
    "clock_ahead_seconds",
    "certificate_days_left",
  ]) {
    expect(alone).toContain(`# TYPE plugboard_${name} gauge`);
    expect(alone).not.toMatch(new RegExp(`^plugboard_${name}\\b`, "m"));
  }
  const fleet = { configurations: 2, clockAhead: -16.5 };
  const certificate = { endsAt: 86_400_000, now: 43_200_000 };
  const inFleet = await metricsWith({ replicas: 2, engines: [], away: [] }, { fleet, certificate });
  expect(inFleet).toContain("\nplugboard_configurations 2\n");
  expect(inFleet).toContain("\nplugboard_clock_ahead_seconds -16.5\n");
  expect(inFleet).toContain("\nplugboard_certificate_days_left 0.5\n");
});

it.each([
  [{ kind: "needs-auth", remedy: "" }, "needs-auth"],
  [{ kind: "needs-auth", remedy: "", perUser: "sign-in" }, "needs-person"],
  [{ kind: "needs-auth", remedy: "", perUser: "exchange" }, "needs-person"],
])("only a sign-in that everybody needs is one to be alerted of: %j", async (state, shown) => {
  const text = await metricsWith(undefined, { servers: [serverIn(state)] });
  const named = Array.from(text.matchAll(/^plugboard_server_state\{.*state="(\S+)"\} 1$/gm));
  expect(named.map(([, each]) => each)).toEqual([shown]);
  const alert = alerts.groups
    .flatMap((group) => group.rules)
    .find((each) => each.alert === "PlugboardServerNeedsSignIn");
  expect(alert?.expr.includes(`state="${shown}"`)).toBe(shown === "needs-auth");
});
