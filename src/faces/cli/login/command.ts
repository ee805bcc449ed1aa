// `plugboard login` and `plugboard logout` on the command line.

import type { Command as Parser } from "commander";
import { takeServer, type TypedServer } from "../typed-server.ts";

export interface LoginCommand {
  kind: "login";
  /** Its name in the configuration. Absent for a URL. */
  server?: string;
  /** Try to open a browser. */
  browser: boolean;
}

export interface LogoutCommand {
  kind: "logout";
  server?: string;
}

export function describeLogin(
  program: Parser,
  choose: (command: LoginCommand | LogoutCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  const read = (parser: Parser, given: string): { server?: string; typed?: TypedServer } => {
    if (behind !== undefined) {
      parser.error(`error: a command after -- is a program, so there is nothing to sign in to`);
    }
    const { words, typed } = takeServer([given], undefined, {});
    return { server: words[0], typed };
  };
  const login = program
    .command("login")
    .description("sign in to a remote server")
    .argument("<server>", "its name in the configuration, or its URL")
    .option("--no-browser", "print the address instead of opening a browser")
    .action((given: string, { browser }: { browser: boolean }) => {
      const { server, typed } = read(login, given);
      choose({ kind: "login", server, browser }, typed);
    });

  const logout = program
    .command("logout")
    .description("sign out of a remote server: revoke and delete its tokens")
    .argument("<server>", "its name in the configuration, or its URL")
    .action((given: string) => {
      const { server, typed } = read(logout, given);
      choose({ kind: "logout", server }, typed);
    });
}
