// Reads the names that can be completed from the configuration, and from what servers had in earlier runs. Nothing starts.

import { knownTools } from "../../core/board/earlier-runs.ts";
import { type ConfigSource, filesOf } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { agentIdsIn, loadConfig } from "../../core/config/load.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { isJsonObject, objectIn } from "../../core/types/json.ts";
import type { ToolDefinition } from "../../core/types/tool.ts";
import { oneLine } from "../../util/text.ts";
import { demoConfig } from "../demo-config.ts";
import type { Given, KnownKey, KnownNames, KnownTool, Surroundings } from "./known-names.ts";

/** A schema may have any number of fields and choices; nobody looks through more. */
const MOST_KEYS = 100;
const MOST_VALUES = 50;
const LONGEST = 200;
const ABOUT = 80;
/**
 * What the names of all tools may take in the file, in bytes, and what their arguments may: with more, it would be read
 * and written anew with every key that is pressed. Servers share it alike, so that one cannot take it from the others.
 */
const ALL_TOOLS = 5 * 1024 ** 2;
const ALL_KEYS = 3 * 1024 ** 2;

/** Rejects with CONFIG_INVALID. */
export async function loadNames(
  source: ConfigSource,
  given: Given,
  around: Surroundings,
): Promise<KnownNames> {
  const home = plugboardHome(around.env, around.homedir);
  const agent = await configOf(source, given, around);
  const tools = await knownTools(agent.servers, home);
  return {
    servers: agent.servers.map(({ name }) => name),
    agents: await agentsOf(source, around),
    models: [...(agent.models ?? [])],
    tools: [...tools].flatMap(([server, list]) => knownOf(server, list, tools.size)),
  };
}

function knownOf(server: string, list: readonly ToolDefinition[], servers: number): KnownTool[] {
  let room = ALL_TOOLS / servers;
  let keysRoom = ALL_KEYS / servers;
  const known: KnownTool[] = [];
  for (const tool of list) {
    const { keys, ...named } = toKnown(server, tool);
    room -= bytesOf(named);
    if (room < 0) break;
    const isKept = keysRoom > 0 && (keysRoom -= bytesOf(keys)) >= 0;
    known.push({ ...named, keys: isKept ? keys : [] });
  }
  return known;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 20;
}

function configOf(
  source: ConfigSource,
  { agent }: Given,
  { cwd, homedir }: Surroundings,
): Promise<AgentConfig> | AgentConfig {
  if (source.kind === "demo") return demoConfig();
  const { path, base } = source;
  return loadConfig(path, agent, { cwd, homedir, ...(base !== undefined && { base }) });
}

async function agentsOf(source: ConfigSource, { cwd }: Surroundings): Promise<string[]> {
  if (source.kind === "demo") return [];
  const files = filesOf(source).map(({ path }) => agentIdsIn(path, { cwd }));
  return [...new Set((await Promise.all(files)).flat())];
}

function toKnown(
  server: string,
  { name, title, description, inputSchema }: ToolDefinition,
): KnownTool {
  return {
    name: `${server}/${name}`,
    about: oneLine(description ?? title ?? "", ABOUT),
    keys: keysOf(inputSchema),
  };
}

function keysOf({ properties, required }: ToolDefinition["inputSchema"]): KnownKey[] {
  if (!isJsonObject(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = Object.keys(properties).filter((name) => name.length <= LONGEST);
  const inOrder = [
    ...names.filter((name) => needed.has(name)),
    ...names.filter((name) => !needed.has(name)),
  ];
  return inOrder.slice(0, MOST_KEYS).map((name) => {
    const property = properties[name];
    const schema = objectIn(property);
    const { description, type } = schema;
    const values = valuesOf(schema);
    return {
      name,
      about: typeof description === "string" ? oneLine(description, ABOUT) : "",
      ...(values.length > 0 && { values }),
      ...(type === "array" && { isList: true as const }),
    };
  });
}

function valuesOf(schema: Record<string, unknown>): string[] {
  if (schema["type"] === "boolean") return ["true", "false"];
  const { enum: choices, items } = schema;
  if (Array.isArray(choices)) {
    return choices
      .slice(0, MOST_VALUES)
      .filter((each) => ["string", "number", "boolean"].includes(typeof each))
      .map(String)
      .filter((each) => each.length <= LONGEST);
  }
  return isJsonObject(items) && Array.isArray(items["enum"])
    ? valuesOf({ enum: items["enum"] })
    : [];
}
