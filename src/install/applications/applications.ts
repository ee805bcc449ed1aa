// The applications that the board can be put into: where each has its file, and how an entry looks there.

import { posix, win32 } from "node:path";
import { projectOf } from "../../core/config/foreign/claude.ts";
import { places, type PlacesOptions } from "../../core/config/foreign/places.ts";
import { isOwnServer } from "../../core/config/own-server.ts";
import type { KeyPath } from "../../core/config/issue.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, valueIn } from "../../core/types/json.ts";
import {
  type ConfigEntry,
  denialsIn,
  sharedEntry,
  slotsIn,
} from "../../openclaw/config-entries.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { TextFile } from "../../core/config/text/text-file.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import { refuseIncluded } from "./included.ts";

/** How a board is started: a program, its first arguments, and the words that follow. */
export interface BoardStart {
  command: string;
  /** Everything before `serve` or `acp`. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The variables that the configuration refers to. */
  variables: readonly string[];
}

export interface Entry {
  as: "server" | "agent";
  path: KeyPath;
  /** A text is one element of a list. */
  value: JsonObject | string;
}

export interface ConnectedApplication {
  id: string;
  /** As people call it. */
  name: string;
  syntax: "json" | "toml";
  /** The files that it may have, the likeliest first. */
  files: (around: PlacesOptions) => string[];
  /** Directories that are there if it is; without them, those of its files. */
  marks?: (around: PlacesOptions) => string[];
  /** Its own commands. */
  programs: readonly string[];
  /** Throws CONFIG_INVALID where the file cannot be changed. */
  refuse?: (file: TextFile, value: unknown) => void;
  /** `value` is what the file has now. */
  entries: (start: BoardStart, value: unknown) => Entry[];
  /** What `value` has of ours; without it, what starts a board under the names of `entries`. */
  own?: (value: unknown) => Entry[];
  /** What `plugboard openclaw setup` has put there too, and what stays. */
  kept?: (value: unknown) => Entry[];
  /** Where `value` has the servers that are for one directory alone. */
  ofDirectory?: (value: unknown, cwd: string) => KeyPath | undefined;
  /** What to know before the board is in `value`, with a board of this agent. */
  notes?: (value: unknown, agent: AgentConfig) => string[];
  /** What the person has to do before the application uses its new file, or how to see that it does. */
  next: string;
}

/** What the board is called in other applications. */
const SERVER_NAME = "plugboard";
const AGENT_NAME = "Plugboard";

export const CONNECTED: readonly ConnectedApplication[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    syntax: "json",
    files: userFiles("claude-code"),
    marks: ({ homedir, platform }) => [systemOf(platform).join(homedir, ".claude")],
    programs: ["claude"],
    // As `claude mcp add --scope user` writes it.
    entries: (start) => [
      server(["mcpServers"], { type: "stdio", ...plain(start), env: start.env }),
    ],
    ofDirectory: (value, cwd) => {
      const projects = valueIn(value, ["projects"]);
      const project = isJsonObject(projects) ? projectOf(projects, cwd) : undefined;
      return project === undefined ? undefined : ["projects", project, "mcpServers"];
    },
    next: "start a new session to use it; claude mcp list shows it",
  },
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    syntax: "json",
    files: userFiles("claude-desktop"),
    programs: [],
    entries: (start) => [server(["mcpServers"], withEnv(plain(start), start))],
    next: "quit Claude Desktop and start it again",
  },
  {
    id: "cursor",
    name: "Cursor",
    syntax: "json",
    files: userFiles("cursor"),
    programs: ["cursor", "cursor-agent"],
    entries: (start) => [server(["mcpServers"], withEnv(plain(start), start))],
    next: "Cursor notices by itself; enable the server in its settings if it asks",
  },
  {
    id: "windsurf",
    name: "Windsurf",
    syntax: "json",
    files: userFiles("windsurf"),
    programs: ["windsurf"],
    entries: (start) => [server(["mcpServers"], withEnv(plain(start), start))],
    next: "press refresh in Windsurf's list of MCP servers",
  },
  {
    id: "cline",
    name: "Cline",
    syntax: "json",
    files: userFiles("cline"),
    programs: ["cline"],
    entries: (start) => [server(["mcpServers"], withEnv(plain(start), start))],
    next: "Cline notices by itself",
  },
  {
    id: "vscode",
    name: "VS Code",
    syntax: "json",
    files: userFiles("vscode"),
    programs: ["code", "code-insiders", "codium"],
    entries: (start) => [server(["servers"], { type: "stdio", ...withEnv(plain(start), start) })],
    next: "start it from VS Code's list of MCP servers; VS Code asks once whether you trust it",
  },
  {
    id: "zed",
    name: "Zed",
    syntax: "json",
    files: userFiles("zed"),
    programs: ["zed"],
    entries: (start) => [
      server(["context_servers"], { ...plain(start), env: start.env }),
      agent({ type: "custom", ...plain(start, "acp"), env: start.env }),
    ],
    next: "Zed notices by itself; the agent is in the menu for new threads",
  },
  {
    id: "jetbrains",
    name: "JetBrains IDEs",
    syntax: "json",
    files: ({ homedir, platform }) => [systemOf(platform).join(homedir, ".jetbrains", "acp.json")],
    marks: ({ homedir, platform, env }) => {
      const join = (...parts: string[]): string => systemOf(platform).join(...parts);
      return [
        join(homedir, ".jetbrains"),
        join(homedir, "Library", "Application Support", "JetBrains"),
        join(env["XDG_CONFIG_HOME"] || join(homedir, ".config"), "JetBrains"),
        join(env["APPDATA"] || join(homedir, "AppData", "Roaming"), "JetBrains"),
      ];
    },
    programs: ["idea", "pycharm", "webstorm", "goland"],
    entries: (start) => [agent({ ...plain(start, "acp"), env: start.env })],
    next: "choose Plugboard in the AI Chat",
  },
  {
    id: "codex",
    name: "Codex",
    syntax: "toml",
    files: userFiles("codex"),
    programs: ["codex"],
    entries: (start) => [
      server(["mcp_servers"], {
        ...withEnv(plain(start), start),
        // Codex passes no other variables on.
        ...(start.variables.length > 0 && { env_vars: start.variables }),
      }),
    ],
    next: "start a new session to use it; codex mcp list shows it",
  },
  {
    id: "gemini",
    name: "Gemini CLI",
    syntax: "json",
    files: userFiles("gemini"),
    programs: ["gemini"],
    entries: (start) => [server(["mcpServers"], withEnv(plain(start), start))],
    next: "start a new session to use it, in a folder that it trusts; gemini mcp list shows it",
  },
  {
    id: "opencode",
    name: "OpenCode",
    syntax: "json",
    files: userFiles("opencode"),
    programs: ["opencode"],
    entries: (start, value) => {
      const { command, args } = plain(start);
      const env = Object.keys(start.env).length > 0 && { environment: start.env };
      const entry = { type: "local", command: [command, ...args], ...env };
      // Its second version has the servers one level deeper, and no `enabled`.
      return isSecondVersion(value)
        ? [server(["mcp", "servers"], entry)]
        : [server(["mcp"], { ...entry, enabled: true })];
    },
    next: "start OpenCode again",
  },
  {
    id: "openclaw",
    name: "OpenClaw",
    syntax: "json",
    files: userFiles("openclaw"),
    programs: ["openclaw"],
    entries: (start) => [openclawEntry(sharedEntry(withEnv(plain(start), start)))],
    refuse: (file, value) => refuseIncluded(file, value, ["mcp", "servers"]),
    own: ownInOpenclaw,
    kept: (value) => [...slotsIn(value), ...denialsIn(value)].map(openclawEntry),
    notes: unmarkedInOpenclaw,
    next: "start a new session to use it; openclaw mcp status shows it",
  },
];

/** Throws INVALID_ARGUMENTS, with the closest one, for a word that names none. */
export function applicationOf(word: string): ConnectedApplication {
  const found = CONNECTED.find(({ id }) => id === word);
  if (found !== undefined) return found;
  const ids = CONNECTED.map(({ id }) => id);
  const near = closest(word, ids);
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `'${oneLine(word, 100)}' is not an application that Plugboard knows`,
    { hint: near === undefined ? `expected one of ${ids.join(", ")}` : `did you mean '${near}'?` },
  );
}

function systemOf(platform: NodeJS.Platform): typeof posix {
  return platform === "win32" ? win32 : posix;
}

function userFiles(id: string): ConnectedApplication["files"] {
  return (around) =>
    places(around)
      .filter(({ application, scope }) => application === id && scope === "user")
      .map(({ path }) => path);
}

function server(place: readonly string[], value: JsonObject): Entry {
  return { as: "server", path: [...place, SERVER_NAME], value };
}

export function openclawEntry({ path, value }: ConfigEntry): Entry {
  return { as: "server", path, value };
}

function ownInOpenclaw(value: unknown): Entry[] {
  const { path } = sharedEntry({});
  const shared = valueIn(value, path);
  const url = valueIn(shared, ["url"]);
  // A gateway may be on another machine: it is known by its path, under our own name.
  const isGateway = typeof url === "string" && /^https?:\/\/[^?#]+\/mcp$/.test(url);
  const entries =
    isJsonObject(shared) && (isGateway || isOurs(shared)) ? [{ path, value: shared }] : [];
  return [...entries, ...denialsIn(value)].map(openclawEntry);
}

/** Its tool search, which it has unless that is off, puts results between markers itself. */
function unmarkedInOpenclaw(value: unknown, { guard }: AgentConfig): string[] {
  const search = valueIn(value, ["tools", "toolSearch"]);
  const isOff = search === false || valueIn(search, ["enabled"]) === false;
  if (!isOff || guard?.framing !== undefined) return [];
  return [
    "Without tool search (tools.toolSearch), OpenClaw gives its model what servers answer as it is. To have it between",
    'markers, put into your plugboard.json: "agents": { "defaults": { "framing": "full" } }',
  ];
}

function agent(value: JsonObject): Entry {
  return { as: "agent", path: ["agent_servers", AGENT_NAME], value };
}

function plain(
  { command, args }: BoardStart,
  word: "serve" | "acp" = "serve",
): { command: string; args: string[] } {
  return { command, args: [...args, word] };
}

function withEnv(value: JsonObject, { env }: BoardStart): JsonObject {
  return Object.keys(env).length === 0 ? value : { ...value, env };
}

function isSecondVersion(value: unknown): boolean {
  const mcp = isJsonObject(value) ? value["mcp"] : undefined;
  const servers = isJsonObject(mcp) ? mcp["servers"] : undefined;
  return isJsonObject(servers) && typeof servers["type"] !== "string";
}

/** The command line of an entry, in whatever form the application has it; undefined for anything else. */
export function commandOf(value: unknown): string[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const { command, args } = value;
  const words: unknown[] = [
    ...(Array.isArray(command) ? (command as unknown[]) : [command]),
    ...(Array.isArray(args) ? (args as unknown[]) : []),
  ];
  return words.every((word) => typeof word === "string") ? words : undefined;
}

/** For entries under our own name: there a Plugboard that has moved is known too. */
export function isOurs(value: unknown): value is JsonObject {
  const [command, ...args] = commandOf(value) ?? [];
  const isBoard = args.at(-1) === "serve" || args.at(-1) === "acp";
  const hasBin = args.some((arg) => /[/\\]dist[/\\]bin\.cjs$/.test(arg));
  return isOwnServer(command, args) || (isBoard && hasBin);
}
