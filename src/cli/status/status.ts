// `plugboard status`: a row for each server, or everything about one; those of the gateway, if one runs here or shares the state.

import { leftOutTools } from "../../agent/loop/offered-tools.ts";
import { modelLimits, providerOf } from "../../agent/loop/provider.ts";
import { describePlan, summarisePlan } from "../../core/board/prompt-plan.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import { diagnosticText } from "../../core/types/diagnostic.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { stateToJson } from "../../core/types/server-state.ts";
import { capitalised, duration } from "../../util/text.ts";
import { roughly } from "../../util/tokens.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findChannel } from "../attach/find-channel.ts";
import { findSource } from "../find-source.ts";
import { withBoard } from "../open.ts";
import { commandsApart } from "../offered-command.ts";
import { askFleet, askMembers, fleetLines, type ShownFleet } from "./fleet.ts";
import {
  type AnsweringGateway,
  askGateway,
  attachedLines,
  clientLines,
  gatewayLine,
  NOT_UNDERSTOOD,
} from "./running-gateway.ts";
import { fileName, hidingNotes } from "./server-file-name.ts";
import { serverPage } from "./server-page.ts";
import { stateCell, stateMore, stateNotes } from "./server-state.ts";
import { ruleLines } from "./rules.ts";
import { untilStarted } from "./starting.ts";
import { planFor, toolSearchLines } from "./tool-search.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "server", min: 8 },
  { title: "state" },
  { title: "file", min: 8 },
  { title: "tools", align: "right" },
  { title: "prompt tokens", align: "right" },
  { title: "restarts", align: "right" },
  { title: "latency", align: "right" },
  { title: "pid", align: "right" },
  { title: "protocol" },
  { title: "transport" },
  { title: "target", min: 16 },
];

export async function runStatus(server: string | undefined, context: CliContext): Promise<number> {
  const gateway = await askGateway(context);
  if (gateway === undefined) return showFromElsewhere(server, context);
  if (gateway === "no answer") return showOwnBoard(server, context);
  const found = await findChannel(findSource(context), context);
  const apart = found.kind === "attach" ? found.apart : new Map<string, string>();
  const members = server === undefined ? gateway.fleet : undefined;
  const fleet = members && (await askMembers(members, context));
  const isShown = showGateway(gateway, { apart, ...(fleet && { fleet }) }, server, context);
  return isShown ? EXIT.ok : showOwnBoard(server, context);
}

/** What a gateway of another machine says that shares the state, or else the servers of this machine. */
async function showFromElsewhere(server: string | undefined, context: CliContext): Promise<number> {
  const { fleet, gateway } = (await askFleet(context)) ?? {};
  const about = { apart: new Map<string, string>(), isElsewhere: true, ...(fleet && { fleet }) };
  try {
    if (gateway && showGateway(gateway, about, server, context)) return EXIT.ok;
  } catch (error) {
    // Whoever has listed its address may have answered something that only looks like a status.
    if (!(error instanceof TypeError)) throw error;
    fleet?.problems.push(
      `the gateway at ${gateway?.url} did not tell its status: ${NOT_UNDERSTOOD}`,
    );
  }
  return showOwnBoard(server, context, fleet);
}

interface AboutGateway {
  /** Of servers, why commands in this shell and directory start their own instead of the gateway's. */
  apart: ReadonlyMap<string, string>;
  /** The gateways that share its state. */
  fleet?: ShownFleet;
  /** It runs on another machine. */
  isElsewhere?: boolean;
}

/**
 * Prints nothing before it has made all of it.
 *
 * False if the gateway does not know the agent or the server: then the configuration decides whether there is one.
 */
function showGateway(
  gateway: AnsweringGateway,
  { apart, fleet, isElsewhere = false }: AboutGateway,
  server: string | undefined,
  context: CliContext,
): boolean {
  const { screen, options, clock } = context;
  const { out } = screen.terminal;
  const { agent: id = DEFAULT_AGENT } = options;
  const known = gateway.agents.find((each) => each.id === id);
  if (known === undefined) return false;
  const { servers: all, isOpen } = known;
  const servers = server === undefined ? all : all.filter(({ name }) => name === server);
  if (server !== undefined && servers.length === 0) return false;
  if (options.json) {
    screen.json({
      gateway: { ...gateway, agents: gateway.agents.map((each) => each.id) },
      servers: servers.map((each) => ({ ...each, state: stateToJson(each.state) })),
      ...(apart.size > 0 && { notShared: Object.fromEntries(apart) }),
      ...(server === undefined && known.toolSearch && { toolSearch: known.toolSearch }),
      ...(server === undefined && fleet && { fleet }),
    });
    return true;
  }
  const now = clock.now();
  const { unappliedEdit: edit } = gateway;
  const unapplied = edit === undefined ? [] : [capitalised(edit.message)];
  const lines = [...(isElsewhere ? [ELSEWHERE] : []), gatewayLine(gateway, now), ...unapplied, ""];
  if (server !== undefined) {
    lines.push(...servers.flatMap((each) => serverPage(each, screen.terminal, now, options)));
    screen.lines([...lines, ...apartLines([apart.get(server)])]);
    return true;
  }
  // The command did not wait for servers that are starting, so it has nothing to explain about them.
  const explains = ({ state }: ServerStatus): boolean => state.kind !== "starting";
  if (servers.length > 0) lines.push(...serverTable(servers, context, explains));
  else if (isOpen) lines.push("no servers are configured");
  else lines.push(`nobody has asked for the agent '${id}' yet; its servers start then`);
  screen.lines([
    ...lines,
    ...toolSearchLines(known.toolSearch?.text, screen.terminal),
    ...clientLines(gateway, now, out),
    ...attachedLines(gateway, now, out),
    ...(fleet ? ["", ...fleetLines(fleet, out)] : []),
    ...apartLines([...apart.values()]),
  ]);
  return true;
}

const ELSEWHERE =
  "No gateway runs on this machine. This is one that shares the state of the configuration:";

function apartLines(reasons: readonly (string | undefined)[]): string[] {
  const lines = reasons.flatMap((reason) => (reason === undefined ? [] : [capitalised(reason)]));
  return lines.length === 0 ? [] : ["", ...lines];
}

function serverTable(
  servers: readonly ServerStatus[],
  context: CliContext,
  explains: (server: ServerStatus) => boolean = () => true,
): string[] {
  const { width, paint } = context.screen.terminal.out;
  const rows = servers.map((each) => statusRow(each, context, explains(each)));
  return renderTable(COLUMNS, rows, { width, paint });
}

async function showOwnBoard(
  server: string | undefined,
  context: CliContext,
  fleet?: ShownFleet,
): Promise<number> {
  const { screen, options, clock } = context;
  return withBoard(
    context,
    { start: "eager", server, showsRules: true, standalone: true },
    async ({ board, agent }) => {
      await untilStarted(board, context, { limit: agent.startupWait });
      const servers = statusFor(agent, board);
      const about = server === undefined ? fleet : undefined;
      if (about && !options.json) screen.lines([...fleetLines(about, screen.terminal.out), ""]);
      if (options.json) {
        screen.json({
          servers: servers.map((each) => ({ ...each, state: stateToJson(each.state) })),
          ...(server === undefined && { toolSearch: summarisePlan(planFor(agent, board)) }),
          ...(about && { fleet: about }),
        });
      } else if (server !== undefined) {
        screen.lines(
          servers.flatMap((each) => serverPage(each, screen.terminal, clock.now(), options)),
        );
      } else if (servers.length === 0) {
        screen.lines(["no servers are configured"]);
      } else {
        screen.lines(serverTable(servers, context));
        // The others are among the notes of the servers that they name.
        const rules = board
          .unmatchedRules()
          .filter(({ restricts, servers: named = [] }) => !restricts || named.length === 0);
        screen.lines(ruleLines(rules, screen.terminal));
        screen.lines(toolSearchLines(describePlan(planFor(agent, board)), screen.terminal));
      }
      const started = servers.filter(({ state }) => state.kind !== "disabled");
      if (!options.json && started.length > 0) {
        const { paint } = screen.terminal.out;
        const which = started.length === 1 ? "This server was" : "These servers were";
        screen.lines(["", paint("dim", `${which} started for this command.`)]);
      }
      return EXIT.ok;
    },
  );
}

/** With the tools that the agent's model does not get. */
function statusFor(
  { model: id = "", modelProviders }: AgentConfig,
  board: Pick<Board, "status" | "tools">,
): ServerStatus[] {
  const servers = board.status();
  const provider = providerOf(id, modelProviders);
  // Without a model there is nothing to tell; `ask` and `acp` report one that does not exist.
  if (provider === undefined) return servers;
  const leftOut = leftOutTools(board.tools(), { id, ...modelLimits(provider) });
  return servers.map((each) => ({
    ...each,
    diagnostics: [...each.diagnostics, ...leftOut.filter(({ server }) => server === each.name)],
  }));
}

function statusRow(
  server: ServerStatus,
  { screen, options, io }: CliContext,
  explainsState: boolean,
): Row {
  const { state, restarts, calls, diagnostics, lastError } = server;
  const notes = explainsState ? [...stateNotes(state, options), ...stateMore(state)] : [];
  if (notes.length === 0 && lastError !== undefined) notes.push(`last error: ${lastError}`);
  for (const each of diagnostics) notes.push(...commandsApart(diagnosticText(each), options));
  notes.push(...hidingNotes(server, io));
  return {
    cells: [
      { text: server.name, tone: "bold" },
      stateCell(state, screen.terminal),
      { text: fileName(server, io), tone: "dim" },
      `${server.tools}${server.cached ? " cached" : ""}`,
      server.promptTokens === 0 ? "" : roughly(server.promptTokens),
      restarts === 0 ? "" : String(restarts),
      calls.latencyMs === undefined ? "" : duration(calls.latencyMs),
      server.pid === undefined ? "" : String(server.pid),
      state.kind === "ready" ? state.protocolVersion : "",
      server.transport,
      { text: server.target, tone: "dim" },
    ],
    notes,
  };
}
