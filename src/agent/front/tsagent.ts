// Agents of tsagent: which one a command names, the files that belong to it, and its configuration with the board in
// it. tsagent connects to the servers of its configuration when it starts, and to no others.

import { readdir, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import { errorMessage } from "../../util/error-message.ts";
import { readRegularFile } from "../../util/regular-file.ts";
import type { BoardAddress } from "./agent-config.ts";

interface AgentFile {
  path: string;
  text: string;
}

interface FoundAgent {
  /** The position of the agent's path among the words of the command. */
  position: number;
  isDirectory: boolean;
  file: AgentFile;
  /** What tsagent reads beside it, by relative path. */
  others: AgentFile[];
}

const SERVER = "plugboard";
const FORMATS = [".yaml", ".yml", ".json"];
const HINT =
  "name it as for tsagent: a file (.yaml, .yml, .json), or a directory with tsagent.yaml in it, as in `plugboard acp --agent-config tsagent -- npx @tsagent/acp-server ./my-agent.yaml`";

/** Rejects with CONFIG_INVALID unless the command names exactly one agent that can be read. */
export async function findTsagent(command: readonly string[], cwd: string): Promise<FoundAgent> {
  const found: { position: number; path: string; isDirectory: boolean }[] = [];
  for (const [position, word] of command.entries()) {
    // The first one is the program.
    const agent = position === 0 ? undefined : await agentAt(resolve(cwd, word));
    if (agent !== undefined) found.push({ position, ...agent });
  }
  const [agent, another] = found;
  if (agent === undefined) {
    throw invalid(`no agent of tsagent is named in \`${command.join(" ")}\``, HINT);
  }
  if (another !== undefined) {
    const both = `${command[agent.position]} and ${command[another.position]}`;
    throw invalid(`${both} are both agents of tsagent`, "name only one of them");
  }
  const { position, path, isDirectory } = agent;
  const text = await readRegularFile(path).catch((error: unknown) => {
    throw invalid(`the agent ${path} cannot be read: ${errorMessage(error)}`, HINT);
  });
  const file = { path, text };
  return { position, isDirectory, file, others: await filesBeside(path) };
}

/** As tsagent looks for it: a file by its ending, or the first one of a directory. */
async function agentAt(path: string): Promise<{ path: string; isDirectory: boolean } | undefined> {
  const kind = await kindOf(path);
  if (kind === "file") {
    return FORMATS.includes(extname(path).toLowerCase()) ? { path, isDirectory: false } : undefined;
  }
  if (kind !== "directory") return undefined;
  for (const format of FORMATS) {
    const file = join(path, `tsagent${format}`);
    if ((await kindOf(file)) === "file") return { path: file, isDirectory: true };
  }
  return undefined;
}

async function kindOf(path: string): Promise<"file" | "directory" | undefined> {
  try {
    const found = await stat(path);
    if (found.isFile()) return "file";
    return found.isDirectory() ? "directory" : undefined;
  } catch {
    return undefined;
  }
}

/** Variables for the agent, and what an agent in JSON has outside its file. */
async function filesBeside(path: string): Promise<AgentFile[]> {
  const directory = dirname(path);
  const names = [".env"];
  if (extname(path).toLowerCase() === ".json") {
    names.push("prompt.md");
    for (const folder of ["rules", "refs"]) {
      const inside = await readdir(join(directory, folder)).catch(() => []);
      names.push(
        ...inside.filter((name) => name.endsWith(".mdt")).map((name) => join(folder, name)),
      );
    }
  }
  const files = names.map(async (name) => {
    const text = await readRegularFile(join(directory, name)).catch(() => undefined);
    return text === undefined ? [] : [{ path: name, text }];
  });
  return (await Promise.all(files)).flat();
}

/**
 * The agent's configuration with the board as its server `plugboard`, in place of one that has this name already.
 * Without an address, only such a one is taken out.
 */
export function withBoardEntry({ path, text }: AgentFile, board: BoardAddress | undefined): string {
  const entry = board === undefined ? undefined : entryOf(board);
  const isJson = extname(path).toLowerCase() === ".json" || text.trimStart().startsWith("{");
  return isJson ? inJson(text, path, entry) : inYaml(text, path, entry);
}

function entryOf({ http }: BoardAddress): JsonObject {
  return {
    type: "streamable-http",
    url: http.url,
    headers: Object.fromEntries(http.headers.map(({ name, value }) => [name, value])),
    // Its ACP server has nobody to ask, so it leaves out tools that need a permission. The board asks the client where
    // `approval` is set.
    serverToolDefaults: { include: "always", permissionRequired: false },
  };
}

function inJson(text: string, path: string, entry: JsonObject | undefined): string {
  let agent: unknown;
  try {
    agent = JSON.parse(text);
  } catch (error) {
    throw invalid(`the agent ${path} is not valid JSON: ${errorMessage(error)}`);
  }
  const servers = isJsonObject(agent) ? (agent["mcpServers"] ?? {}) : undefined;
  if (!isJsonObject(agent) || !isJsonObject(servers)) {
    throw invalid(`the agent ${path} is not an object, or its mcpServers is not one`);
  }
  const { [SERVER]: _, ...others } = servers;
  const mcpServers = entry === undefined ? others : { [SERVER]: entry, ...others };
  return `${JSON.stringify({ ...agent, mcpServers }, null, 2)}\n`;
}

const SERVERS_KEY = /^(?:mcpServers|"mcpServers"|'mcpServers')\s*:(?=\s|$)(.*)$/;
const OWN_KEY = /^\s+(?:plugboard|"plugboard"|'plugboard')\s*:(?=\s|$)/;
/** Nothing, or a comment. */
const EMPTY = /^\s*(?:#.*)?$/;
const NO_SERVERS = /^\s*(?:\{\s*\}|null|~)\s*(?:#.*)?$/;
/** Ends or begins a document, or says something about it. */
const MARK = /^(?:---|\.\.\.|%)/;

/**
 * Changes lines, so that everything else stays as it is written. What is indented in YAML belongs to the last line
 * that is not, whatever it is, so the keys of the outermost mapping are found without reading the rest.
 */
function inYaml(text: string, path: string, entry: JsonObject | undefined): string {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const first = lines.findIndex((line) => !EMPTY.test(line) && !MARK.test(line));
  if (first === -1) throw invalid(`the agent ${path} is empty`);
  if (/^\s/.test(lines[first] ?? "")) throw notABlock(path, "its outermost keys");
  const start = lines.findIndex((line) => SERVERS_KEY.test(line));
  const own = entry === undefined ? [] : [`${SERVER}: ${JSON.stringify(entry)}`];
  if (start === -1) {
    const added = own.flatMap((line) => ["mcpServers:", `  ${line}`]);
    return [...lines.slice(0, first), ...added, ...lines.slice(first)].join("\n");
  }
  const value = SERVERS_KEY.exec(lines[start] ?? "")?.[1] ?? "";
  if (NO_SERVERS.test(value)) {
    const replaced = own.length === 0 ? ["mcpServers: {}"] : ["mcpServers:", `  ${own[0]}`];
    return lines.toSpliced(start, 1, ...replaced).join("\n");
  }
  if (!EMPTY.test(value)) throw notABlock(path, "mcpServers");
  const length = lines.slice(start + 1).findIndex((line) => /^[^\s#]/.test(line));
  const end = length === -1 ? lines.length : start + 1 + length;
  const servers = lines.slice(start + 1, end);
  const firstServer = servers.find((line) => !EMPTY.test(line)) ?? `  ${SERVER}:`;
  const [, indent] = /^(\s+)[^\s{[&!*?-]/.exec(firstServer) ?? [];
  if (indent === undefined) throw notABlock(path, "mcpServers");
  return [
    ...lines.slice(0, start + 1),
    ...own.map((line) => `${indent}${line}`),
    ...withoutOwn(servers, indent),
    ...lines.slice(end),
  ].join("\n");
}

function withoutOwn(servers: readonly string[], indent: string): string[] {
  let isOwn = false;
  return servers.filter((line) => {
    const isKey = line.startsWith(indent) && /^[^\s#]/.test(line.slice(indent.length));
    if (isKey) isOwn = OWN_KEY.test(line);
    return !isOwn;
  });
}

function notABlock(path: string, what: string): PlugboardError {
  return invalid(
    `the board cannot be added to the agent ${path}: ${what} are not written line by line`,
    "write them as tsagent does: one key in each line, and what belongs to it indented below",
  );
}

function invalid(message: string, hint?: string): PlugboardError {
  return new PlugboardError("CONFIG_INVALID", message, { hint });
}
