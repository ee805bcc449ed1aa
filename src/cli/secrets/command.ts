// `plugboard secrets` on the command line.

import { type Command as Parser, Option } from "commander";
import { SECRET_STORES, type SecretStoreName } from "../../core/types/secret-provider.ts";
import type { Scope } from "../servers/command.ts";

export type SecretsCommand = CheckSecrets | MoveSecret;

interface CheckSecrets {
  kind: "secrets";
  action: "check";
}

export interface MoveSecret {
  kind: "secrets";
  action: "move";
  server: string;
  /** `TOKEN`, or with its block: `env.TOKEN`. */
  key: string;
  /** By default what is configured, or fits this machine. */
  to?: SecretStoreName;
  /** What it is called there. */
  name?: string;
  scope?: Scope;
  /** Replace another value of that name. */
  force: boolean;
  yes: boolean;
}

const HELP = `
A reference such as secret://keyring/plugboard/docs-TOKEN stands for a value
that is not in the configuration. See docs/secrets.md.

Examples:
  plugboard secrets check
  plugboard secrets move github GITHUB_TOKEN`;

const CHECK_HELP = `
Shows no value, and starts no server. The exit code is 3 if one does not work.

Examples:
  plugboard secrets check`;

const MOVE_HELP = `
Without --to, the value goes to the first provider that the block "secrets" of
the configuration names; else to the keyring of this machine, or where there is
none to secrets.json in Plugboard's home. The rest of the file stays as it is.

Examples:
  plugboard secrets move github GITHUB_TOKEN
  plugboard secrets move db env.PGPASSWORD --to vault --name prod/db`;

interface GivenMove {
  to?: SecretStoreName;
  name?: string;
  scope?: Scope;
  force?: true;
  yes?: true;
}

export function describeSecrets(
  program: Parser,
  choose: (command: SecretsCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const secrets = program
    .command("secrets")
    .description("check secrets, and move credentials out of the file")
    .usage("[options] <command>")
    .addHelpText("after", HELP)
    .allowExcessArguments()
    .action(() => {
      const [word] = secrets.args;
      if (word !== undefined) refuse(secrets, word);
      secrets.help({ error: true });
    });
  secrets
    .command("check")
    .description("get the value of every reference, and say which work")
    .addHelpText("after", CHECK_HELP)
    .action(() => choose({ kind: "secrets", action: "check" }));
  const to = new Option("--to <provider>", "where the value goes");
  const scope = new Option(
    "-s, --scope <scope>",
    "which file: the one in this directory, or yours; by default the one in use",
  );
  secrets
    .command("move")
    .description("put a credential of a server away, and write a reference in its place")
    .argument("<server>", "the server")
    .argument("<key>", "the variable or header, or auth.token, oauth.clientSecret")
    .addOption(to.choices(SECRET_STORES))
    .option("--name <name>", "what to call it there; by default the server and the key")
    .addOption(scope.choices(["project", "user"]))
    .option("--force", "replace another value that has this name")
    .option("--yes", "do not ask")
    .addHelpText("after", MOVE_HELP)
    .action((server: string, key: string, { force, yes, ...given }: GivenMove) =>
      choose({
        kind: "secrets",
        action: "move",
        server,
        key,
        ...given,
        force: force === true,
        yes: yes === true,
      }),
    );
}
