// `plugboard login` and `plugboard logout` on the command line.

import { type Argument, command } from "../command.ts";
import { type TakesServer, URL_OPTIONS } from "../typed-server.ts";

export interface LoginRequest {
  /** Its name in the configuration. Absent for a URL. */
  server?: string;
  /** Try to open a browser. */
  browser: boolean;
}

export interface LogoutRequest {
  server?: string;
}

const SERVER = [
  {
    kind: "one",
    name: "server",
    about: "its name in the configuration, or its URL",
    isServer: true,
    offers: "server",
  },
] as const satisfies Argument[];
const USAGE = ["[options] <server | url>"];
const URL_ALONE: TakesServer = {
  noProgram:
    "a command after -- is a program, so there is nothing to sign in to; pass its credentials with -e",
};

export const COMMANDS = [
  command({
    name: "login",
    about: "sign in to a remote server",
    usage: USAGE,
    args: SERVER,
    options: {
      ...URL_OPTIONS,
      browser: {
        kind: "denial",
        name: "--no-browser",
        about: "print the address instead of opening a browser",
      },
    },
    server: URL_ALONE,
    tooMuch: "it takes one server",
    examples: ["plugboard login docs", "plugboard login https://example.com/mcp"],
    read: ([server], { browser }): LoginRequest => ({ server, browser }),
    run: async (request, context) => (await import("./login.ts")).runLogin(request, context),
  }),
  command({
    name: "logout",
    about: "sign out of a remote server",
    usage: USAGE,
    args: SERVER,
    options: URL_OPTIONS,
    server: URL_ALONE,
    tooMuch: "it takes one server",
    examples: ["plugboard logout docs"],
    read: ([server]): LogoutRequest => ({ server }),
    run: async (request, context) => (await import("./login.ts")).runLogout(request, context),
  }),
];
