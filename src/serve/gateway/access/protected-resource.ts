// How a client finds out where to get a token (RFC 9728): the addresses of the endpoints, the document about each, and
// the challenge that leads to it.

import type { GatewaySettings } from "../../../core/types/gateway-settings.ts";
import { isForAgent, isForCalls } from "./rights.ts";

/** RFC 6749: visible ASCII without quotes and backslashes. */
const SCOPE = /^[!#-[\]-~]+$/;

export const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The paths of an agent's endpoint. The one behind `/mcp` has two; show people the first one. */
export function endpointPaths(agentId: string, defaultAgent: string): [string, ...string[]] {
  const path = `/agents/${encodeURIComponent(agentId)}/mcp`;
  return agentId === defaultAgent ? ["/mcp", path] : [path];
}

type ErrorCode = "invalid_token" | "insufficient_scope";

export interface Challenge {
  /** The agent that was asked for. Absent: the gateway as a whole. */
  agentId?: string;
  /** Absent where no token came. */
  error?: ErrorCode;
}

export interface Audiences {
  ofGateway: readonly string[];
  ofEndpoint: readonly string[];
}

export class ProtectedResource {
  readonly #settings: Pick<GatewaySettings, "publicUrl" | "jwt">;
  readonly #defaultAgent: string;

  constructor(settings: Pick<GatewaySettings, "publicUrl" | "jwt">, defaultAgent: string) {
    this.#settings = settings;
    this.#defaultAgent = defaultAgent;
  }

  /**
   * What may stand in `aud` of an issuer's token: what is configured for it, which is for all endpoints; otherwise the endpoint's
   * URL, or the gateway's for all of them.
   */
  audiences(agentId: string | undefined, issuer: string): Audiences {
    const { publicUrl = "", jwt } = this.#settings;
    const configured = jwt?.issuers.find((each) => each.issuer === issuer)?.audiences;
    if (configured !== undefined) return { ofGateway: configured, ofEndpoint: [] };
    const paths = agentId === undefined ? [] : endpointPaths(agentId, this.#defaultAgent);
    return {
      ofGateway: [publicUrl, `${publicUrl}/`],
      ofEndpoint: paths.map((path) => `${publicUrl}${path}`),
    };
  }

  /** The scopes that lead to an agent. */
  #scopesOf(agentId: string): string[] {
    const rights = this.#settings.jwt?.rights ?? [];
    const scopes = rights.flatMap((right) => {
      const isScope = right.claim.length === 1 && /^(?:scope|scp)$/.test(right.claim[0] ?? "");
      return isScope && isForCalls(right) && isForAgent(right, agentId) ? right.has : [];
    });
    return [...new Set(scopes)].filter((scope) => SCOPE.test(scope));
  }

  /** The value of `WWW-Authenticate`. Only a gateway that takes JWTs sends clients to look for an issuer. */
  challenge({ agentId, error }: Challenge): string {
    const { jwt, publicUrl } = this.#settings;
    const parameters: string[] = [];
    if (error !== undefined) parameters.push(`error="${error}"`);
    if (jwt !== undefined && publicUrl !== undefined && agentId !== undefined) {
      const { origin, pathname } = new URL(
        `${publicUrl}${endpointPaths(agentId, this.#defaultAgent)[0]}`,
      );
      parameters.push(`resource_metadata="${origin}${WELL_KNOWN}${pathname}"`);
      const scopes = this.#scopesOf(agentId);
      if (scopes.length > 0) parameters.push(`scope="${scopes.join(" ")}"`);
    }
    return parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`;
  }

  /**
   * The document at `path`, if there is one: `/.well-known/oauth-protected-resource/mcp` is about `/mcp`. Without
   * an endpoint's path it is about the default agent, for clients that look there first.
   */
  document(path: string, agentIds: readonly string[]): object | undefined {
    const { jwt, publicUrl } = this.#settings;
    if (jwt === undefined || publicUrl === undefined) return undefined;
    if (path !== WELL_KNOWN && !path.startsWith(`${WELL_KNOWN}/`)) return undefined;
    const prefix = new URL(publicUrl).pathname.replace(/\/$/, "");
    const rest = path.slice(WELL_KNOWN.length).replace(/\/$/, "");
    const asked = prefix !== "" && rest.startsWith(prefix) ? rest.slice(prefix.length) : rest;
    const endpoint = asked === "" ? "/mcp" : asked;
    const agentId = agentIds.find((id) => endpointPaths(id, this.#defaultAgent).includes(endpoint));
    if (agentId === undefined) return undefined;
    const scopes = this.#scopesOf(agentId);
    return {
      resource: `${publicUrl}${endpoint}`,
      authorization_servers: jwt.issuers.map(({ issuer }) => issuer),
      bearer_methods_supported: ["header"],
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      resource_name: `Plugboard (${agentId})`,
    };
  }
}
