// Replaces references in configured values by what they refer to. This happens late: each time a server starts or a model is opened,
// so that a changed variable counts without loading the configuration again.

import { homedir as systemHome } from "node:os";
import { resolve } from "node:path";
import type { OAuthSettings } from "../model/authorization.ts";
import { type ErrorDetails, PlugboardError } from "../model/errors.ts";
import type { RootsSetting } from "../model/roots.ts";
import type { ServerTarget, ServerDefinition } from "../model/server-definition.ts";
import type { Environment } from "../util/environment.ts";
import { expandHome } from "./home.ts";
import { formatPath, type KeyPath } from "./issue.ts";
import { mentionsSecret, parseTemplate } from "./schema/references.ts";
import { headerValueProblem, urlProblem } from "./schema/values.ts";

type Expand = (value: string, path: KeyPath) => string;

/**
 * Throws UNRESOLVED_VALUE for a variable that is not set and for a `secret://` reference, wherever it
 * came from, and CONFIG_INVALID for what expansion made unusable. Both are permanent.
 */
export function resolveTarget(
  { target, name }: ServerDefinition,
  env: Environment = process.env,
  homedir: string = env["HOME"] || systemHome(),
): ServerTarget {
  const { baseDir } = target;
  const expand: Expand = (value, path) => expandValue(value, formatPath(path), env, name);
  const toPath = (path: string): string => {
    const expanded = expandHome(path, homedir);
    return baseDir === undefined ? expanded : resolve(baseDir, expanded);
  };
  if (target.kind === "stdio") {
    const { command, args, cwd } = target;
    // As in a shell: only a `~` that is written, at the beginning of a word, and none that a variable holds.
    const expandWord: Expand = (word, path) =>
      word.startsWith("~") ? expandHome(expand(word, path), homedir) : expand(word, path);
    return {
      kind: "stdio",
      command: expandWord(command, ["command"]),
      args: args.map((arg, index) => expandWord(arg, ["args", index])),
      env: expandMap(target.env, "env", expand),
      // Absent rather than undefined: it is spread over the directory that the host chose.
      ...(cwd !== undefined && { cwd: toPath(expand(cwd, ["cwd"])) }),
    };
  }
  const url = expand(target.url, ["url"]);
  refuse(urlProblem(url), name, ["url"]);
  const headers = expandMap(target.headers, "headers", expand);
  for (const [header, value] of Object.entries(headers)) {
    refuse(headerValueProblem(value), name, ["headers", header]);
  }
  const { kind, allowInsecure, allowPrivate, tls, oauth } = target;
  const file = (path: string | undefined, key: string): string | undefined =>
    path && toPath(expand(path, ["tls", key]));
  return {
    kind,
    url,
    headers,
    allowInsecure,
    allowPrivate,
    oauth: oauth && resolveOAuth(oauth, expand, toPath),
    tls: tls && { ca: file(tls.ca, "ca"), cert: file(tls.cert, "cert"), key: file(tls.key, "key") },
  };
}

/** The directories of a list of roots; `file:` URLs stay. Throws as `resolveTarget` does. */
export function resolveDirectories(
  { directories, baseDir }: Exclude<RootsSetting, boolean>,
  path: KeyPath,
  env: Environment,
  server: string,
  homedir: string = env["HOME"] || systemHome(),
): string[] {
  return directories.map((directory, index) => {
    const expanded = expandValue(directory, formatPath([...path, index]), env, server);
    if (expanded.startsWith("file:")) return expanded;
    const local = expandHome(expanded, homedir);
    return baseDir === undefined ? local : resolve(baseDir, local);
  });
}

function resolveOAuth(
  oauth: OAuthSettings,
  expand: Expand,
  toPath: (path: string) => string,
): OAuthSettings {
  const given = Object.entries(oauth).filter(([, value]) => value !== undefined);
  const expanded = Object.fromEntries(
    given.map(([key, value]) => [key, expand(String(value), ["oauth", key])]),
  ) as OAuthSettings;
  const { privateKey } = expanded;
  if (privateKey === undefined || privateKey.includes("-----BEGIN")) return expanded;
  return { ...expanded, privateKey: toPath(privateKey) };
}

function expandMap(
  map: Record<string, string>,
  key: string,
  expand: Expand,
): Record<string, string> {
  const expanded: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(map)) expanded[name] = expand(value, [key, name]);
  return expanded;
}

/**
 * A value with its `${VAR}` filled in. `key` names it in messages. Throws UNRESOLVED_VALUE for a variable that
 * is not set and for a `secret://` reference, and CONFIG_INVALID for a malformed value.
 */
export function expandValue(value: string, key: string, env: Environment, server?: string): string {
  const details: ErrorDetails = { server, permanent: true };
  const template = parseTemplate(value);
  // A value that was set in code has not been through the schema.
  if (template.kind === "malformed") {
    throw new PlugboardError("CONFIG_INVALID", `${key} ${template.reason}`, details);
  }
  const expanded = template.parts
    .map((part) => {
      if (part.kind === "text") return part.text;
      const { name, fallback } = part;
      const found = Object.hasOwn(env, name) ? env[name] : undefined;
      // As in a shell, `:-` also stands in for an empty value.
      const result = fallback === undefined ? found : found || fallback;
      if (result !== undefined) return result;
      const message = `${key} needs the variable ${name}, which is not set`;
      const hint = `export ${name}, or give a default with \${${name}:-…}`;
      throw new PlugboardError("UNRESOLVED_VALUE", message, { ...details, hint });
    })
    .join("");
  if (!mentionsSecret(expanded)) return expanded;
  const message = `${key} is a secret reference, which cannot be resolved`;
  const hint = "secret references are not supported in this version; use ${VAR}";
  throw new PlugboardError("UNRESOLVED_VALUE", message, { ...details, hint });
}

/** `problem` never quotes the value: after expansion it may hold a secret. */
function refuse(problem: string | undefined, server: string, path: KeyPath): void {
  if (problem === undefined) return;
  const message = `${formatPath(path)} ${problem}`;
  throw new PlugboardError("CONFIG_INVALID", message, { server, permanent: true });
}
