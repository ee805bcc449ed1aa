// The servers of one agent in the text of a configuration file: finds where they are written, and changes one of them
// without touching anything else.

import { DEFAULT_AGENT } from "../types/agent-config.ts";
import { isJsonObject, type JsonObject, objectIn } from "../types/json.ts";
import { PlugboardError } from "../types/errors.ts";
import { readConfigFile } from "./config-file.ts";
import type { Application } from "./foreign/application.ts";
import { atKey, configInvalid, type KeyPath, type Position } from "./issue.ts";
import { loadConfig } from "./load.ts";
import { DEFAULT_SERVERS } from "./schema/file-schema.ts";
import { parseText } from "./text/document.ts";
import { removeValue, setValue, valueAt } from "./text/edit.ts";
import { readTextFile, type TextFile } from "./text/text-file.ts";

export interface ServerText {
  /** As it was read, to be written back. */
  original: TextFile;
  /** Empty for a file that does not exist yet. */
  text: string;
  /** Leads to the object that has the servers, whether it is there yet or not. */
  place: KeyPath;
  /** The servers that the agent has without that object: those of the defaults. */
  inherited: JsonObject;
}

/** What a file of servers is taken for that has no mark of any application: it may be ours under another name. */
const NOBODYS = new Set(["claude-desktop", "mcptools"]);

/**
 * Rejects with CONFIG_INVALID for a file that is there and is not valid, that does not have the agent, or whose servers
 * another application writes in its own way.
 */
export async function readServerText(
  file: string,
  agentId: string | undefined,
  { cwd, homedir }: { cwd: string; homedir: string },
): Promise<ServerText> {
  const original = await readTextFile(file);
  if (original.text === undefined) return newText(original, agentId);
  await loadConfig(file, agentId, { cwd, homedir });
  const { application } = await readConfigFile(file, { cwd });
  if (application !== undefined && !isNobodys(application, file)) {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `${file} is a file of ${application.name}, whose servers Plugboard reads but does not change`,
      { hint: "change them there, or name another file with --config or --scope" },
    );
  }
  const { text } = original;
  const value = valueAt(text, []);
  const place = placeIn(value, agentId);
  const inherited = place[1] === "list" ? objectAt(text, placeIn(value, undefined)) : {};
  return { original, text, place, inherited };
}

function isNobodys({ id, pathEnd }: Application, file: string): boolean {
  return NOBODYS.has(id) && pathEnd?.test(file.replaceAll("\\", "/")) !== true;
}

function newText(original: TextFile, agentId: string | undefined): ServerText {
  if (agentId === undefined || agentId === DEFAULT_AGENT) {
    return { original, text: "", place: ["mcpServers"], inherited: {} };
  }
  throw configInvalid([
    { file: original.file, path: "", message: "there is no such file, and so no agent in it" },
  ]);
}

/** An existing file keeps its form; a file without servers gets the short one. */
function placeIn(value: unknown, agentId: string | undefined): KeyPath {
  const root = objectIn(value);
  const agents = isJsonObject(root["agents"]) ? root["agents"] : undefined;
  const list: unknown[] = Array.isArray(agents?.["list"]) ? agents["list"] : [];
  const index = list.findIndex((each) => isJsonObject(each) && each["id"] === agentId);
  if (agentId !== undefined && index !== -1) return ["agents", "list", index, "mcp", "servers"];
  const short = ["mcpServers", "servers"].find((key) => Object.hasOwn(root, key));
  if (short !== undefined) return [short];
  return agents === undefined ? ["mcpServers"] : DEFAULT_SERVERS;
}

function objectAt(text: string, path: KeyPath): JsonObject {
  return objectIn(valueAt(text, path));
}

/** As they are written. */
export function writtenServers({ text, place }: ServerText): JsonObject {
  return objectAt(text, place);
}

/** Undefined for a server that is not written there. */
export function writtenServer(servers: ServerText, name: string): unknown {
  const written = writtenServers(servers);
  return Object.hasOwn(written, name) ? written[name] : undefined;
}

/** Where the server is written. */
export function positionOf({ text, place }: ServerText, name: string): Position {
  const document = parseText(text);
  const start = { line: 1, column: 1 };
  return document.kind === "document" ? document.locate(atKey([...place, name], "")) : start;
}

export function withServer({ text, place }: ServerText, name: string, server: object): string {
  return setValue(text, [...place, name], server);
}

/** `path` leads to one value within the server. */
export function withServerValue(
  { text, place }: ServerText,
  name: string,
  path: KeyPath,
  value: unknown,
): string {
  return setValue(text, [...place, name, ...path], value);
}

export function withoutServer({ text, place }: ServerText, name: string): string {
  return removeValue(text, [...place, name]);
}

/** What the server says about its tools is believed. */
export function withTrusted({ text, place }: ServerText, name: string): string {
  return setValue(text, [...place, name, "trusted"], true);
}

/** Says so only where it would not hold anyway. */
export function withEnabled(servers: ServerText, name: string, isEnabled: boolean): string {
  const { text, place, inherited } = servers;
  const path = [...place, name];
  const inheritedServer = inherited[name];
  const isEnabledBelow = !isJsonObject(inheritedServer) || inheritedServer["enabled"] !== false;
  // Other applications say it the other way round.
  const plain = removeValue(text, [...path, "disabled"]);
  if (isEnabled !== isEnabledBelow) return setValue(plain, [...path, "enabled"], isEnabled);
  const rest = removeValue(plain, [...path, "enabled"]);
  const left = valueAt(rest, path);
  const isNothing = isJsonObject(left) && Object.keys(left).length === 0;
  return isNothing && inheritedServer !== undefined ? removeValue(rest, path) : rest;
}
