// Gives one person's connection its tokens by exchanging the JWT that the person came with. Tokens are kept in memory only,
// once for all boards of an agent, until shortly before they end and never longer than the JWT that they were made of.

import { createHash } from "node:crypto";
import type { FetchLike } from "@modelcontextprotocol/client";
import type { Authorizer, Challenge, OAuthSettings, SubjectToken } from "../types/authorization.ts";
import { PlugboardError } from "../types/errors.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Clock } from "../../util/clock.ts";
import { parseChallenge } from "./challenge.ts";
import { type OAuthClient, ownClient } from "./client.ts";
import {
  exchange,
  type ExchangeEndpoint,
  ExchangeFailure,
  type ExchangedToken,
  findEndpoint,
  tryEndpoint,
} from "./exchange.ts";
import type { OnSecrets } from "./store.ts";

/** A token this close to its expiry would expire before it arrives. */
const SLACK_MS = 10_000;
/** How long nobody is asked again who has refused, or failed. */
const REFUSED_MS = 60_000;
const FAILED_MS = 5000;
const MOST_REMEMBERED = 1000;

interface Remembered {
  made: Promise<ExchangedToken>;
  /** While it is being made, whoever comes waits for it. */
  until: number;
}

/** Exchanges by hash: of the person, the server, how the token is asked for, and the JWT. */
export type ExchangeMemory = Map<string, Remembered>;

export interface ExchangeAuthorizerOptions {
  server: string;
  serverUrl: string;
  settings: OAuthSettings;
  /** `isRefused`: the authorization server refuses the secrets, so they are got again. */
  latestSettings: (isRefused: boolean) => Promise<OAuthSettings>;
  /** Absent: the agent's own user's, who has no JWT. */
  person: string | undefined;
  /** Absent where the person has not come with a JWT. */
  subjectToken: (() => SubjectToken | undefined) | undefined;
  memory: ExchangeMemory;
  fetch: FetchLike;
  onSecrets: OnSecrets;
  clock: Clock;
}

export class ExchangeAuthorizer implements Authorizer {
  readonly #options: ExchangeAuthorizerOptions;
  #endpoint: Promise<ExchangeEndpoint> | undefined;
  /** The token that was given last, and how often. */
  #given = { token: "", times: 0 };
  /** What failed last: the JWT, and when it may be tried again. */
  #failed: { text: string; again: number } | undefined;

  constructor(options: ExchangeAuthorizerOptions) {
    this.#options = options;
  }

  async token(): Promise<string> {
    const subject = this.#subject();
    try {
      const { text } = await this.#exchanged(subject);
      this.#failed = undefined;
      const times = text === this.#given.token ? this.#given.times + 1 : 1;
      this.#given = { token: text, times };
      return text;
    } catch (error) {
      if (!(error instanceof ExchangeFailure)) throw error;
      const again = this.#now() + (error.isRefused ? REFUSED_MS : FAILED_MS);
      this.#failed = { text: subject.text, again };
      throw error.error;
    }
  }

  async renew({ status, header }: Challenge, used: string | undefined): Promise<void> {
    const { server, memory } = this.#options;
    if (status === 403) {
      const { scope } = parseChallenge({ status, header });
      const wanted = scope === undefined ? "" : ` (${scope})`;
      // What a server asks for is asked for nobody without a person's consent, so the operator decides.
      throw this.#refusedBy(
        `'${server}' requires another scope${wanted}`,
        403,
        "add it to oauth.scope",
      );
    }
    const subject = this.#subject();
    const key = this.#key(subject);
    const remembered = memory.get(key);
    const current = await remembered?.made.catch(() => undefined);
    if (remembered === undefined || current?.text !== used || memory.get(key) !== remembered)
      return;
    memory.delete(key);
    if (this.#given.token !== used || this.#given.times > 1) return;
    const what = `'${server}' refuses the token that the authorization server gave for it`;
    const error = this.#refusedBy(
      what,
      401,
      "check oauth.audience, oauth.resource and oauth.scope",
    );
    const failure = new ExchangeFailure(error, true);
    const again = this.#now() + REFUSED_MS;
    this.#failed = { text: subject.text, again };
    this.#remember(key, Promise.reject(failure), again);
    throw error;
  }

  /** Whether it is worth trying again: there is another JWT, or it was long ago. */
  async hasNews(): Promise<boolean> {
    const subject = this.#options.subjectToken?.();
    if (subject === undefined || subject.expiresAt <= this.#now()) return false;
    const failed = this.#failed;
    return failed === undefined || failed.text !== subject.text || failed.again <= this.#now();
  }

  /** Finds out, without anybody's token, whether tokens can be exchanged, and where. */
  async look(): Promise<string> {
    const { server, serverUrl, fetch, latestSettings } = this.#options;
    try {
      const settings = await latestSettings(false);
      const endpoint = await findEndpoint(server, settings, fetch);
      const client = await this.#client(settings);
      await tryEndpoint({ server, serverUrl, settings, endpoint, client, fetch });
      return new URL(endpoint.url).origin;
    } catch (error) {
      throw error instanceof ExchangeFailure ? error.error : error;
    }
  }

  #now(): number {
    return this.#options.clock.now();
  }

  /** Throws NEEDS_AUTH for who has none. */
  #subject(): SubjectToken {
    const { server, subjectToken } = this.#options;
    const subject = subjectToken?.();
    if (subject !== undefined && subject.expiresAt > this.#now()) return subject;
    const [message, hint] =
      subjectToken === undefined
        ? [
            `'${server}' is for callers of a gateway who come with a JWT, and you have come without one`,
            "connect your client to the gateway with a JWT of one of gateway.jwt.issuers: a token of the gateway and commands on its machine cannot be exchanged",
          ]
        : ["the JWT that you came with has expired", "have your client get a new one"];
    throw new PlugboardError("NEEDS_AUTH", message, {
      server,
      status: 401,
      permanent: true,
      quote: "",
      hint,
    });
  }

  async #exchanged(subject: SubjectToken): Promise<ExchangedToken> {
    const { memory, onSecrets, server } = this.#options;
    const key = this.#key(subject);
    for (;;) {
      const known = memory.get(key);
      const isOthers = known !== undefined && this.#now() < known.until;
      const made = isOthers ? known.made : this.#begin(key, subject);
      try {
        const token = await made;
        onSecrets(`exchange ${server}`, [subject.text, token.text]);
        return token;
      } catch (error) {
        // Another board began it and was closed meanwhile.
        if (!isOthers || !wasGivenUp(error)) throw error;
      }
    }
  }

  /** One at a time for each key. */
  #begin(key: string, subject: SubjectToken): Promise<ExchangedToken> {
    const made = this.#exchange(subject);
    const remembered = this.#remember(key, made, Infinity);
    void made.then(
      ({ seconds }) => {
        const end = Math.min(this.#now() + seconds * 1000 - SLACK_MS, subject.expiresAt);
        remembered.until = end;
      },
      (error: unknown) => {
        const isFinal = error instanceof ExchangeFailure && error.isRefused;
        remembered.until = this.#now() + (isFinal ? REFUSED_MS : FAILED_MS);
        if (wasGivenUp(error) && this.#options.memory.get(key) === remembered) {
          this.#options.memory.delete(key);
        }
        // It may be another by then.
        this.#endpoint = undefined;
      },
    );
    return made;
  }

  #remember(key: string, made: Promise<ExchangedToken>, until: number): Remembered {
    const { memory } = this.#options;
    made.catch(() => {});
    if (memory.size >= MOST_REMEMBERED) {
      const now = this.#now();
      for (const [each, { until: end }] of memory) if (end <= now) memory.delete(each);
      const [oldest] = memory.keys();
      if (memory.size >= MOST_REMEMBERED && oldest !== undefined) memory.delete(oldest);
    }
    const remembered = { made, until };
    // At the end, so that the oldest comes first.
    memory.delete(key);
    memory.set(key, remembered);
    return remembered;
  }

  async #exchange(subject: SubjectToken): Promise<ExchangedToken> {
    const { server, serverUrl, fetch, latestSettings, onSecrets } = this.#options;
    // An authorization server may repeat it in what it says.
    onSecrets(`exchange ${server}`, [subject.text]);
    const attempt = async (settings: OAuthSettings): Promise<ExchangedToken> => {
      this.#endpoint ??= findEndpoint(server, settings, fetch);
      const endpoint = await this.#endpoint;
      const client = await this.#client(settings);
      return exchange({ server, serverUrl, settings, endpoint, client, fetch }, subject);
    };
    const settings = await latestSettings(false);
    try {
      return await attempt(settings);
    } catch (error) {
      if (!(error instanceof ExchangeFailure) || !error.isOfClient) throw error;
      const latest = await latestSettings(true);
      if (latest.clientSecret === settings.clientSecret) throw error;
      return attempt(latest);
    }
  }

  async #client(settings: OAuthSettings): Promise<OAuthClient> {
    const { server } = this.#options;
    const client = await ownClient(settings);
    if (client !== undefined) return client;
    throw new PlugboardError("CONFIG_INVALID", `'${server}' has no oauth.clientId`, { server });
  }

  #key(subject: SubjectToken): string {
    const { person, server, serverUrl, settings } = this.#options;
    const { clientSecret: _secret, privateKey: _key, ...asked } = settings;
    return createHash("sha256")
      .update(canonicalJson([person ?? "", server, serverUrl, { ...asked }, subject.text]))
      .digest("base64");
  }

  #refusedBy(message: string, status: number, hint: string): PlugboardError {
    const { server } = this.#options;
    return new PlugboardError("NEEDS_AUTH", message, {
      server,
      status,
      permanent: true,
      hint: `whoever runs the gateway can ${hint}`,
    });
  }
}

function wasGivenUp(error: unknown): boolean {
  const { code } = error instanceof ExchangeFailure ? error.error : { code: "" };
  return code === "CANCELLED" || code === "CONNECTION_CLOSED";
}
