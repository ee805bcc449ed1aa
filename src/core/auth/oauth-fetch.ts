// The guarded fetch to an authorization server, with the signature that the SDK's functions expect. Every URL comes
// from the MCP server that requires the sign-in, so it is checked as if that server had redirected to it.

import type { FetchLike } from "@modelcontextprotocol/client";
import { PlugboardError } from "../types/errors.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import type { AddressRules } from "../net/policy.ts";

const DEADLINE_MS = 30_000;
const MAX_BODY_BYTES = 1024 * 1024;

/** Rejects with a PlugboardError. */
export function oauthFetch(
  fetch: GuardedFetch,
  rules: AddressRules,
  server: URL,
  signal?: AbortSignal,
): FetchLike {
  return async (url, init = {}) => {
    const target = new URL(url);
    rules.checkUrl(target, server);
    const { body } = init;
    const method = init.method ?? "GET";
    if (method !== "GET" && method !== "POST") {
      throw new PlugboardError("PROTOCOL", `${method} is never sent to an authorization server`);
    }
    const response = await fetch(target.href, {
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: body ? bodyText(body) : undefined,
      signal,
      deadline: DEADLINE_MS,
      maxBodyBytes: MAX_BODY_BYTES,
    });
    const { status, headers } = response;
    const text = await response.text();
    const isBodiless = status === 204 || status === 205 || status === 304;
    return new Response(isBodiless ? null : text, { status, headers });
  };
}

function bodyText(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("the body must be a form or text");
}
