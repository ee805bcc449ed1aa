// Sends a request with the server's credentials, and again with new ones if the server refuses them. That is safe:
// a request that was refused for its credentials has not run.

import type { Authorizer } from "../../types/authorization.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { GuardedResponse } from "../../net/fetch.ts";
import type { ConfiguredHeaders } from "./configured-headers.ts";
import { isChallenge } from "./http-refusal.ts";

/** Enough for a first token, a renewed one and one with more scopes. */
const ATTEMPTS = 4;

/** Waits for something without counting it as waiting for the server. */
export type Hold = <Result>(wait: Promise<Result>) => Promise<Result>;

export interface ServerCredentials {
  headers: ConfiguredHeaders;
  /** Absent where the configured headers authenticate us. */
  authorizer?: Authorizer | undefined;
}

/** `send` gets the headers that authenticate the request. */
export async function sendAuthorized(
  { headers, authorizer }: ServerCredentials,
  send: (credentials: Record<string, string>) => Promise<GuardedResponse>,
  hold: Hold = (wait) => wait,
): Promise<GuardedResponse> {
  let hasOtherHeaders = false;
  for (let attempt = 1; ; attempt += 1) {
    const configured = headers.current;
    const token = authorizer && (await hold(authorizer.token()));
    const response = await send({
      ...configured,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    });
    const { status, headers: answered } = response;
    if (!isChallenge(status, answered)) return response;
    if (status === 401 && headers.areSecret && !hasOtherHeaders) {
      hasOtherHeaders = await renewHeaders(headers, configured, response, hold);
      if (hasOtherHeaders) {
        attempt -= 1;
        continue;
      }
    }
    if (authorizer === undefined) return response;
    response.cancel();
    if (attempt >= ATTEMPTS) {
      const message = `the server refuses every token it is given (HTTP ${status})`;
      throw new PlugboardError("NEEDS_AUTH", message, { status, permanent: true });
    }
    await hold(authorizer.renew({ status, header: answered["www-authenticate"] }, token));
  }
}

/** Ends the refused response unless it is the answer. */
async function renewHeaders(
  headers: ConfiguredHeaders,
  refused: ConfiguredHeaders["current"],
  response: GuardedResponse,
  hold: Hold,
): Promise<boolean> {
  try {
    const isRenewed = await hold(headers.renew(refused));
    if (isRenewed) response.cancel();
    return isRenewed;
  } catch (error) {
    response.cancel();
    throw error;
  }
}
