// `plugboard`: the servers, their state, and how much of a model's prompt their tools take.

import { describePlan, type PromptPlan, summarisePlan } from "../../core/board/prompt-plan.ts";
import { promptTokens } from "../../core/tools/definition-tokens.ts";
import { filesOf } from "../../core/config/find.ts";
import type { Board } from "../../core/types/board.ts";
import { isForModels } from "../../core/types/include.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import type { Tool } from "../../core/types/tool.ts";
import { stateToJson } from "../../core/types/server-state.ts";
import { duration, plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { roughly } from "../../util/tokens.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { offeredCommand } from "../offered-command.ts";
import { type OpenedBoard, withBoard } from "../open.ts";
import { NATIVE_MODULES } from "../../core/config/fingerprint.ts";
import type { GatewayStatus } from "../../serve/gateway/monitoring/status.ts";
import { attachedNames, readStatus } from "./running-gateway.ts";
import { fileName, hidingNotes } from "./server-file-name.ts";
import { isForEach, stateCell, stateMore, stateNotes } from "./server-state.ts";
import { pinLines, ruleLines } from "./rules.ts";
import { liveStateCell, startingFirst, untilStarted, whileStarting } from "./starting.ts";
import { planFor, toolSearchLines } from "./tool-search.ts";
import type { Frame } from "../terminal/screen.ts";
import { type Cell, type Column, renderTable, type Row } from "../terminal/table.ts";

export interface OverviewRequest {
  /** Fail if a server has failed. */
  check: boolean;
  /** Ask every server. */
  refresh: boolean;
}

/** Succeeds even if servers failed, since reporting that is what it is for; with `check` it fails then. */
export async function runOverview(
  context: CliContext,
  { check: isCheck, refresh }: OverviewRequest,
): Promise<number> {
  const { screen, clock, options } = context;
  const began = clock.monotonic();
  // A program gets the whole truth, and who has no servers yet sees one run.
  const isDemo = options.typed === undefined && findSource(context).kind === "demo";
  const startsAll = isCheck || refresh || options.json || isDemo;
  // A person sees what the command waits for.
  const leavesCached = !startsAll && !screen.terminal.live;
  return withBoard(
    context,
    { start: startsAll ? "eager" : "stale", showsRules: true, showsUntrusted: true },
    async (opened) => {
      const render = (frame: Frame): string[] => liveRows(opened.board.status(), context, frame);
      if (refresh) await whileStarting(opened.board, context, opened.board.refresh(), render);
      await untilStarted(opened.board, context, {
        limit: opened.agent.startupWait,
        leavesCached,
        render,
      });
      const readyMs = clock.monotonic() - began;
      const isBroken = isCheck && opened.board.status().some(needsRemedy);
      const exitCode = isBroken ? EXIT.unavailable : EXIT.ok;
      const gateway = opened.attachment && (await readStatus(opened.attachment.gateway, context));
      if (options.json) {
        screen.json(overviewJson(opened, gateway, readyMs));
        return exitCode;
      }
      const plan = planFor(opened.agent, opened.board);
      const lines = [
        heading(opened, gateway, context),
        ...fleetLines(gateway?.fleet, context),
        "",
        ...overviewTable(opened.board, context, readyMs, plan),
        ...leftLines(opened.board.status(), leavesCached, context),
        ...rememberedLines(opened.board.status(), context),
        ...untrustedLines(opened.agent, context),
        ...ruleLines(opened.board.unmatchedRules(), screen.terminal),
        ...pinLines(opened.board.status(), opened.agent, context),
      ];
      lines.push(...toolSearchLines(describePlan(plan), screen.terminal));
      if (opened.source.kind === "demo") lines.push("", ...(await demoHints(context)));
      else if (opened.board.status().some(needsRemedy)) {
        lines.push("", `${offeredCommand("doctor", options)} says what to do.`);
      }
      screen.lines(lines);
      return exitCode;
    },
  );
}

/** The table while servers start: what is known from earlier runs is there at once, and the states as they come. */
function liveRows(
  servers: readonly ServerStatus[],
  context: CliContext,
  { spinner, width, height }: Frame,
): string[] {
  const { screen } = context;
  const { terminal } = screen;
  // The row of titles takes one.
  const rows = startingFirst(servers, height - 1).map((server): Row => {
    const { state, tools, promptTokens: tokens } = server;
    return overviewRow(server, liveStateCell(state, spinner, terminal), { tools, tokens }, context);
  });
  return renderTable(COLUMNS, rows, { width, paint: terminal.err.paint });
}

function overviewRow(
  server: ServerStatus,
  stateShown: Cell,
  { tools, tokens }: { tools: number; tokens: number },
  { io, clock }: Pick<CliContext, "io" | "clock">,
): Row {
  const { state } = server;
  return {
    cells: [
      { text: server.name, tone: "bold" },
      stateShown,
      { text: fileName(server, io), tone: "dim" },
      tools === 0 && state.kind !== "ready" && !server.cached ? "" : String(tools),
      state.kind === "ready" ? duration(state.startMs) : "",
      tools === 0 ? "" : roughly(tokens),
      { text: rememberedCell(server, clock.now()), tone: "dim" },
    ],
  };
}

/** `remembered, 5 min old`: its tools are those of an earlier run. */
function rememberedCell({ cached, cachedAt }: ServerStatus, now: number): string {
  if (!cached) return "";
  const age = now - (cachedAt ?? NaN);
  return age >= MINUTE_MS ? `remembered, ${duration(age)} old` : "remembered";
}

/** Whether something is wrong that a person can do something about. */
function needsRemedy({ state, diagnostics }: ServerStatus): boolean {
  const { kind } = state;
  if (diagnostics.some((each) => each.kind === "unlisted")) return true;
  return kind === "failed" || kind === "backoff" || (kind === "needs-auth" && !isForEach(state));
}

/** A row per server and a line of totals. */
export function overviewTable(
  board: Pick<Board, "status" | "tools">,
  context: CliContext,
  readyMs: number,
  plan?: PromptPlan,
): string[] {
  const { screen, options, io } = context;
  const servers = board.status();
  if (servers.length === 0) {
    const add = offeredCommand("add <name> -- <command>", options);
    return ["no servers are configured; to add one:", `  ${add}`];
  }
  const { out } = screen.terminal;
  const tools = board.tools();
  // Where many have failed, one line for all says where to read more.
  const saysMore = servers.filter(needsRemedy).length <= MOST_REFERENCES;
  const onBoard = servers.filter(({ state }) => state.kind !== "untrusted");
  const rows = onBoard.map((server): Row => {
    const { state } = server;
    const more = saysMore ? stateMore(state) : [];
    const own = toolsOf(server, tools);
    const counts = { tools: own.length, tokens: promptTokens(own) };
    return {
      ...overviewRow(server, stateCell(state, screen.terminal), counts, context),
      notes: [
        ...stateNotes(state, options),
        ...server.diagnostics.flatMap(({ kind, message }) =>
          kind === "missing" || kind === "unlisted" ? [message] : [],
        ),
        ...more,
        ...hidingNotes(server, io),
      ],
    };
  });
  const table = renderTable(COLUMNS, rows, { width: out.width, paint: out.paint });
  return [...table, "", totalsLine(onBoard, tools, readyMs, plan)];
}

/** Says that servers were left starting, with the tools of an earlier run. */
function leftLines(
  servers: readonly ServerStatus[],
  leavesCached: boolean,
  { options }: CliContext,
): string[] {
  const isLeft = ({ state, cached }: ServerStatus): boolean => state.kind === "starting" && cached;
  if (!leavesCached || !servers.some(isLeft)) return [];
  return ["", `${offeredCommand("--check", options)} waits for every server.`];
}

/** Says that servers were not asked, and what asks them. */
function rememberedLines(
  servers: readonly ServerStatus[],
  { options, screen }: CliContext,
): string[] {
  const count = servers.filter(isRemembered).length;
  if (count === 0) return [];
  const { paint } = screen.terminal.out;
  const text = `${plural(count, "server")} not started: you see what an earlier run knew. To ask now:`;
  return ["", paint("dim", text), `  ${offeredCommand("--refresh", options)}`];
}

function isRemembered({ state, cached }: ServerStatus): boolean {
  return state.kind === "idle" && cached;
}

/** One for each file, however many servers it has: `plugboard trust` shows them. */
function untrustedLines(
  { untrusted = [] }: OpenedBoard["agent"],
  { screen }: CliContext,
): string[] {
  const { paint } = screen.terminal.out;
  const lines = untrusted.map(({ remedy, servers }) => {
    const names = servers.slice(0, MOST_NAMES).map(({ name }) => visible(name));
    const more = servers.length - names.length;
    const list = [...names, ...(more > 0 ? [`${more} more`] : [])].join(", ");
    return paint("yellow", list === "" ? remedy : `${list}: not used; ${remedy}`);
  });
  return lines.length === 0 ? [] : ["", ...lines];
}

/** In a younger memory nobody looks for a difference. */
const MINUTE_MS = 60_000;
const MOST_NAMES = 5;
const MOST_REFERENCES = 3;

const COLUMNS: readonly Column[] = [
  { title: "server", min: 8 },
  { title: "state" },
  { title: "file", min: 8 },
  { title: "tools", align: "right" },
  { title: "start", align: "right" },
  { title: "prompt tokens", align: "right" },
  {},
];

function totalsLine(
  servers: readonly ServerStatus[],
  tools: readonly Tool[],
  readyMs: number,
  plan: PromptPlan | undefined,
): string {
  const hidden = tools.filter((tool) => !isForModels(tool)).length;
  const counts = [
    plural(servers.length, "server"),
    `${plural(tools.length, "tool")}${hidden === 0 ? "" : ` (${hidden} not for models)`}`,
  ];
  const isSearched = plan !== undefined && plan.mode !== "all";
  const where = isSearched ? "in their definitions" : "in a prompt";
  const tokens = `${roughly(promptTokens(tools))} tokens ${where}`;
  const down = servers.filter(
    ({ state }) => state.kind !== "ready" && state.kind !== "disabled" && state.kind !== "idle",
  );
  const ready = servers.some(({ state }) => state.kind === "ready")
    ? [`ready in ${duration(readyMs)}`]
    : [];
  const end = down.length === 0 ? ready : [`${down.length} not ready`];
  return [...counts, tokens, ...end].join(", ");
}

function heading(
  { board, agent, source, attachment }: OpenedBoard,
  gateway: GatewayStatus | undefined,
  { screen, clock }: CliContext,
): string {
  const { paint } = screen.terminal.out;
  const from =
    source.kind === "demo"
      ? "the built-in demo"
      : filesOf(source)
          .toReversed()
          .map(({ path }) => path)
          .join(" over ");
  const name = agent.agentId === "default" ? "" : `, agent ${agent.agentId}`;
  const whose =
    gateway === undefined
      ? whoseServers(board.status())
      : `, ${gatewayWords(gateway, attachment?.apart ?? [], clock.now())}`;
  return paint("dim", `${from}${name}${source.kind === "demo" ? "" : whose}`);
}

function whoseServers(servers: readonly ServerStatus[]): string {
  if (servers.length === 0) return "";
  const isLeft = (each: ServerStatus): boolean =>
    isRemembered(each) || each.state.kind === "disabled";
  return servers.some(isRemembered) && servers.every(isLeft)
    ? ", no server started for this command"
    : ", servers started for this command";
}

/** The gateways that share a state with this one, and what is wrong with them. */
function fleetLines(fleet: GatewayStatus["fleet"], { screen }: CliContext): string[] {
  if (fleet === undefined) return [];
  const { paint } = screen.terminal.out;
  const names = fleet.replicas.map(
    ({ name, configuration = "unknown", isOwn }) =>
      `${visible(name)}${isOwn ? " (this one)" : ""}, configuration ${configuration}`,
  );
  return [
    paint(
      "dim",
      `one of ${plural(names.length, "gateway")} that share a state: ${names.join("; ")}`,
    ),
    ...fleet.problems.map((each) => paint("yellow", visible(each))),
  ];
}

/** `the servers of the gateway (pid 4711, for 2 h) but for files; attached: acp (pid 5012)` */
function gatewayWords(
  { pid, since, attached }: GatewayStatus,
  apart: readonly string[],
  now: number,
): string {
  const others = apart.length === 0 ? "" : ` but for ${apart.map(shownName).join(", ")}`;
  const words = `the servers of the gateway (pid ${pid}, for ${duration(now - since)})${others}`;
  // This command is attached itself, and does not count.
  const list = attached.list.filter((each) => each.pid !== process.pid);
  const total = attached.total - (attached.list.length - list.length);
  return total === 0 ? words : `${words}; attached: ${attachedNames({ total, list })}`;
}

function shownName(server: string): string {
  return server === NATIVE_MODULES ? "tools.native" : server;
}

/** `from` are the applications that have servers here. */
const firstSteps = (from: readonly string[]): Row[] => [
  { cells: ["plugboard demo", "a short tour"] },
  { cells: ["plugboard tools", "the demo's tools"] },
  {
    cells: [
      "plugboard import --write",
      from.length > 0
        ? `bring your servers of ${from.join(", ")}`
        : "bring the servers of Claude, Cursor, VS Code, Zed, …",
    ],
  },
  { cells: ["plugboard add <name> <url>", "add a server of your own by its URL"] },
  { cells: ["plugboard add <name> -- <command>", "or by its command"] },
];

async function demoHints(context: CliContext): Promise<string[]> {
  const { width, paint } = context.screen.terminal.out;
  const { importableFrom } = await import("../importable.ts");
  const steps = firstSteps(await importableFrom(context));
  return [
    "There is no configuration yet, so this shows the demo server that comes with Plugboard.",
    ...renderTable([{}, { min: 20, overflow: "wrap" }], steps, { width, paint, indent: 2 }),
  ];
}

function overviewJson(
  { board, agent, source }: OpenedBoard,
  gateway: GatewayStatus | undefined,
  readyMs: number,
): object {
  const tools = board.tools();
  const servers = board.status();
  return {
    config:
      source.kind === "demo"
        ? { source: "demo" }
        : {
            source: source.from,
            file: source.path,
            ...(source.base !== undefined && { base: source.base }),
          },
    agent: agent.agentId,
    ...(gateway && {
      gateway: {
        pid: gateway.pid,
        since: gateway.since,
        attached: gateway.attached,
        ...(gateway.fleet && { fleet: gateway.fleet }),
      },
    }),
    servers: servers.map((server) => {
      const own = toolsOf(server, tools);
      return {
        name: server.name,
        ...(server.from && { from: server.from }),
        state: stateToJson(server.state),
        tools: own.length,
        cached: server.cached,
        promptTokens: promptTokens(own),
      };
    }),
    totals: {
      servers: servers.length,
      ready: servers.filter(({ state }) => state.kind === "ready").length,
      tools: tools.length,
      promptTokens: promptTokens(tools),
      readyMs: Math.round(readyMs),
    },
    toolSearch: summarisePlan(planFor(agent, board)),
    unmatchedRules: board.unmatchedRules(),
  };
}

function toolsOf(server: ServerStatus, tools: readonly Tool[]): Tool[] {
  return tools.filter(({ source }) => source.kind === "mcp" && source.server === server.name);
}
