// A session server with the same name and URL as a configured one uses that server's stored login, and the
// configured server's rules apply to it: bringing a server again must not be a way around its rules.

import type { Environment } from "../../util/environment.ts";
import { asWritten, resolveTarget } from "../config/resolve.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import { isRemote, type RemoteTarget, type ServerDefinition } from "../types/server-definition.ts";
import { signInHint } from "../types/authorization.ts";
import { strictestGuard, strictestInclude } from "../guard/strictest.ts";

/**
 * Rules match servers by name, so the name must match too: otherwise a session could use the login under a name
 * that no rule knows. The agent must have the session's options applied. `perMinute` is the session's rate limit. Returns
 * `definition` unchanged if no server matches.
 */
export function withMatchingServer(
  definition: ServerDefinition,
  { servers, guard: general }: AgentConfig,
  env: Environment,
  perMinute?: number | false,
): ServerDefinition {
  const match = servers.find(({ name }) => name === definition.name);
  if (match === undefined || !isMatch(definition, match, env)) return definition;
  const { toolPrefix } = match;
  const include = strictestInclude(match, definition.include, match.include);
  const guard = strictestGuard(match, definition.guard, match.guard, general?.approval, perMinute);
  return {
    ...definition,
    matchingServer: match,
    guard: guard ?? definition.guard,
    include: include ?? definition.include,
    toolPrefix: toolPrefix ?? definition.toolPrefix,
    resources: stricterResources(definition.resources, match.resources),
  };
}

/** The configured server's settings, unless the session's own show less. */
function stricterResources(
  own: ServerDefinition["resources"],
  configured: ServerDefinition["resources"],
): ServerDefinition["resources"] {
  if (configured === undefined || own?.enabled === false) return own;
  return own?.listOnly === true ? { ...configured, listOnly: true } : configured;
}

/** What you can do if a session's server refuses its credentials, or asks for some. */
export function sessionAuthHint({ name, target, matchingServer }: ServerDefinition): string {
  const fresh = "give it fresh headers where you configure the session's servers";
  if (matchingServer !== undefined) return `${fresh}, or ${signInHint(matchingServer.name)}`;
  if (!isRemote(target) || Object.keys(target.headers).length > 0) return fresh;
  return `${fresh}, or configure a server with its name and URL for the agent and ${signInHint(name)}`;
}

export function isSameAddress(one: string, other: string): boolean {
  return new URL(one).href === new URL(other).href;
}

export function hasOwnCredentials({ headers }: RemoteTarget): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

function isMatch(definition: ServerDefinition, match: ServerDefinition, env: Environment): boolean {
  const mine = definition.target;
  const theirs = match.target;
  if (!isRemote(mine) || !isRemote(theirs) || !match.enabled) return false;
  return isPlain(mine) && hasUserLogin(theirs) && isSameServer(definition, match, env);
}

/** Headers, certificates and the like can carry credentials or change the target, so none may be set. */
function isPlain({ headers, oauth, tls, allowInsecure, allowPrivate }: RemoteTarget): boolean {
  const hasSettings = oauth !== undefined || tls !== undefined || allowInsecure || allowPrivate;
  return !hasSettings && Object.keys(headers).length === 0;
}

/** Sessions may use a person's login. Credentials of the agent itself are only for the configured server. */
function hasUserLogin(target: RemoteTarget): boolean {
  const { oauth, tls } = target;
  if (oauth === false || oauth?.grant === "client_credentials") return false;
  return tls === undefined && !hasOwnCredentials(target);
}

function isSameServer(one: ServerDefinition, other: ServerDefinition, env: Environment): boolean {
  try {
    return isSameAddress(addressOf(one, env), addressOf(other, env));
  } catch {
    // A value is missing. The server's start reports it.
    return false;
  }
}

function addressOf(definition: ServerDefinition, env: Environment): string {
  const target = resolveTarget(definition, env, undefined, asWritten);
  return isRemote(target) ? target.url : "";
}
