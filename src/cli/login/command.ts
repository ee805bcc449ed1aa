// `plugboard login` and `plugboard logout` on the command line.

import type { Command as Parser } from "commander";
import { ALLOW_INSECURE, ALLOW_PRIVATE } from "../typed/options.ts";
import { takeServer, type TypedServer, type UrlExceptions } from "../typed-server.ts";
import { examples } from "../examples.ts";

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
  const read = (
    parser: Parser,
    given: string | undefined,
    options: UrlExceptions,
  ): { server?: string; typed?: TypedServer } => {
    if (behind !== undefined) {
      parser.error(
        "error: a command after -- is a program, so there is nothing to sign in to; pass its credentials with -e",
      );
    }
    if (given === undefined) return parser.error("error: missing required argument 'server'");
    const { words, typed } = takeServer([given], undefined, options);
    return { server: words[0], typed };
  };
  const takesUrl = (parser: Parser): Parser =>
    parser
      // Without one, commander would not let us say what is wrong with a command after `--`.
      .argument("[server]", "its name in the configuration, or its URL")
      .usage("[options] <server | url>")
      .addOption(ALLOW_INSECURE)
      .addOption(ALLOW_PRIVATE);

  const login = takesUrl(program.command("login"))
    .description("sign in to a remote server")
    .option("--no-browser", "print the address instead of opening a browser")
    .addHelpText(
      "after",
      examples("plugboard login docs", "plugboard login https://example.com/mcp"),
    )
    .action((given: string | undefined, options: { browser: boolean } & UrlExceptions) => {
      const { server, typed } = read(login, given, options);
      choose({ kind: "login", server, browser: options.browser }, typed);
    });

  const logout = takesUrl(program.command("logout"))
    .description("sign out of a remote server")
    .addHelpText("after", examples("plugboard logout docs"))
    .action((given: string | undefined, options: UrlExceptions) => {
      const { server, typed } = read(logout, given, options);
      choose({ kind: "logout", server }, typed);
    });
}
