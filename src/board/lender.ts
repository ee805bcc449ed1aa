// A session's server that a configured one is as well, by name and address: it uses the login that is stored
// for that one, and what the configuration holds that one to holds for it too.

import type { Environment } from "../util/environment.ts";
import { resolveEndpoint } from "../config/resolve.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { RemoteEndpoint, ServerDefinition } from "../model/server-definition.ts";
import { signInHint } from "../model/sign-in-hint.ts";
import { strictestGuard, strictestInclude } from "../guard/strictest.ts";

/**
 * By name too, since that is how rules speak of it: a login must not be had under a name that none of
 * them knows. `agent` is the agent as it holds in the session. `definition` as it is where nobody lends to it.
 */
export function withLender(
  definition: ServerDefinition,
  { servers, untrusted, guard: general }: AgentConfig,
  env: Environment,
): ServerDefinition {
  const lender = servers.find(({ name }) => name === definition.name);
  if (lender === undefined || untrusted !== undefined || !isLent(definition, lender, env)) {
    return definition;
  }
  const { toolPrefix, resources } = lender;
  const include = strictestInclude(definition.include, lender.include);
  const guard = strictestGuard(definition.guard, lender.guard, general?.approval);
  return {
    ...definition,
    lender,
    ...(guard !== undefined && { guard }),
    ...(include !== undefined && { include }),
    ...(toolPrefix !== undefined && { toolPrefix }),
    ...(resources !== undefined && definition.resources?.enabled !== false && { resources }),
  };
}

/** What helps where a session's server is told that it must say who is calling. */
export function sessionAuthHint({ name, endpoint, lender }: ServerDefinition): string {
  const fresh = "give it fresh headers where the session's servers are set up";
  if (lender !== undefined) return `${fresh}, or ${signInHint(lender.name)}`;
  if (endpoint.kind === "stdio" || Object.keys(endpoint.headers).length > 0) return fresh;
  return `${fresh}, or configure a server of its name and URL for the agent and ${signInHint(name)}`;
}

export function isSameAddress(one: string, other: string): boolean {
  return new URL(one).href === new URL(other).href;
}

export function hasOwnCredentials({ headers }: RemoteEndpoint): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

function isLent(definition: ServerDefinition, lender: ServerDefinition, env: Environment): boolean {
  const mine = definition.endpoint;
  const theirs = lender.endpoint;
  if (mine.kind === "stdio" || theirs.kind === "stdio" || !lender.enabled) return false;
  return saysNothing(mine) && isSignedInTo(theirs) && leadsThere(definition, lender, env);
}

/** Whatever it brings may be about who is calling, or who is called. */
function saysNothing({
  headers,
  oauth,
  tls,
  allowInsecure,
  allowPrivate,
}: RemoteEndpoint): boolean {
  const isPlain = oauth === undefined && tls === undefined && !allowInsecure && !allowPrivate;
  return isPlain && Object.keys(headers).length === 0;
}

/** By a person: what identifies the agent itself is lent to nobody. */
function isSignedInTo(endpoint: RemoteEndpoint): boolean {
  const { oauth, tls } = endpoint;
  if (oauth === false || oauth?.grant === "client_credentials") return false;
  return tls === undefined && !hasOwnCredentials(endpoint);
}

function leadsThere(one: ServerDefinition, other: ServerDefinition, env: Environment): boolean {
  try {
    return isSameAddress(addressOf(one, env), addressOf(other, env));
  } catch {
    // What is missing is told when the server starts.
    return false;
  }
}

function addressOf(definition: ServerDefinition, env: Environment): string {
  const endpoint = resolveEndpoint(definition, env);
  return endpoint.kind === "stdio" ? "" : endpoint.url;
}
