// Sends a request with the server's token, and again with a new token if the server asks for one. That is safe:
// a request that was refused for its token has not run.

import type { Authorizer } from "../../model/authorization.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { GuardedResponse } from "../../net/fetch.ts";
import { isChallenge } from "./http-refusal.ts";

/** Enough for a first token, a renewed one and one with more scopes. */
const ATTEMPTS = 4;

/** Waits for something without counting it as waiting for the server. */
export type Hold = <Result>(wait: Promise<Result>) => Promise<Result>;

/** `send` gets the headers that authenticate the request. */
export async function sendAuthorized(
  authorizer: Authorizer | undefined,
  send: (credentials: Record<string, string>) => Promise<GuardedResponse>,
  hold: Hold = (wait) => wait,
): Promise<GuardedResponse> {
  if (authorizer === undefined) return send({});
  for (let attempt = 1; ; attempt += 1) {
    const token = await hold(authorizer.token());
    const response = await send(token === undefined ? {} : { authorization: `Bearer ${token}` });
    const { status, headers } = response;
    if (!isChallenge(status, headers)) return response;
    response.cancel();
    if (attempt === ATTEMPTS) {
      const message = `the server refuses every token it is given (HTTP ${status})`;
      throw new PlugboardError("NEEDS_AUTH", message, { status, permanent: true });
    }
    await hold(authorizer.renew({ status, header: headers["www-authenticate"] }, token));
  }
}
