// A definition's endpoint with its references resolved: what is done each time a server starts.

import { homedir as systemHome } from "node:os";
import { resolve } from "node:path";
import type { OAuthSettings } from "../model/authorization.ts";
import { PlugboardError } from "../model/errors.ts";
import type { Endpoint, ServerDefinition } from "../model/server-definition.ts";
import type { Environment } from "./environment.ts";
import { headerValueProblem } from "./header.ts";
import { expandHome } from "./home.ts";
import { formatPath } from "./issue.ts";
import type { KeyPath } from "./issue.ts";
import { mentionsSecret } from "./secret-reference.ts";
import { parseTemplate } from "./template.ts";
import { urlProblem } from "./url.ts";

/**
 * Throws UNRESOLVED_VALUE for a variable that is not set and for a `secret://` reference, wherever it
 * came from, and CONFIG_INVALID for what expansion made unusable. Both are permanent.
 */
export function resolveEndpoint(
  definition: ServerDefinition,
  env: Environment = process.env,
  homedir: string = env["HOME"] || systemHome(),
): Endpoint {
  const { endpoint, name } = definition;
  const expand = (value: string, path: KeyPath) => expandValue(value, path, name, env);
  if (endpoint.kind === "stdio") {
    const { command, args, cwd, baseDir } = endpoint;
    return {
      kind: "stdio",
      command: expand(command, ["command"]),
      args: args.map((arg, index) => expand(arg, ["args", index])),
      env: expandMap(endpoint.env, "env", expand),
      ...(cwd !== undefined && {
        cwd: toDirectory(expand(cwd, ["cwd"]), homedir, baseDir),
      }),
    };
  }
  const url = expand(endpoint.url, ["url"]);
  const wrongUrl = urlProblem(url);
  if (wrongUrl !== undefined) throw invalid(name, ["url"], wrongUrl);
  const headers = expandMap(endpoint.headers, "headers", expand);
  for (const [header, value] of Object.entries(headers)) {
    const wrongValue = headerValueProblem(value);
    if (wrongValue !== undefined) throw invalid(name, ["headers", header], wrongValue);
  }
  const { kind, allowInsecure, allowPrivate, tls, baseDir, oauth } = endpoint;
  const toPath = (path: string): string => toDirectory(path, homedir, baseDir);
  const file = (path: string | undefined, key: string): string | undefined =>
    path && toPath(expand(path, ["tls", key]));
  return {
    kind,
    url,
    headers,
    allowInsecure,
    allowPrivate,
    ...(oauth !== undefined && { oauth: oauth && resolveOAuth(oauth, expand, toPath) }),
    ...(tls !== undefined && {
      tls: { ca: file(tls.ca, "ca"), cert: file(tls.cert, "cert"), key: file(tls.key, "key") },
    }),
  };
}

function resolveOAuth(
  oauth: OAuthSettings,
  expand: (value: string, path: KeyPath) => string,
  toPath: (path: string) => string,
): OAuthSettings {
  const expanded = Object.fromEntries(
    Object.entries(oauth).map(([key, value]) => [key, expand(String(value), ["oauth", key])]),
  ) as OAuthSettings;
  const { privateKey } = expanded;
  if (privateKey === undefined || privateKey.includes("-----BEGIN")) return expanded;
  return { ...expanded, privateKey: toPath(privateKey) };
}

function expandMap(
  map: Record<string, string>,
  key: string,
  expand: (value: string, path: KeyPath) => string,
): Record<string, string> {
  const expanded: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(map)) expanded[name] = expand(value, [key, name]);
  return expanded;
}

function expandValue(value: string, path: KeyPath, server: string, env: Environment): string {
  const template = parseTemplate(value);
  // Definitions made by hand have not been through the schema.
  if (template.kind === "malformed") throw invalid(server, path, template.reason);
  const expanded = template.parts
    .map((part) => {
      if (part.kind === "text") return part.text;
      const found = Object.hasOwn(env, part.name) ? env[part.name] : undefined;
      // As in a shell, `:-` also stands in for an empty value.
      const result = part.fallback === undefined ? found : found || part.fallback;
      if (result === undefined) throw unsetVariable(server, path, part.name);
      return result;
    })
    .join("");
  if (mentionsSecret(expanded)) throw unsupportedSecret(server, path);
  return expanded;
}

/** Relative to where the configuration is. */
function toDirectory(path: string, homedir: string, baseDir: string | undefined): string {
  const expanded = expandHome(path, homedir);
  return baseDir === undefined ? expanded : resolve(baseDir, expanded);
}

function unsetVariable(server: string, path: KeyPath, variable: string): PlugboardError {
  return new PlugboardError(
    "UNRESOLVED_VALUE",
    `${server}: ${formatPath(path)} needs the variable ${variable}, which is not set`,
    {
      server,
      permanent: true,
      hint: `export ${variable}, or give a default with \${${variable}:-…}`,
    },
  );
}

function unsupportedSecret(server: string, path: KeyPath): PlugboardError {
  return new PlugboardError(
    "UNRESOLVED_VALUE",
    `${server}: ${formatPath(path)} is a secret reference, which cannot be resolved`,
    {
      server,
      permanent: true,
      hint: "secret references are not supported in this version; use ${VAR}",
    },
  );
}

/** `problem` never quotes the value: after expansion it may hold a secret. */
function invalid(server: string, path: KeyPath, problem: string): PlugboardError {
  const message = `${server}: ${formatPath(path)} ${problem}`;
  return new PlugboardError("CONFIG_INVALID", message, { server, permanent: true });
}
