// Everything about one server.

import { diagnosticText } from "../../core/types/diagnostic.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { duration, oneLine, plainText, plural } from "../../util/text.ts";
import { roughly } from "../../util/tokens.ts";
import { stateCell, stateMore, stateNotes } from "./server-state.ts";
import type { GlobalOptions } from "../context.ts";
import { commandsApart } from "../offered-command.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { wrap } from "../terminal/width.ts";

const COLUMNS: readonly Column[] = [{}, { min: 20, overflow: "wrap" }];

export function serverPage(
  server: ServerStatus,
  terminal: Terminal,
  now: number,
  options: Pick<GlobalOptions, "config" | "agent"> = {},
): string[] {
  const { paint, width } = terminal.out;
  const state = stateCell(server.state, terminal);
  const title = `${paint("bold", oneLine(server.name))}  ${paint(state.tone ?? "bold", state.text)}`;
  const rows = facts(server, now, options)
    .filter(([, value]) => value !== "")
    .map(([name, value, command]) => ({
      cells: [{ text: name, tone: "dim" as const }, value],
      notes: command === undefined ? [] : [command],
    }));
  const notes = server.diagnostics.flatMap((each) => commandsApart(diagnosticText(each), options));
  return [
    title,
    ...renderTable(COLUMNS, rows, { width, paint, indent: 2 }),
    ...section("notes", notes, width),
    ...section("stderr, last lines", server.stderr, width),
    ...section("instructions", (server.identity?.instructions ?? "").split("\n"), width),
  ];
}

const ORIGINS: Readonly<Record<ServerStatus["origin"], string>> = {
  defaults: "the servers of every agent",
  agent: "the agent's own servers",
  session: "the session",
};

function facts(
  server: ServerStatus,
  now: number,
  options: Pick<GlobalOptions, "config" | "agent">,
): [name: string, value: string, command?: string][] {
  const { state, identity, calls, lastError, from } = server;
  const [reason = "", ...notes] = stateNotes(state, options);
  const command = notes.find((each) => each.startsWith("  "));
  const hints = notes.filter((each) => each !== command);
  return [
    ["reason", reason, hints.length === 0 ? command : undefined],
    ["", hints.join("; "), command],
    ["", stateMore(state).join("")],
    ["next attempt", nextAttempt(state, now)],
    ["last error", lastError === undefined || reason.startsWith(lastError) ? "" : lastError],
    ["target", server.target],
    ["transport", server.transport],
    ["from", ORIGINS[server.origin]],
    ["file", from?.file ?? ""],
    ["hides", from?.hides === undefined ? "" : `the server of this name in ${from.hides}`],
    ["server", [identity?.name, identity?.version].filter(Boolean).join(" ")],
    ["protocol", identity === undefined ? "" : `${identity.protocolVersion} (${identity.era})`],
    ["pid", server.pid === undefined ? "" : String(server.pid)],
    ["start", state.kind === "ready" ? duration(state.startMs) : ""],
    ["tools", toolsText(server)],
    ["restarts", String(server.restarts)],
    ["calls", callsText(calls)],
  ];
}

function toolsText({ tools, promptTokens, cached }: ServerStatus): string {
  const tokens = promptTokens === 0 ? "" : `, ${roughly(promptTokens)} tokens in a prompt`;
  return `${tools}${tokens}${cached ? ", from the cache" : ""}`;
}

function nextAttempt(state: ServerState, now: number): string {
  if (state.kind !== "backoff") return "";
  const of = state.of === undefined ? "" : ` of ${state.of}`;
  return `${state.attempt}${of}, in ${duration(Math.max(0, state.retryAt - now))}`;
}

function callsText({ total, failed, latencyMs, waitedMs }: ServerStatus["calls"]): string {
  if (total === 0) return "";
  const latency = latencyMs === undefined ? "" : `, ${duration(latencyMs)} on average`;
  const waited = waitedMs === undefined ? "" : `; waited ${duration(waitedMs)} for answers`;
  return `${plural(total, "call")}, ${failed} failed${latency}${waited}`;
}

function section(title: string, lines: readonly string[], width = Infinity): string[] {
  const text = lines.map((line) => plainText(line).trimEnd()).filter((line) => line !== "");
  if (text.length === 0) return [];
  return [
    "",
    title,
    ...text
      .flatMap((line) => (line.startsWith("  plugboard ") ? [line] : wrap(line, width - 2)))
      .map((line) => `  ${line}`),
  ];
}
