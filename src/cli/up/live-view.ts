// What `plugboard up` shows on a terminal while it runs: a row for each server, and who uses it. The lines of the log go
// by above.

import type { ServerStatus } from "../../core/types/server-status.ts";
import { duration, plural } from "../../util/text.ts";
import { keyOf } from "../../serve/gateway/monitoring/server-history.ts";
import { quantileMs } from "../../serve/gateway/monitoring/tally.ts";
import type { Monitoring } from "../../serve/gateway/monitoring/monitoring.ts";
import type { CliContext } from "../context.ts";
import { stateCell } from "../status/server-state.ts";
import type { RenderRows } from "../terminal/screen.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";
import { cut } from "../terminal/width.ts";

const COLUMNS: readonly Column[] = [
  { title: "server", min: 8 },
  { title: "state", min: 10 },
  { title: "calls/s", align: "right" },
  { title: "p50", align: "right" },
  { title: "errors", align: "right" },
  { title: "in flight", align: "right" },
  { title: "restarts", align: "right" },
  { title: "calls", align: "right" },
];

/** Rates and medians are of the last seconds. */
const WINDOW_MS = 10_000;

interface Counts {
  calls: number;
  errors: number;
  durations: number[];
}

interface Sample {
  at: number;
  byServer: ReadonlyMap<string, Counts>;
}

export function liveView(
  monitoring: Pick<Monitoring, "tally" | "servers" | "clients" | "since" | "status">,
  url: string | undefined,
  { clock, screen, signal }: Pick<CliContext, "clock" | "screen" | "signal">,
): RenderRows {
  const samples: Sample[] = [];
  const { terminal } = screen;
  const { paint } = terminal.err;
  return ({ width }) => {
    const now = clock.monotonic();
    const current = { at: now, byServer: countsOf(monitoring) };
    while (samples.length > 1 && now - (samples[1]?.at ?? now) >= WINDOW_MS) samples.shift();
    const before = samples[0];
    // Lines of the log draw the view too, any number of times within a second.
    if (now - (samples.at(-1)?.at ?? -Infinity) >= 900) samples.push(current);
    const { sessions, attached } = monitoring.status();
    const what = signal.aborted ? "stopping" : `up ${duration(clock.now() - monitoring.since)}`;
    const head = [
      url ?? "without HTTP",
      plural(monitoring.clients.present, "client"),
      plural(sessions.total, "session"),
      ...(attached.total > 0 ? [plural(attached.total, "attached command")] : []),
      what,
    ].join(terminal.unicode ? " · " : ", ");
    const servers = monitoring.servers();
    const hasAgents = new Set(servers.map(({ agent }) => agent)).size > 1;
    const rows = servers.map(({ agent, status }): Row => {
      const key = keyOf(agent, status.name);
      const name = hasAgents ? `${agent}/${status.name}` : status.name;
      return serverRow(name, status, stateCell(status.state, terminal), {
        all: current.byServer.get(key),
        before: before?.byServer.get(key),
        seconds: before === undefined ? 0 : (now - before.at) / 1000,
      });
    });
    return [
      paint("dim", cut(head, width)),
      ...(rows.length === 0
        ? [cut("no servers are configured", width)]
        : renderTable(COLUMNS, rows, { width, paint })),
    ];
  };
}

function serverRow(
  name: string,
  { calls, restarts }: ServerStatus,
  state: ReturnType<typeof stateCell>,
  { all, before, seconds }: { all?: Counts; before?: Counts; seconds: number },
): Row {
  const recent = all && before ? difference(all, before) : all;
  const rate = seconds === 0 || recent === undefined ? 0 : recent.calls / seconds;
  const median = quantileMs(recent?.durations ?? [], 0.5) ?? quantileMs(all?.durations ?? [], 0.5);
  const errors = all?.errors ?? 0;
  return {
    cells: [
      { text: name, tone: "bold" },
      state,
      rate === 0 ? "0" : rate.toFixed(rate < 10 ? 1 : 0),
      median === undefined ? "-" : median < 10 ? `${median.toFixed(1)} ms` : duration(median),
      errors === 0 ? "0" : { text: String(errors), tone: "red" },
      String(calls.inFlight),
      restarts === 0 ? "0" : { text: String(restarts), tone: "yellow" },
      String(all?.calls ?? 0),
    ],
  };
}

function countsOf({ tally }: Pick<Monitoring, "tally">): Map<string, Counts> {
  const byServer = new Map<string, Counts>();
  for (const { agent, server, calls, errors, durations } of tally.tools) {
    const key = keyOf(agent, server);
    const known = byServer.get(key) ?? { calls: 0, errors: 0, durations: [] };
    byServer.set(key, known);
    known.calls += calls;
    for (const count of errors.values()) known.errors += count;
    durations.forEach((count, at) => {
      known.durations[at] = (known.durations[at] ?? 0) + count;
    });
  }
  return byServer;
}

function difference(all: Counts, before: Counts): Counts {
  return {
    calls: all.calls - before.calls,
    errors: all.errors - before.errors,
    durations: all.durations.map((count, at) => count - (before.durations[at] ?? 0)),
  };
}
