// `/metrics`: the tallies as Prometheus reads them. prom-client is loaded when somebody asks for the first time, and the
// numbers are handed to it then: its own counters cost more than a call should pay for being counted.

import { createRequire } from "node:module";
import type { Registry } from "prom-client";
import type { ServerStateKind } from "../../../core/types/server-state.ts";
import type { StateHealth } from "../../../core/types/shared-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import { BOUNDS_MS, classesOf, type ServerTally, type Tally, type ToolTally } from "./tally.ts";

/** Numbers that other parts of the gateway count, at this moment. */
export interface GatewayNumbers {
  version: string;
  /** Seconds since the epoch. */
  startedAt: number;
  servers: readonly { agent: string; status: ServerStatus }[];
  sessions: number;
  clients: number;
  /** Commands of this user that use the gateway's servers. */
  attached: number;
  /** Requests that are being answered. */
  inFlight: number;
  connections: number;
  bytesIn: number;
  bytesOut: number;
  /** By route and status. */
  responses: readonly { route: string; status: number; count: number }[];
  refusals: ReadonlyMap<string, number>;
  /** Absent where the state is in files. */
  health?: StateHealth | undefined;
  /** Likewise. */
  fleet?: FleetNumbers | undefined;
  /** Calls that wait for a person. */
  approvals: number;
  /** Calls, reads and prompts, by the label of the caller. */
  callers: ReadonlyMap<string, number>;
  /** When the certificate ends, and what the time is, in milliseconds since the epoch. Absent without TLS of its own. */
  certificate?: { endsAt: number; now: number } | undefined;
}

interface FleetNumbers {
  /** With how many different configurations the gateways run that share the state. */
  configurations: number;
  /** Seconds by which this machine's clock is ahead of PostgreSQL's; 0 if it is about the same. */
  clockAhead: number;
}

/** What somebody may see who does not see everything. */
export interface MetricsView {
  servers: () => GatewayNumbers["servers"];
  hasServer: (agent: string, server: string) => boolean;
  hasTool: (agent: string, server: string, tool: string) => boolean;
  /** Whether it is their own label. */
  isCaller: (label: string) => boolean;
}

/** Where each person signs in, or comes with a JWT, nobody has to do anything about it. */
const OF_EACH_PERSON = "needs-person";

const STATES: readonly (ServerStateKind | typeof OF_EACH_PERSON)[] = [
  "disabled",
  "untrusted",
  "idle",
  "starting",
  "ready",
  "backoff",
  "needs-auth",
  OF_EACH_PERSON,
  "failed",
  "stopping",
  "stopped",
];

/** A figure whose values are read when somebody asks. */
type Described = [
  name: string,
  help: string,
  labelNames: string[],
  read: () => Iterable<[labels: Record<string, string>, value: number]>,
];

type PromClient = typeof import("prom-client");

/** Not with `import`: a module that could not be read once, because too many files were open, fails for ever after. */
function loadPromClient(): PromClient {
  return createRequire(import.meta.url)("prom-client") as PromClient;
}

export class Metrics {
  readonly #tally: Tally;
  readonly #numbers: () => GatewayNumbers;
  readonly #load: () => PromClient;
  #registry: Registry | undefined;
  /** As of the last time that somebody asked. */
  #current: GatewayNumbers | undefined;
  /** What the one who asks may see. */
  #view: MetricsView | undefined;
  /** One after another: the registry collects for one of them at a time. */
  #collecting: Promise<unknown> = Promise.resolve();

  /** `load` is for tests. */
  constructor(tally: Tally, numbers: () => GatewayNumbers, load = loadPromClient) {
    this.#tally = tally;
    this.#numbers = numbers;
    this.#load = load;
  }

  /** Without a view: everything. */
  async text(view?: MetricsView): Promise<{ type: string; text: string }> {
    const registry = (this.#registry ??= this.#open());
    const collecting = this.#collecting.then(async () => {
      this.#view = view;
      this.#current = this.#numbers();
      return { type: registry.contentType, text: await registry.metrics() };
    });
    this.#collecting = collecting.catch(() => {});
    return collecting;
  }

  get #tools(): readonly ToolTally[] {
    const view = this.#view;
    return this.#tally.tools.filter(
      ({ agent, server, tool }) => view?.hasTool(agent, server, tool) ?? true,
    );
  }

  get #servers(): readonly ServerTally[] {
    const view = this.#view;
    return this.#tally.servers.filter(
      ({ agent, server }) => view?.hasServer(agent, server) ?? true,
    );
  }

  #open(): Registry {
    const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry: Opened } = this.#load();
    const registry = new Opened();
    const registers = [registry];
    const ofTools = (): readonly ToolTally[] => this.#tools;
    const endings = (): readonly ServerTally[] => this.#servers;
    const numbers = (): GatewayNumbers => this.#current ?? this.#numbers();
    const statuses = (): GatewayNumbers["servers"] => this.#view?.servers() ?? numbers().servers;
    collectDefaultMetrics({ register: registry });

    const counter = (...[name, help, labelNames, read]: Described): void => {
      const collect = (): void => {
        made.reset();
        for (const [labels, value] of read()) made.inc(labels, value);
      };
      const made = new Counter({ name, help, labelNames, registers, collect });
    };
    const gauge = (...[name, help, labelNames, read]: Described): void => {
      const collect = (): void => {
        made.reset();
        // One without labels is 0 then, although nobody has said so.
        if (labelNames.length === 0) made.remove();
        for (const [labels, value] of read()) made.set(labels, value);
      };
      const made = new Gauge({ name, help, labelNames, registers, collect });
    };

    counter("plugboard_calls_total", "Calls of tools that have ended.", TOOL_LABELS, () =>
      ofTools().map((each) => [labelsOf(each), each.calls]),
    );
    counter(
      "plugboard_call_errors_total",
      "Calls of tools that failed, by the code of the error. TOOL_ERROR: the tool itself reported it.",
      [...TOOL_LABELS, "code"],
      () =>
        ofTools().flatMap((each) =>
          [...each.errors].map(([code, count]): [Record<string, string>, number] => [
            { ...labelsOf(each), code },
            count,
          ]),
        ),
    );

    /** Takes its classes from the tallies. */
    class Durations extends Histogram {
      async getForPromString() {
        return this.get();
      }

      override async get() {
        const name = "plugboard_call_duration_seconds";
        return {
          name,
          help: "How long calls of tools took.",
          type: "histogram" as never,
          aggregator: "sum" as const,
          collect: () => {},
          values: ofTools().flatMap((each) => durationValues(name, each)),
        };
      }
    }
    registry.registerMetric(
      new Durations({ name: "plugboard_call_duration_seconds", help: "-", registers: [] }),
    );

    const ofServers = (
      read: (status: ServerStatus) => number,
    ): [Record<string, string>, number][] =>
      statuses().map(({ agent, status }) => [{ agent, server: status.name }, read(status)]);
    gauge(
      "plugboard_calls_in_flight",
      "Calls that a server has not answered yet.",
      SERVER_LABELS,
      () => ofServers(({ calls }) => calls.inFlight),
    );
    counter("plugboard_server_restarts_total", "Restarts of servers.", SERVER_LABELS, () =>
      ofServers(({ restarts }) => restarts),
    );
    counter(
      "plugboard_server_crashes_total",
      "Servers that ended by themselves.",
      SERVER_LABELS,
      () => endings().map(({ agent, server, crashes }) => [{ agent, server }, crashes]),
    );
    counter(
      "plugboard_server_failed_starts_total",
      "Starts of servers that failed.",
      SERVER_LABELS,
      () => endings().map(({ agent, server, failedStarts }) => [{ agent, server }, failedStarts]),
    );
    gauge(
      "plugboard_server_state",
      "1 for the state that a server is in, 0 for the others. needs-person: each person signs in to it, or comes with a JWT.",
      [...SERVER_LABELS, "state"],
      () =>
        statuses().flatMap(({ agent, status }) =>
          STATES.map((state): [Record<string, string>, number] => [
            { agent, server: status.name, state },
            shownState(status) === state ? 1 : 0,
          ]),
        ),
    );
    gauge("plugboard_server_tools", "Tools that a server lists.", SERVER_LABELS, () =>
      ofServers(({ tools }) => tools),
    );

    gauge("plugboard_sessions", "Sessions that are in memory.", [], () => [
      [{}, numbers().sessions],
    ]);
    gauge(
      "plugboard_clients",
      "Clients that asked for something in the last 5 minutes.",
      [],
      () => [[{}, numbers().clients]],
    );
    gauge("plugboard_attached_commands", "Commands that are attached.", [], () => [
      [{}, numbers().attached],
    ]);
    gauge("plugboard_requests_in_flight", "Requests that are being answered.", [], () => [
      [{}, numbers().inFlight],
    ]);
    gauge("plugboard_connections", "Open connections of clients.", [], () => [
      [{}, numbers().connections],
    ]);
    counter("plugboard_received_bytes_total", "Bytes that clients have sent.", [], () => [
      [{}, numbers().bytesIn],
    ]);
    counter("plugboard_sent_bytes_total", "Bytes that were sent to clients.", [], () => [
      [{}, numbers().bytesOut],
    ]);
    counter(
      "plugboard_http_responses_total",
      "Requests that were answered, by route and status.",
      ["route", "status"],
      () =>
        numbers().responses.map(({ route, status, count }) => [
          { route, status: String(status) },
          count,
        ]),
    );
    counter(
      "plugboard_refusals_total",
      "Requests and calls that were refused, by kind.",
      ["kind"],
      () => [...numbers().refusals].map(([kind, count]) => [{ kind }, count]),
    );
    gauge(
      "plugboard_engine_away",
      "1 while an engine of the shared state, or the audit of this machine, cannot be used, else 0.",
      ["engine"],
      () => {
        const { engines = [], away = [] } = numbers().health ?? {};
        return engines.map((engine) => [
          { engine },
          away.some((each) => each.engine === engine) ? 1 : 0,
        ]);
      },
    );
    gauge(
      "plugboard_replicas",
      "Gateways that share the state, as far as this one knows.",
      [],
      () => {
        const { health } = numbers();
        return health === undefined ? [] : [[{}, health.replicas]];
      },
    );
    gauge(
      "plugboard_configurations",
      "Different configurations with which gateways run that share the state, as far as this one knows.",
      [],
      () => {
        const { fleet } = numbers();
        return fleet === undefined ? [] : [[{}, fleet.configurations]];
      },
    );
    gauge(
      "plugboard_clock_ahead_seconds",
      "By how much this machine's clock is ahead of PostgreSQL's, or behind; 0 up to 15 s.",
      [],
      () => {
        const { fleet } = numbers();
        return fleet === undefined ? [] : [[{}, fleet.clockAhead]];
      },
    );
    gauge("plugboard_approvals_waiting", "Calls that wait for approval.", [], () => [
      [{}, numbers().approvals],
    ]);
    counter(
      "plugboard_caller_calls_total",
      "Calls, reads and prompts of each caller. Beyond 200 callers, those of the others together.",
      ["caller"],
      () =>
        [...numbers().callers]
          .filter(([caller]) => this.#view?.isCaller(caller) ?? true)
          .map(([caller, count]) => [{ caller }, count]),
    );
    gauge(
      "plugboard_certificate_days_left",
      "Days until the gateway's certificate ends; less than 0 if it has.",
      [],
      () => {
        const { certificate } = numbers();
        return certificate === undefined
          ? []
          : [[{}, (certificate.endsAt - certificate.now) / DAY_MS]];
      },
    );
    gauge("plugboard_info", "The version, as a label.", ["version"], () => [
      [{ version: numbers().version }, 1],
    ]);
    gauge("plugboard_start_time_seconds", "When the gateway started.", [], () => [
      [{}, numbers().startedAt],
    ]);
    return registry;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

function shownState({ state }: ServerStatus): ServerStateKind | typeof OF_EACH_PERSON {
  const isOfEach = state.kind === "needs-auth" && state.perUser !== undefined;
  return isOfEach ? OF_EACH_PERSON : state.kind;
}

const SERVER_LABELS = ["agent", "server"];
const TOOL_LABELS = ["agent", "server", "tool"];

function labelsOf({ agent, server, tool }: ToolTally): Record<string, string> {
  return { agent, server, tool };
}

interface HistogramValue {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}

/** Each class counts the faster ones too, as Prometheus wants it. */
function durationValues(name: string, tally: ToolTally): HistogramValue[] {
  const labels = labelsOf(tally);
  let upTo = 0;
  const classes = classesOf(tally.durations).map((count, at): HistogramValue => {
    upTo += count;
    const bound = BOUNDS_MS[at];
    const le = bound === undefined ? "+Inf" : bound / 1000;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: upTo };
  });
  return [
    ...classes,
    { metricName: `${name}_sum`, labels, value: tally.totalMs / 1000 },
    { metricName: `${name}_count`, labels, value: tally.calls },
  ];
}
