// `plugboard tokens` on the command line.

import type { TokenTerms } from "../../serve/gateway/access/token-terms.ts";
import { command, Mistake } from "../command.ts";
import type { ReadValue } from "../option.ts";
import type { CliContext } from "../context.ts";
import { readDuration } from "../read-duration.ts";
import { wholeNumber } from "../shared-options.ts";

export interface TokensRequest {
  action:
    | { kind: "list" }
    | { kind: "revoke"; token: string }
    /** Without a person: everybody. */
    | { kind: "sign-out"; person?: string }
    | AddToken;
}

export interface AddToken extends Omit<TokenTerms, "owner"> {
  kind: "add";
  name: string;
  /** Milliseconds that it is valid. */
  expires?: number;
}

const NOTES = `
A client of the gateway sends a token with every request. Give each client one
of its own, so that you can tell them apart and revoke one alone.`;

const ADD_NOTES = `
The token is shown once. It is for every agent, unless you give --agent <id>,
once or several times. --owner allows tools marked ownerOnly. The rules of the
configuration apply as well.

With --allow it sees nothing of a server that no pattern names. 'files/*' is all
that a server has, 'files/read_*' and @readOnly are tools alone, and
'files/resource:*' and 'files/prompt:*' are resources and prompts.`;

const SIGN_OUT_NOTES = `
A JWT is good until it ends, even if its holder has lost a group since. After
this, only JWTs that are issued later count, with the groups that they name.
The gateway's own tokens stay valid; plugboard tokens revoke ends one.`;

const MOST_PER_MINUTE = 100_000_000;

const LIST: TokensRequest = { action: { kind: "list" } };

const run = async (request: TokensRequest, context: CliContext): Promise<number> =>
  (await import("./tokens.ts")).runTokens(request, context);

const readPattern = (text: string): ReadValue<string> =>
  text === "" ? { expected: "a pattern such as 'files/*'" } : { value: text };

const readLifetime = (text: string): ReadValue<number> => {
  const value = readDuration(text) ?? 0;
  return value > 0 ? { value } : { expected: "a time such as 12h, 30d or 8w" };
};

export const COMMANDS = [
  command({
    name: "tokens",
    about: "make and revoke tokens of the gateway, and sign people out",
    usage: ["[options] [command]"],
    notes: NOTES,
    examples: ["plugboard tokens", "plugboard tokens add laptop", "plugboard tokens revoke laptop"],
    commands: [
      command({
        name: "list",
        about: "list the tokens, for whom they are and when they were last used",
        examples: ["plugboard tokens list"],
        read: (): TokensRequest => LIST,
        run,
      }),
      command({
        name: "add",
        about: "make a token and show it",
        args: [{ kind: "one", name: "name", about: "who will use it, such as ci or ann@laptop" }],
        options: {
          allow: {
            kind: "list",
            name: "--allow",
            value: "pattern",
            about: "only what matches, such as 'files/read_*'; can be given several times",
            read: readPattern,
            offers: "tool",
          },
          deny: {
            kind: "list",
            name: "--deny",
            value: "pattern",
            about: "all but what matches; can be given several times",
            read: readPattern,
            offers: "tool",
          },
          approval: {
            kind: "value",
            name: "--approval",
            value: "mode",
            about: "ask before calls",
            choices: ["never", "ask", "destructive"],
          },
          rateLimit: {
            kind: "value",
            name: "--rate-limit",
            value: "n",
            about: "requests per minute",
            read: wholeNumber(1, MOST_PER_MINUTE, "a number of requests per minute"),
          },
          callsPerMinute: {
            kind: "value",
            name: "--calls-per-minute",
            value: "n",
            about: "calls, reads and prompts per minute",
            read: wholeNumber(1, MOST_PER_MINUTE, "a number of calls per minute"),
          },
          callsPerDay: {
            kind: "value",
            name: "--calls-per-day",
            value: "n",
            about: "calls, reads and prompts per day, which begins at 00:00 UTC",
            read: wholeNumber(1, MOST_PER_MINUTE, "a number of calls per day"),
          },
          concurrentCalls: {
            kind: "value",
            name: "--concurrent-calls",
            value: "n",
            about: "calls, reads and prompts at a time",
            read: wholeNumber(1, MOST_PER_MINUTE, "a number of calls at a time"),
          },
          expires: {
            kind: "value",
            name: "--expires",
            value: "time",
            about: "valid for: 12h, 30d, 8w; by default until it is revoked",
            read: readLifetime,
          },
        },
        notes: ADD_NOTES,
        examples: [
          "plugboard tokens add laptop",
          "plugboard tokens add guest --allow @readOnly",
          "plugboard tokens add ci --agent coder --deny 'files/write_*' --expires 30d",
        ],
        read: ([name], { allow, deny, ...given }): TokensRequest => ({
          action: {
            kind: "add",
            name,
            ...given,
            ...(allow.length > 0 && { allow }),
            ...(deny.length > 0 && { deny }),
          },
        }),
        run,
      }),
      command({
        name: "revoke",
        about: "revoke a token; its client is refused from then on",
        args: [{ kind: "one", name: "token", about: "its name or id" }],
        examples: ["plugboard tokens revoke laptop"],
        read: ([token]): TokensRequest => ({ action: { kind: "revoke", token } }),
        run,
      }),
      command({
        name: "signout",
        about: "end the JWTs of a person at every gateway, and their visits to the page",
        args: [
          {
            kind: "maybe",
            name: "person",
            about:
              "the subject of their tokens, or as the audit shows it: 'ann (login.example.com)'",
          },
        ],
        options: {
          all: { kind: "flag", name: "--all", about: "sign everybody out" },
        },
        notes: SIGN_OUT_NOTES,
        examples: ["plugboard tokens signout ann", "plugboard tokens signout --all"],
        read: ([person], { all }): TokensRequest | Mistake => {
          if (all === (person !== undefined)) {
            return new Mistake("say who, or --all for everybody");
          }
          return { action: { kind: "sign-out", ...(person !== undefined && { person }) } };
        },
        run,
      }),
    ],
    read: (): TokensRequest => LIST,
    run,
  }),
];
