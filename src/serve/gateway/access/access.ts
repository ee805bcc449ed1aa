// Decides about every request to the gateway: where it comes from, who makes it, for which agent, and how often.

import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "../../endpoint/http/refusal.ts";
import { RequestSource, type SourceRefusals } from "../../endpoint/http/request-source.ts";
import { bearerToken } from "../../../core/net/bearer.ts";
import { tokenCaller, type TokenPolicy } from "../../../core/types/caller.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { GatewaySettings } from "../../../core/types/gateway-settings.ts";
import type { Delay, GatewayToken, Limits, TokenStore } from "../../../core/types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Environment } from "../../../util/environment.ts";
import { oneLine } from "../../../util/text.ts";
import type { Admission, Admitted } from "./admission.ts";
import { subjectCaller } from "./caller-label.ts";
import { clientAddress } from "./client-address.ts";
import type { JwtClaims } from "./jwt-verifier.ts";
import { Jwts } from "./jwts.ts";
import { ProtectedResource } from "./protected-resource.ts";
import { RequestRate } from "./request-rate.ts";
import { policyIn, rightFor, withheldClaim } from "./rights.ts";

export interface AccessOptions {
  settings: GatewaySettings;
  /** The agent behind `/mcp`: a JWT for that address is for this agent. */
  defaultAgent: string;
  tokens: Pick<TokenStore, "find" | "signedOutUntil">;
  /** Counts the requests of each caller. */
  limits: Limits;
  clock: Clock;
  /** For the keys of issuers: `network.allow`, and the environment with the proxy variables. */
  network: { allow: readonly string[]; env: Environment };
  /** For the log: why the keys of an issuer cannot be fetched. Callers are only told that it cannot be reached. */
  onProblem: (message: string) => void;
}

type Credentials = { kind: "none" } | { kind: "unusable" } | { kind: "bearer"; text: string };

/** Wrong tokens a minute from one address. No guess can succeed; this limits what guessing costs the gateway. */
const MOST_FAILURES = 30;
/** Signatures that are checked at once, by other threads, before guessers have to wait. */
const MOST_VERIFYING = 64;
/** Tokens that wait for keys which are not known, before guessers are told to come back. */
const MOST_WAITING = 64;

/** How long a token is known without being looked up again: a revoked one is refused that much later. */
const KNOWN_MS = 50;
const MOST_KNOWN = 64;

const LONGEST_LABEL = 100;
const LONGEST_LIST = 500;

const NO_TOKEN =
  "this gateway needs a token; send it as Authorization: Bearer <token>, and make one with: plugboard tokens add <name>";
const VERIFY_AGAIN_MS = 1000;
const TOO_MANY_FAILURES = "too many requests with a token that is not valid";
const WRONG_TOKEN = "this token is not valid: it is wrong, has expired or was revoked";

const SIGNED_OUT =
  "this token is not valid any more: its holder was signed out of this gateway; sign in again for a new one";
const NOBODY_KNOWS =
  "this token cannot be checked now: nobody can say whether its holder was signed out";

const MISPLACED: SourceRefusals = {
  host: "this gateway does not answer under that Host; if it should, add the host to gateway.allowedHosts",
  origin:
    "web pages of that Origin may not use this gateway; if they should, add it to gateway.allowedOrigins",
  site: "a web page of another site made this request; if it should, add its origin to gateway.allowedOrigins",
};

export class Access {
  readonly #settings: GatewaySettings;
  readonly #tokens: AccessOptions["tokens"];
  readonly #source: RequestSource;
  readonly #resource: ProtectedResource;
  readonly #limits: Limits;
  readonly #failures: RequestRate;
  /** The bytes of large requests, by the caller. */
  readonly #bytes: RequestRate;
  #verifying = 0;
  #waiting = 0;
  readonly #jwts: Jwts | undefined;
  readonly #clock: Clock;
  /** Tokens that were found a moment ago, by their text. */
  readonly #known = new Map<string, { token: GatewayToken; until: number }>();
  /** Made once for each token as it was read. */
  readonly #admissions = new WeakMap<GatewayToken, Admitted>();

  constructor(options: AccessOptions) {
    const { settings, defaultAgent, tokens, limits, clock, network, onProblem } = options;
    this.#settings = settings;
    this.#tokens = tokens;
    this.#clock = clock;
    this.#source = new RequestSource(settings, MISPLACED);
    this.#resource = new ProtectedResource(settings, defaultAgent);
    this.#limits = limits;
    this.#failures = new RequestRate(clock);
    this.#bytes = new RequestRate(clock);
    const { allow: networkAllow, env } = network;
    const { jwt } = settings;
    this.#jwts = jwt && new Jwts({ ...jwt, networkAllow, env, clock, onProblem });
  }

  /** For routes that need no token. `admit` checks the same. `isDocument`: links of other sites may lead there. */
  check(request: IncomingMessage, isDocument = false): Refusal | undefined {
    return this.#source.check(request, isDocument);
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
    if (credentials.kind === "unusable") return this.#fail(request, agentId);
    const { text } = credentials;
    if (this.#jwts !== undefined && isJwt(text)) {
      return this.#admitJwt(this.#jwts, text, request, agentId);
    }
    const token = this.#findToken(text);
    return token === undefined ? this.#fail(request, agentId) : this.#admitToken(token, agentId);
  }

  async close(): Promise<void> {
    await this.#jwts?.close();
  }

  /**
   * Hashing a token costs more than all other checks, so that one that was found is known for a moment. The time of a
   * look-up by its text reveals nothing: only valid tokens are in the map, and nobody can guess their 256 random bits.
   */
  #findToken(text: string): GatewayToken | undefined {
    const now = this.#clock.monotonic();
    const known = this.#known.get(text);
    if (known !== undefined && now < known.until) {
      const { expiresAt = Infinity } = known.token;
      return expiresAt > this.#clock.now() ? known.token : undefined;
    }
    const token = this.#tokens.find(text);
    if (token === undefined) {
      this.#known.delete(text);
      return undefined;
    }
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(text, { token, until: now + KNOWN_MS });
    return token;
  }

  #admitToken(token: GatewayToken, agentId: string | undefined): Admission | Promise<Admission> {
    let admission = this.#admissions.get(token);
    if (admission === undefined) {
      const { id, name, agents, policy } = token;
      const caller = { id: tokenCaller(id), label: name };
      const countMore = this.#counter(caller.id, policy?.rateLimit);
      const countBytes = this.#byteCounter(caller.id);
      admission = { isAdmitted: true, caller, agents, policy, countMore, countBytes };
      this.#admissions.set(token, admission);
    }
    return this.#restrict(admission, agentId);
  }

  #admitJwt(
    jwts: Jwts,
    text: string,
    request: IncomingMessage,
    agentId: string | undefined,
  ): Admission | Promise<Admission> {
    const known = jwts.known(text);
    if (known !== undefined) return this.#admitClaims(known, text, request, agentId);
    // Only a token that was checked and is wrong counts: somebody else at the same address may guess. But while a crowd
    // is being checked, guessers wait.
    const isCrowded = this.#verifying >= MOST_VERIFYING;
    if (isCrowded && this.#isGuesser(request)) return tooMany(VERIFY_AGAIN_MS, TOO_MANY_FAILURES);
    this.#verifying += 1;
    return this.#verifyJwt(jwts, text, request, agentId).finally(() => {
      this.#verifying -= 1;
    });
  }

  async #verifyJwt(
    jwts: Jwts,
    text: string,
    request: IncomingMessage,
    agentId: string | undefined,
  ): Promise<Admission> {
    const verdict = await jwts.verify(text, (fetched) => this.#waitForKeys(fetched, request));
    switch (verdict.kind) {
      case "valid":
        return this.#admitClaims(verdict.claims, text, request, agentId);
      case "invalid":
        return this.#fail(request, agentId, `this token is not valid: it ${verdict.reason}`);
      case "unavailable":
        return refusal(503, "this token cannot be checked now: its issuer cannot be reached", {
          "Retry-After": "5",
        });
    }
  }

  /** Whoever waits for keys is not being checked, and keeps nobody from it whose key is known. */
  async #waitForKeys(fetched: Promise<void>, request: IncomingMessage): Promise<void> {
    if (this.#waiting >= MOST_WAITING && this.#isGuesser(request)) {
      throw new PlugboardError("RATE_LIMITED", "too many tokens wait for keys");
    }
    this.#verifying -= 1;
    this.#waiting += 1;
    try {
      await fetched;
    } finally {
      this.#waiting -= 1;
      this.#verifying += 1;
    }
  }

  #isGuesser(request: IncomingMessage): boolean {
    const address = clientAddress(request, this.#settings.behindProxy);
    return this.#failures.isEmpty(address, MOST_FAILURES);
  }

  /** The audience is for one endpoint, or for the gateway; then the claims say what their holder may do where. */
  #admitClaims(
    claims: JwtClaims,
    text: string,
    request: IncomingMessage,
    agentId: string | undefined,
  ): Admission | Promise<Admission> {
    const { issuer, subject, audiences, issuedAt, expiresAt, endsAt, rights } = claims;
    const expected = this.#resource.audiences(agentId, issuer);
    const isForGateway = audiences.some((each) => expected.ofGateway.includes(each));
    if (!isForGateway && !audiences.some((each) => expected.ofEndpoint.includes(each))) {
      return this.#fail(request, agentId, "this token is not valid: it is for another audience");
    }
    const caller = subjectCaller(issuer, subject);
    const signedOut = this.#tokens.signedOutUntil(caller.id);
    if (signedOut === Infinity) return refusal(503, NOBODY_KNOWS, { "Retry-After": "5" });
    if (issuedAt <= signedOut) {
      const refused = this.#refuse(401, SIGNED_OUT, { agentId, error: "invalid_token" });
      return { ...refused, caller: caller.label };
    }
    const found = claims.fitting && rightFor(agentId, claims.fitting);
    if (found !== undefined && found.kind !== "found") {
      const why = found.kind === "none" ? noRight(agentId) : withheldClaim(found.claim);
      const refused = this.#refuse(403, why, { agentId, error: "insufficient_scope" });
      return { ...refused, caller: caller.label };
    }
    const agents = isForGateway ? found?.right.agents : [agentId ?? ""];
    const policy = found && policyIn(found.right, agentId);
    const admission: Admitted = {
      isAdmitted: true,
      caller,
      agents,
      ...(policy && { policy }),
      expiresAt,
      signedIn: { as: caller.id, at: issuedAt },
      jwt: { text, expiresAt: endsAt, rights },
      countMore: this.#counter(caller.id),
      countBytes: this.#byteCounter(caller.id),
    };
    return this.#restrict(admission, agentId);
  }

  /** Applies the caller's agents and its rate limit. */
  #restrict(admission: Admitted, agentId: string | undefined): Admission | Promise<Admission> {
    const { caller, agents, countMore } = admission;
    if (agents !== undefined && (agentId === undefined || !agents.includes(agentId))) {
      const refused = this.#refuse(403, notFor(agentId, agents), {
        agentId,
        error: "insufficient_scope",
      });
      return { ...refused, caller: caller.label };
    }
    const answer = (wait: number): Admission =>
      wait === 0 ? admission : { ...tooMany(wait, "too many requests"), caller: caller.label };
    const wait = countMore(1);
    return wait instanceof Promise ? wait.then(answer) : answer(wait);
  }

  /** Counts requests of a caller. `own` is the rate that its token has. */
  #counter(
    caller: string,
    own: TokenPolicy["rateLimit"] = this.#settings.limits.requestsPerMinute,
  ): Admitted["countMore"] {
    if (own === false) return () => 0;
    const one = [{ key: `requests ${caller}`, perMinute: own }];
    const waitIn = (delay: Delay | undefined): number =>
      delay === undefined ? 0 : Math.max(1, ...delay.waits);
    return (requests) => {
      // The same bucket as often as there are requests: all of them are taken, or none.
      const buckets = requests === 1 ? one : Array.from({ length: requests }, () => one).flat();
      const delay = this.#limits.take(buckets, 0);
      return delay instanceof Promise ? delay.then(waitIn) : waitIn(delay);
    };
  }

  #byteCounter(caller: string): NonNullable<Admitted["countBytes"]> {
    const { bytesPerMinute } = this.#settings.limits;
    return (bytes) => this.#bytes.take(caller, bytesPerMinute, bytes);
  }

  #refuse(
    status: 401 | 403,
    message: string,
    challenge: Parameters<ProtectedResource["challenge"]>[0],
  ): Refusal {
    return refusal(status, message, { "WWW-Authenticate": this.#resource.challenge(challenge) });
  }

  #fail(request: IncomingMessage, agentId: string | undefined, message = WRONG_TOKEN): Refusal {
    const wait = this.#failures.take(
      clientAddress(request, this.#settings.behindProxy),
      MOST_FAILURES,
    );
    if (wait > 0) return tooMany(wait, TOO_MANY_FAILURES);
    return this.#refuse(401, message, { agentId, error: "invalid_token" });
  }
}

function credentialsIn({ headers: { authorization } }: IncomingMessage): Credentials {
  if (authorization === undefined || authorization === "") return { kind: "none" };
  const text = bearerToken(authorization);
  return text === undefined ? { kind: "unusable" } : { kind: "bearer", text };
}

/** `agents` are those that the token is for. */
function notFor(agentId: string | undefined, agents: readonly string[]): string {
  if (agentId === undefined) {
    return "this token is not for the gateway as a whole: that takes a token for every agent";
  }
  const own = agents.length === 0 ? "no agent" : oneLine(agents.join(", "), LONGEST_LIST);
  const where = agents.length === 0 ? "" : "; the address of an agent is /agents/<id>/mcp";
  return `this token is not for the agent '${named(agentId)}', but for ${own}${where}`;
}

function named(agentId: string): string {
  return oneLine(agentId, LONGEST_LABEL);
}

function noRight(agentId: string | undefined): string {
  const what = agentId === undefined ? "the gateway as a whole" : `the agent '${named(agentId)}'`;
  return `this token gives no right to ${what}: no entry of gateway.jwt.rights fits it; ask whoever runs this gateway`;
}

/** The tokens of the gateway have no dots. */
function isJwt(text: string): boolean {
  return text.split(".", 4).length === 3;
}

function tooMany(wait: number, message: string): Refusal {
  const seconds = Math.max(1, Math.ceil(wait / 1000));
  return refusal(429, `${message}; try again in ${seconds} s`, { "Retry-After": String(seconds) });
}
