// The gateway's tokens, wherever they are stored: their text and its hash, their names, and what makes one whole.

import { hash as hashOnce, timingSafeEqual } from "node:crypto";
import type { TokenPolicy } from "../types/caller.ts";
import { PlugboardError } from "../types/errors.ts";
import { isJsonObject, isTexts, type JsonObject } from "../types/json.ts";
import { DEFAULT_TOKEN, type GatewayToken, type NewToken } from "../types/shared-state.ts";
import type { Clock } from "../../util/clock.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";

const PREFIX = "plug_";
const TOKEN_BYTES = 32;
const TOKEN = /^plug_[\w-]{43}$/;
const MOST_TOKENS = 10_000;
const LONGEST_NAME = 64;

export interface StoredToken extends GatewayToken {
  /** SHA-256 in hexadecimal digits. */
  hash: string;
}

export function isTokenText(text: string): boolean {
  return TOKEN.test(text);
}

export function newTokenText(random: (bytes: number) => Buffer): string {
  return `${PREFIX}${random(TOKEN_BYTES).toString("base64url")}`;
}

/** A token has 256 random bits, so that nobody can try them out: a slow hash would only slow down requests. */
export function tokenHash(text: string): string {
  return hashOnce("sha256", text);
}

export function isSameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** Throws INVALID_ARGUMENTS if it cannot have the name. `text` is in nothing that is stored. */
export function newToken(
  given: NewToken,
  { clock, random }: { clock: Pick<Clock, "now">; random: (bytes: number) => Buffer },
): { token: GatewayToken; text: string; hash: string } {
  checkTokenName(given.name);
  const text = newTokenText(random);
  const id = random(6).toString("hex");
  return { token: { id, ...given, createdAt: clock.now() }, text, hash: tokenHash(text) };
}

function checkTokenName(name: string): void {
  const isFree = name !== DEFAULT_TOKEN;
  if (isFree && name.length <= LONGEST_NAME && /^[A-Za-z0-9][\w.@-]*$/.test(name)) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    isFree
      ? `'${oneLine(name, 100)}' cannot be the name of a token`
      : "the gateway makes the token default by itself",
    {
      hint: isFree
        ? `use letters, digits and . _ @ -, at most ${LONGEST_NAME} of them`
        : "choose another name; for a new default token, revoke it and start the gateway again",
    },
  );
}

export function unknownToken(nameOrId: string, names: readonly string[]): PlugboardError {
  const meant = closest(nameOrId, names);
  const message = `there is no token '${oneLine(nameOrId, 100)}'`;
  return new PlugboardError("INVALID_ARGUMENTS", message, {
    hint: meant === undefined ? "to see them: plugboard tokens list" : `did you mean '${meant}'?`,
  });
}

export function withoutHash(stored: StoredToken): GatewayToken {
  const token: GatewayToken & { hash?: string } = { ...stored };
  delete token.hash;
  return token;
}

/** Throws INVALID_ARGUMENTS if the name is taken, or there are too many. */
export function checkRoom(name: string, tokens: readonly GatewayToken[]): void {
  // What revokes a token by its id must not mean another one by its name.
  if (tokens.some((each) => each.name === name || each.id === name)) {
    throw new PlugboardError("INVALID_ARGUMENTS", `there is a token ${name} already`, {
      hint: `choose another name, or revoke it: plugboard tokens revoke ${name}`,
    });
  }
  if (tokens.length >= MOST_TOKENS) {
    throw new PlugboardError("INVALID_ARGUMENTS", `there are ${MOST_TOKENS} tokens already`, {
      hint: "revoke those that nobody uses; plugboard tokens list says when each was last used",
    });
  }
}

/** By id, or else by name. Throws INVALID_ARGUMENTS if there is no such token. */
export function findToken<Token extends GatewayToken>(
  nameOrId: string,
  tokens: readonly Token[],
): Token {
  const found =
    tokens.find(({ id }) => id === nameOrId) ?? tokens.find(({ name }) => name === nameOrId);
  if (found !== undefined) return found;
  throw unknownToken(
    nameOrId,
    tokens.map(({ name }) => name),
  );
}

/** Whatever is not whole gives no access. */
export function isStoredToken(value: unknown): value is StoredToken {
  return (
    isJsonObject(value) &&
    typeof value.id === "string" &&
    typeof value.name === "string" &&
    typeof value.hash === "string" &&
    typeof value.createdAt === "number" &&
    (value.expiresAt === undefined || typeof value.expiresAt === "number") &&
    (value.agents === undefined || isTexts(value.agents)) &&
    (value.policy === undefined || isPolicy(value.policy))
  );
}

export function isPolicy(value: unknown): value is TokenPolicy {
  if (!isJsonObject(value)) return false;
  const { tools = {}, rateLimit, owner, quota = {}, quotaOf } = value;
  return (
    isJsonObject(tools) &&
    isToolPolicy(tools) &&
    (rateLimit === undefined || rateLimit === false || isRate(rateLimit)) &&
    (owner === undefined || typeof owner === "boolean") &&
    (quotaOf === undefined || typeof quotaOf === "string") &&
    isJsonObject(quota) &&
    [quota.callsPerMinute, quota.callsPerDay, quota.concurrentCalls].every(
      (each) => each === undefined || isRate(each),
    )
  );
}

function isToolPolicy({ allow = [], deny = [], approval = "never" }: JsonObject): boolean {
  return (
    isTexts(allow) && isTexts(deny) && ["never", "ask", "destructive"].includes(String(approval))
  );
}

function isRate(value: unknown): boolean {
  return typeof value === "number" && value >= 1;
}
