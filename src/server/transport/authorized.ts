// Sends a request with the server's token, and again when the server wanted another and there is one. A
// request that was refused for its token has not run.

import type { Authorizer } from "../../model/authorization.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { GuardedResponse } from "../../net/fetch.ts";
import { isChallenge } from "./http-refusal.ts";

/** A first token, one that is renewed, one with more scopes: a server that wants yet another is not served. */
const ATTEMPTS = 4;

/** Waits for something that does not count as waiting for the server. */
export type Hold = <Result>(wait: Promise<Result>) => Promise<Result>;

/** `send` is given the headers that say who is calling. */
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
