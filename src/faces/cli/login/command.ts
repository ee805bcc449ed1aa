// `plugboard login` and `plugboard logout` on the command line.

import type { Command as Parser } from "commander";

export interface LoginCommand {
  kind: "login";
  server: string;
  /** Try to open a browser. */
  browser: boolean;
}

export interface LogoutCommand {
  kind: "logout";
  server: string;
}

export function describeLogin(
  program: Parser,
  choose: (command: LoginCommand | LogoutCommand) => void,
): void {
  program
    .command("login")
    .description("sign in to a remote server")
    .argument("<server>", "its name in the configuration")
    .option("--no-browser", "print the address instead of opening a browser")
    .action((server: string, { browser }: { browser: boolean }) =>
      choose({ kind: "login", server, browser }),
    );

  program
    .command("logout")
    .description("sign out of a remote server: revoke and delete its tokens")
    .argument("<server>", "its name in the configuration")
    .action((server: string) => choose({ kind: "logout", server }));
}
