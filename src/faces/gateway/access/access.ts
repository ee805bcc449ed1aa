// Decides about every request to the gateway: where it comes from, who makes it, for which agent, and how often.

import type { IncomingMessage } from "node:http";
import type { GatewaySettings } from "../../../model/gateway-settings.ts";
import type { GatewayToken, TokenStore } from "../../../state/gateway-tokens.ts";
import type { Clock } from "../../../util/clock.ts";
import { type Admission, type Refusal, refusal } from "./admission.ts";
import { ProtectedResource } from "./protected-resource.ts";
import { RequestRate } from "./request-rate.ts";
import { RequestSource } from "./request-source.ts";

export type { Admission, Refusal } from "./admission.ts";

export interface AccessOptions {
  settings: GatewaySettings;
  tokens: TokenStore;
  clock: Clock;
}

type Credentials = { kind: "none" } | { kind: "unusable" } | { kind: "bearer"; text: string };

/** Wrong tokens a minute from one address. It bounds what a guesser costs; no guess can succeed. */
const MOST_FAILURES = 30;

const LONGEST_TOKEN = 16 * 1024;
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

const NO_TOKEN =
  "this gateway needs a token; send it as Authorization: Bearer <token>, and make one with: plugboard tokens add <name>";
const WRONG_TOKEN = "this token is not valid: it is wrong, has expired or was revoked";

export class Access {
  readonly #settings: GatewaySettings;
  readonly #tokens: TokenStore;
  readonly #source: RequestSource;
  readonly #resource: ProtectedResource;
  readonly #rate: RequestRate;
  readonly #failures: RequestRate;
  /** Made once for each token as it was read. */
  readonly #admissions = new WeakMap<GatewayToken, Admission & { isAdmitted: true }>();

  constructor({ settings, tokens, clock }: AccessOptions) {
    this.#settings = settings;
    this.#tokens = tokens;
    this.#source = new RequestSource(settings);
    this.#resource = new ProtectedResource(settings);
    this.#rate = new RequestRate(clock);
    this.#failures = new RequestRate(clock);
  }

  /** For routes that need no token. `admit` checks the same. */
  check(request: IncomingMessage): Refusal | undefined {
    return this.#source.check(request);
  }

  /** Headers for the answer to a configured web page, also to its preflight (OPTIONS). */
  cors(request: IncomingMessage): Record<string, string> | undefined {
    return this.#source.cors(request);
  }

  /** The RFC 9728 document at a path, if there is one. It is public. */
  metadata(path: string, agentIds: readonly string[]): object | undefined {
    return this.#resource.document(path, agentIds);
  }

  /** Without an agent: for the gateway as a whole, which takes a token for every agent. */
  admit(request: IncomingMessage, agentId?: string): Admission | Promise<Admission> {
    const misplaced = this.#source.check(request);
    if (misplaced !== undefined) return misplaced;
    const credentials = credentialsIn(request);
    if (credentials.kind === "none") return this.#refuse(401, NO_TOKEN, { agentId });
    if (credentials.kind === "bearer") {
      const token = this.#tokens.find(credentials.text);
      if (token !== undefined) return this.#admitToken(token, agentId);
    }
    return this.#fail(request, agentId);
  }

  async close(): Promise<void> {}

  #admitToken(token: GatewayToken, agentId: string | undefined): Admission {
    let admission = this.#admissions.get(token);
    if (admission === undefined) {
      const { id, name, agents, policy } = token;
      const caller = { id: `token:${id}`, label: name };
      admission = { isAdmitted: true, caller, agents, ...(policy && { policy }) };
      this.#admissions.set(token, admission);
    }
    return this.#restrict(admission, agentId);
  }

  /** To the agents of the caller, and to its rate. */
  #restrict(admission: Admission & { isAdmitted: true }, agentId: string | undefined): Admission {
    const { caller, agents, policy } = admission;
    if (agents !== undefined && (agentId === undefined || !agents.includes(agentId))) {
      const what = agentId === undefined ? "the gateway as a whole" : "this agent";
      return this.#refuse(403, `this token is not for ${what}`, {
        agentId,
        error: "insufficient_scope",
      });
    }
    const perMinute = policy?.rateLimit ?? this.#settings.limits.requestsPerMinute;
    const wait = perMinute === false ? 0 : this.#rate.take(caller.id, perMinute);
    return wait === 0 ? admission : tooMany(wait, "too many requests");
  }

  #refuse(
    status: 401 | 403,
    message: string,
    challenge: Parameters<ProtectedResource["challenge"]>[0],
  ): Refusal {
    return refusal(status, message, { "WWW-Authenticate": this.#resource.challenge(challenge) });
  }

  #fail(request: IncomingMessage, agentId: string | undefined): Refusal {
    const wait = this.#failures.take(this.#addressOf(request), MOST_FAILURES);
    if (wait > 0) return tooMany(wait, "too many requests with a token that is not valid");
    return this.#refuse(401, WRONG_TOKEN, { agentId, error: "invalid_token" });
  }

  /** A proxy adds the address of its own client at the end. */
  #addressOf({ socket, headers }: IncomingMessage): string {
    const forwarded = this.#settings.behindProxy ? headers["x-forwarded-for"] : undefined;
    const last = String(forwarded ?? "")
      .slice(-100)
      .split(",")
      .at(-1)
      ?.trim();
    return last || (socket.remoteAddress ?? "");
  }
}

function credentialsIn({ headers: { authorization } }: IncomingMessage): Credentials {
  if (authorization === undefined || authorization === "") return { kind: "none" };
  if (authorization.length > LONGEST_TOKEN) return { kind: "unusable" };
  const [, text] = BEARER.exec(authorization) ?? [];
  return text === undefined ? { kind: "unusable" } : { kind: "bearer", text };
}

function tooMany(wait: number, message: string): Refusal {
  const seconds = Math.max(1, Math.ceil(wait / 1000));
  return refusal(429, `${message}; try again in ${seconds} s`, { "Retry-After": String(seconds) });
}
