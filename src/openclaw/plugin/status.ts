// The state of the board's servers and of the plugin, for a terminal, a chat and OpenClaw's gateway.

import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject, objectIn } from "../../core/types/json.ts";
import { oneLine, plural } from "../../util/text.ts";
import { type BoardClient, BoardProblem } from "./board-client.ts";
import type { OpenClawConfig } from "./openclaw.ts";
import { type Connection, type PluginSettings, SERVER } from "./settings.ts";

const READ_MS = 30_000;
/** How long servers may be starting before they are shown as that. */
const START_MS = 15_000;
const POLL_MS = 250;

const SLOT = new RegExp(`^${SERVER}-\\d+$`);

export interface PluginStatus {
  /** How OpenClaw reaches the board. */
  connection: string;
  /** Absent if the board answers. */
  problem?: { message: string; remedy: string };
  servers: ServerLine[];
  framing: string;
  resources: string;
  /** How many slots for sessions of `plugboard acp --openclaw` the configuration has. */
  slots: number;
}

interface ServerLine {
  name: string;
  /** `ready`, `failed`, `needs-auth`, … */
  state: string;
  tools: number;
  /** What is wrong. */
  message?: string;
  remedy?: string;
}

export interface StatusSources {
  board: Pick<BoardClient, "read">;
  connection: Connection;
  config: OpenClawConfig;
  settings: PluginSettings;
}

/** Never rejects. */
export async function readStatus({
  board,
  connection,
  config,
  settings,
}: StatusSources): Promise<PluginStatus> {
  const servers = Object.keys(config.mcp?.servers ?? {});
  const rest = {
    connection: describe(connection),
    framing: framingWords(settings),
    resources: resourceWords(settings, config),
    slots: servers.filter((name) => SLOT.test(name)).length,
  };
  try {
    return { ...rest, servers: await readServers(board) };
  } catch (error) {
    const { message } = error as Error;
    const remedy = error instanceof BoardProblem ? error.remedy : "";
    return { ...rest, problem: { message, remedy }, servers: [] };
  }
}

export function statusText(status: PluginStatus): string {
  const { connection, problem, servers, framing, resources, slots } = status;
  const width = Math.max(0, ...servers.map(({ name }) => name.length));
  const lines = servers.flatMap(({ name, state, tools, message, remedy }) => [
    `  ${name.padEnd(width)}  ${state.padEnd(10)}  ${plural(tools, "tool")}`,
    ...[message, remedy].flatMap((each) => (each === undefined ? [] : [`      ${each}`])),
  ]);
  return [
    `Plugboard: ${connection}`,
    ...(problem === undefined ? [] : [`  ${problem.message}`, `  ${problem.remedy}`]),
    ...(problem === undefined && servers.length === 0
      ? ["  no servers yet; add one: plugboard add <name> -- <command …>"]
      : lines),
    `Results of MCP servers: ${framing}`,
    `Resources in the prompt: ${resources}`,
    ...(slots === 0 ? [] : [`Slots for ACP sessions: ${slots}`]),
  ].join("\n");
}

async function readServers(board: StatusSources["board"]): Promise<ServerLine[]> {
  for (let waited = 0; ; waited += POLL_MS) {
    const text = await board.read("plugboard://status", { timeoutMs: READ_MS, again: true });
    const servers = toLines(text);
    const isSettled = servers.every(({ state }) => state !== "starting");
    if (isSettled || waited >= START_MS) return servers;
    await sleep(POLL_MS);
  }
}

function toLines(text: string): ServerLine[] {
  const value: unknown = JSON.parse(text);
  const servers: unknown = isJsonObject(value) ? value["servers"] : undefined;
  if (!Array.isArray(servers)) throw new Error("the status that Plugboard gives has no servers");
  return servers.filter(isJsonObject).map(({ name, state, tools }) => {
    const { kind, error, remedy } = objectIn(state);
    const { message, hint } = objectIn(error);
    return {
      name: words(name, 60) ?? "?",
      state: words(kind, 20) ?? "unknown",
      tools: typeof tools === "number" ? tools : 0,
      ...optional("message", words(message, 300)),
      ...optional("remedy", words(remedy ?? hint, 300)),
    };
  });
}

function words(value: unknown, max: number): string | undefined {
  return typeof value === "string" && value !== "" ? oneLine(value, max) : undefined;
}

function optional<Key extends string>(
  key: Key,
  value: string | undefined,
): { [K in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: string });
}

function describe(connection: Connection): string {
  switch (connection.kind) {
    case "stdio":
      return `${oneLine([connection.command, ...connection.args].join(" "), 200)}, one process for each session`;
    case "http":
      return `the gateway at ${new URL(connection.url).origin}`;
    case "none":
      return `not connected, because ${connection.why}`;
  }
}

function framingWords({ frameOtherServers, framing, leaveUnframed }: PluginSettings): string {
  if (!frameOtherServers)
    return 'not framed by this plugin ("frameOtherServers": true frames them)';
  const except =
    leaveUnframed.size === 0 ? "" : `, except those of ${[...leaveUnframed].join(", ")}`;
  return `framed (${framing})${except}`;
}

function resourceWords(
  { resources, maxResourceBytes }: PluginSettings,
  config: OpenClawConfig,
): string {
  if (!resources) return 'none ("resources": true puts them in)';
  const { allowConversationAccess, allowPromptInjection } =
    config.plugins?.entries?.[SERVER]?.hooks ?? {};
  if (allowConversationAccess !== true) {
    return `none, because OpenClaw does not allow it: set plugins.entries.${SERVER}.hooks.allowConversationAccess to true`;
  }
  if (allowPromptInjection === false) {
    return `none, because OpenClaw does not allow it: plugins.entries.${SERVER}.hooks.allowPromptInjection is false`;
  }
  return `at the end of the system prompt, at most ${maxResourceBytes} bytes`;
}
