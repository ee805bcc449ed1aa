// Decides whether a response redirects, and whether the request may follow.

import { PlugboardError } from "../model/errors.ts";
import { showUrl } from "./policy.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SAME_METHOD = new Set([307, 308]);

export interface RedirectingResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
}

/**
 * The URL to request next, or undefined if the response is not a redirect. Throws for a redirect that the
 * request must not follow. The address itself is not checked here.
 */
export function redirectTarget(
  method: string,
  from: URL,
  { status, headers }: RedirectingResponse,
): URL | undefined {
  const location = headers["location"];
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  if (!URL.canParse(location, from.href)) {
    throw new PlugboardError(
      "PROTOCOL",
      `${from.host} redirects (${status}) to something that is not a URL`,
    );
  }
  const to = new URL(location, from.href);
  if (method !== "GET" && !(SAME_METHOD.has(status) && to.origin === from.origin)) {
    throw new PlugboardError(
      "REFUSED_ADDRESS",
      `${showUrl(from)} has moved (${status}) to ${showUrl(to)}, and a ${method} request does not follow`,
      { hint: `if you trust the new address, set "url" to it`, permanent: true },
    );
  }
  return to;
}
