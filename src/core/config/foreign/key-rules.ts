// What single keys of a server become: the rules that the tables of the applications are made of.

import { dirname, relative, resolve } from "node:path";
import { isJsonObject } from "../../types/json.ts";
import { shellQuoted } from "../../../util/text.ts";
import { atKey, atValue, quote } from "../issue.ts";
import { MISPLACED_KEYS, SERVER_KEYS } from "../schema/server-schema.ts";
import { type KeyRule, type KeyRules, map } from "./draft.ts";

const DAY = 24 * 60 * 60 * 1000;

/** This many seconds would be hours, so the value must be in milliseconds. */
const NO_SECONDS = 10_000;

/** A text, or texts in a list or a map. */
export function text(key: string): KeyRule {
  return (server, value, path) => server.setText(key, value, path);
}

/** A relative one is relative to the project in other applications, and to the file here. */
export const directory: KeyRule = (server, value, path) => {
  const { file, folder } = server.draft.around;
  const isRelative = typeof value === "string" && /^(?![/~$\\]|[A-Za-z]:)./.test(value);
  const fits = isRelative && file !== undefined;
  server.setText(
    "cwd",
    fits ? relative(dirname(file), resolve(folder, value)) || "." : value,
    path,
  );
};

/** A list of tools that restricts the server to them. */
export const allow: KeyRule = (server, value, path) => server.set("tools.allow", value, path);

/** A list of tools to refuse, in addition to the server's earlier `tools.deny`. */
export const deny: KeyRule = (server, value, path) => {
  const earlier = server.draft.get([...server.path, "tools", "deny"]);
  const isMore = Array.isArray(earlier) && Array.isArray(value);
  server.set("tools.deny", isMore ? [...(earlier as unknown[]), ...value] : value, path);
};

/** A copy, since other keys may add to it, and the value is the user's. */
export function same(key: string): KeyRule {
  return (server, value, path) =>
    server.set(key, isJsonObject(value) ? Object.assign(map(), value) : value, path);
}

/** `disabled` for `enabled`. */
export function inverted(key: string): KeyRule {
  return (server, value, path) =>
    server.set(key, typeof value === "boolean" ? !value : value, path);
}

export function milliseconds(...keys: string[]): KeyRule {
  return (server, value, path) => {
    const duration = typeof value === "number" ? Math.min(Math.round(value), DAY) : value;
    for (const key of keys) server.set(key, duration, path);
  };
}

export function seconds(...keys: string[]): KeyRule {
  const inMilliseconds = milliseconds(...keys);
  return (server, value, path) => {
    if (typeof value === "number" && value > 0) inMilliseconds(server, value * 1000, path);
    else server.draft.issues.push(atValue(path, "is not a number of seconds above 0"));
  };
}

/** For keys whose unit people get wrong, because related applications count in milliseconds. */
export function likelySeconds(...keys: string[]): KeyRule {
  const [asSeconds, asMilliseconds] = [seconds(...keys), milliseconds(...keys)];
  return (server, value, path) =>
    (typeof value === "number" && value >= NO_SECONDS ? asMilliseconds : asSeconds)(
      server,
      value,
      path,
    );
}

const TRANSPORTS: Readonly<Record<string, string>> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  sse: "sse",
  "streamable-http": "http",
  streamableHttp: "http",
};

/** All words for our transports. A server with another one is left out, unless the file may be ours: then the schema refuses it. */
export const transport: KeyRule = (server, value, path) => {
  const isUnknown = typeof value !== "string" || !Object.hasOwn(TRANSPORTS, value);
  if (typeof value !== "string" || (isUnknown && server.draft.around.isGuess)) {
    server.set("transport", value, path);
  } else if (Object.hasOwn(TRANSPORTS, value)) server.set("transport", TRANSPORTS[value], path);
  else server.leaveOut(`is ${quote(value)}, a transport that Plugboard does not have`, path);
};

/** The settings of a sign-in that have a meaning here, under our names. */
export function signIn(keys: Readonly<Record<string, string>>): KeyRule {
  return (server, value, path) => {
    if (!isJsonObject(value)) {
      server.set("oauth", value, path);
      return;
    }
    server.set("oauth", isJsonObject(server.get("oauth")) ? server.get("oauth") : map(), path);
    for (const [theirs, ours] of Object.entries(keys)) {
      const given = value[theirs];
      if (given === undefined || given === null) continue;
      const joined = Array.isArray(given) ? given.join(" ") : given;
      server.setText(`oauth.${ours}`, joined, [...path, theirs]);
    }
    const others = Object.keys(value).filter((key) => !Object.hasOwn(keys, key));
    server.draft.ignore(others, path);
  };
}

/** Says in a warning what the user has to do instead. */
export function warn(message: string): KeyRule {
  return (server, _value, path) => void server.draft.warnings.push(atKey(path, message));
}

/** The file of variables that VS Code and its relatives read. Its content is not part of what you have trusted. */
export const envFile: KeyRule = (server, value, path) => {
  const { folder, platform } = server.draft.around;
  const known =
    typeof value === "string" && value.replace(/\$\{workspace(?:Folder|Root)\}/g, folder);
  const file = known && !known.includes("${") ? shellQuoted(resolve(folder, known)) : "<file>";
  const how = platform === "win32" ? "" : `, as with: set -a; . ${file}; set +a`;
  const todo = `for each NAME in it write "NAME": "\${NAME}" into "env", and export them before Plugboard starts`;
  server.draft.warnings.push(atKey(path, `is not read; ${todo}${how}`));
};

/** Every key of our own, and every rule in the wrong place, for files that may be ours under another name. */
export const OUR_KEYS: KeyRules = Object.fromEntries(
  [...SERVER_KEYS, ...MISPLACED_KEYS].map((key) => [key, same(key)]),
);

/**
 * What most files with `mcpServers` have. Our own keys hold as well: the file may be ours under another name, and its rules
 * must not be lost.
 */
export const COMMON_KEYS: KeyRules = {
  ...OUR_KEYS,
  type: transport,
  transport: transport,
  command: text("command"),
  args: text("args"),
  env: text("env"),
  cwd: directory,
  workingDir: directory,
  url: text("url"),
  headers: text("headers"),
  disabled: inverted("enabled"),
  tools: (server, value, path) => {
    // Copilot has a list of the tools that may be used.
    if (Array.isArray(value)) allow(server, value, path);
    else if (!isJsonObject(value)) server.set("tools", value, path);
    else {
      for (const [key, rules] of Object.entries(value)) {
        (key === "deny" ? deny : same(`tools.${key}`))(server, rules, [...path, key]);
      }
    }
  },
};
