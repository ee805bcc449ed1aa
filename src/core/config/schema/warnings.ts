// Warns about what is valid and most likely not meant: keys that do not go with the server's transport, milliseconds that
// look like seconds, npx without `-y`, secrets in arguments, and credentials that are written out.

import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import { plaintextCredentials } from "../../redaction/with-references.ts";
import type { Environment } from "../../../util/environment.ts";
import { shellQuoted } from "../../../util/text.ts";
import { codeVariableReason } from "../code-variables.ts";
import { atKey, type Issue, type KeyPath } from "../issue.ts";
import type { AgentLayer } from "./agents.ts";
import { referencesIn } from "./references.ts";
import {
  type CheckedServer,
  FLEET_KEYS,
  REMOTE_KEYS,
  type ServerKind,
  STDIO_KEYS,
} from "./servers.ts";

const NO_SESSION_EFFECT = "has no effect on the servers of a session";

const ARGUMENT_SECRET =
  'puts a secret where every user of this machine can read it, in the list of processes; put it in "env" if the server can take it from there';

/** Keys that a server of each kind ignores. */
const UNUSED_KEYS: Record<ServerKind, readonly string[]> = {
  stdio: REMOTE_KEYS,
  remote: [...STDIO_KEYS, "workingDir", ...FLEET_KEYS],
};

/** Nobody means so few milliseconds; 0 has a meaning of its own. */
const LOOKS_LIKE_SECONDS = 100;

const SERVER_DURATIONS = ["timeout", "toolTimeout", "idleTimeout", "resourceRefreshMs"];

/** `kind` is that of the merged server: an override need not say it. */
export function serverWarnings(
  { config, path }: CheckedServer,
  kind: ServerKind | undefined,
): Issue[] {
  const unused = kind === undefined ? [] : UNUSED_KEYS[kind];
  const used: JsonObject = { ...config };
  const issues: Issue[] = [];
  for (const key of unused) {
    if (used[key] === undefined) continue;
    issues.push(atKey([...path, key], `has no effect on a ${kind} server`));
    delete used[key];
  }
  return [
    ...issues,
    ...npxWarnings(used, path),
    ...argumentWarnings(used, path),
    ...keepAliveWarnings(used, path),
    ...durationWarnings(used, SERVER_DURATIONS, path),
  ];
}

/** One for each variable that runs code which the command does not show. Your own file may set it, and you are told. */
export function codeVariableNotes(servers: readonly CheckedServer[]): Issue[] {
  return servers.flatMap(({ config, path }) =>
    codeVariablesIn(config).map(({ name, reason }) => ({
      ...atKey([...path, "env", name], `${reason}: code runs that the command does not show`),
      remedy: "you need to do nothing if you wrote it; else take it out",
    })),
  );
}

/** Problems, not warnings, for a server that somebody else describes, who may not set such a variable. */
export function codeVariableIssues(config: unknown, path: KeyPath): Issue[] {
  return codeVariablesIn(config).map(({ name, reason }) =>
    atKey(
      [...path, "env", name],
      `is refused: it ${reason}; expected it in your own file, or in a script`,
    ),
  );
}

function codeVariablesIn(config: unknown): { name: string; reason: string }[] {
  const env = isJsonObject(config) ? config["env"] : undefined;
  return Object.entries(objectIn(env)).flatMap(([name, value]) => {
    const reason = codeVariableReason(name, value);
    return reason === undefined ? [] : [{ name, reason }];
  });
}

/**
 * One for each server, at its first credential that is written out. In code, a value that is in the environment too was
 * most likely read from there, and there is no file that a command could change.
 */
export function plaintextWarnings(
  servers: readonly CheckedServer[],
  inCode?: { env: Environment },
): Issue[] {
  const warned = new Map<string, Issue>();
  const known = inCode && new Set(Object.values(inCode.env));
  for (const { name, path, config } of servers) {
    const [first] = warned.has(name) ? [] : plaintextCredentials(config, known);
    if (first === undefined) continue;
    const message = `MCP server '${name}' has plaintext credentials in config — consider using secret:// references`;
    const issue: Issue = { ...atKey([...path, ...first.path], message), isCredential: true };
    const remedy = inCode === undefined ? { remedy: movingRemedy(name, first.path) } : {};
    warned.set(name, { ...issue, ...remedy });
  }
  return [...warned.values()];
}

/** Only variables and headers can be moved by the command. */
function movingRemedy(server: string, [block, key]: KeyPath): string {
  if ((block !== "env" && block !== "headers") || typeof key !== "string") {
    return "put it into a variable or a secret, and refer to that; docs/secrets.md says how";
  }
  const words = [server, `${block}.${key}`].map(shellQuoted).join(" ");
  return `to put it where only you can read it: plugboard secrets move ${words}`;
}

/** What a process is started with can be read by every user of the machine. */
function argumentWarnings({ args }: JsonObject, path: KeyPath): Issue[] {
  if (!Array.isArray(args)) return [];
  return args.flatMap((arg, index) =>
    typeof arg === "string" && referencesIn(arg).length > 0
      ? [atKey([...path, "args", index], ARGUMENT_SECRET)]
      : [],
  );
}

const NPX_ANSWERS = /^(-y|--(no-)?yes(=.*)?|--no|--no-install)$/;

/** Options whose value is the next argument. */
const NPX_VALUES = /^(-p|--package|-c|--call|-w|--workspace)$/;

/** Some versions of npx ask before they install a package, and nobody can answer. */
function npxWarnings({ command, args }: JsonObject, path: KeyPath): Issue[] {
  if (typeof command !== "string" || !/(^|[\\/])npx(\.cmd)?$/.test(command)) return [];
  if (!Array.isArray(args) || args.length === 0) return [];
  const words = args.map(String);
  const isOption = (word: string, at: number): boolean =>
    word.startsWith("-") || NPX_VALUES.test(words[at - 1] ?? "");
  // What comes after the package is for the server.
  const end = words.findIndex((word, at) => !isOption(word, at));
  const options = end === -1 ? words : words.slice(0, end);
  if (options.some((option) => NPX_ANSWERS.test(option))) return [];
  const message = 'lets npx ask before it installs, which nobody can answer; put "-y" first';
  return [atKey([...path, "args"], message)];
}

/** A server of its own for each session ends with the session. */
function keepAliveWarnings({ keepAlive, scope }: JsonObject, path: KeyPath): Issue[] {
  return keepAlive === true && scope === "session"
    ? [atKey([...path, "keepAlive"], 'has no effect with scope "session"')]
    : [];
}

/** For the defaults or an entry of `agents.list`. */
export function agentWarnings({ settings, path }: AgentLayer): Issue[] {
  const { mcp = {} } = settings;
  return [
    ...durationWarnings(settings, ["modelNotice", "modelTimeout"], path),
    ...durationWarnings(mcp, ["startupWait"], [...path, "mcp"]),
    ...sessionWarnings(mcp.session, [...path, "mcp", "session"]),
  ];
}

/** For `mcp.session`, the defaults of servers that a session brings. */
export function sessionWarnings(defaults: JsonObject | undefined, path: KeyPath): Issue[] {
  if (defaults === undefined) return [];
  return [
    ...keyWarnings(defaults, ["scope", "pins", "keepAlive"], NO_SESSION_EFFECT, path),
    ...durationWarnings(defaults, SERVER_DURATIONS, path),
  ];
}

export function rootWarnings(root: JsonObject): Issue[] {
  const gateway = objectIn(root["gateway"]);
  return [
    ...durationWarnings(gateway, ["sessionTimeout", "idleTimeout", "approvalWait"], ["gateway"]),
  ];
}

/** An id names an entry of the list; the defaults belong to all of them. */
export function defaultsWarnings({ settings, path }: AgentLayer): Issue[] {
  return settings.id === undefined ? [] : [atKey([...path, "id"], "has no effect in the defaults")];
}

function keyWarnings(
  object: JsonObject,
  keys: readonly string[],
  message: string,
  path: KeyPath,
): Issue[] {
  const used = keys.filter((key) => asksForSomething(object[key]));
  return used.map((key) => atKey([...path, key], message));
}

function asksForSomething(value: unknown): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return true;
}

export function durationWarnings(
  object: JsonObject,
  keys: readonly string[],
  path: KeyPath,
): Issue[] {
  return keys.flatMap((key) => {
    const value = object[key];
    if (typeof value !== "number" || value <= 0 || value >= LOOKS_LIKE_SECONDS) return [];
    const message = `is ${value} milliseconds; did you mean ${value}000?`;
    return [atKey([...path, key], message)];
  });
}
