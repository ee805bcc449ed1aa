// `plugboard import` on the command line.

import { type Command as Parser, Option } from "commander";
import { SECRET_STORES, type SecretStoreName } from "../../core/types/secret-provider.ts";
import type { Scope } from "../servers/command.ts";

export interface ImportCommand {
  kind: "import";
  /** Only these servers; all where it is empty. */
  names: string[];
  /** Applications and files; all applications where it is empty. */
  from: string[];
  write: boolean;
  scope?: Scope;
  /** Credentials become references to variables. */
  references: boolean;
  /** Credentials are put away, and become references to where they are. */
  secrets?: { to?: SecretStoreName };
  /** Replace servers of the same name. */
  force: boolean;
  yes: boolean;
  /** Show the servers with their state after they were written. */
  check: boolean;
}

const HELP = `
Looks at Claude Code, Claude Desktop, Cursor, Windsurf, Cline, Roo Code, VS
Code, Zed, Codex, Gemini CLI, OpenCode and OpenClaw, for you and for this
directory. Their files stay as they are. See docs/connect.md.

Credentials are written as they are in those files, unless you give
--references or --secrets.

Examples:
  plugboard import
  plugboard import --write
  plugboard import github --from cursor --write --secrets`;

interface Given {
  from?: string[];
  write?: true;
  scope?: Scope;
  references?: true;
  secrets?: SecretStoreName | true;
  force?: true;
  yes?: true;
  check: boolean;
}

export function describeImport(program: Parser, choose: (command: ImportCommand) => void): void {
  const from = new Option(
    "--from <application>",
    "only from this one, or from a file; may be repeated",
  );
  const scope = new Option(
    "-s, --scope <scope>",
    "which file: the one in this directory, or yours; by default the one in use",
  );
  const secrets = new Option(
    "--secrets [provider]",
    "put credentials away, and write references to them",
  );
  program
    .command("import")
    .description("take over servers from your other applications")
    .argument("[servers...]", "only servers with these names")
    .addOption(
      from.argParser((value: string, earlier: string[] | undefined) => [...(earlier ?? []), value]),
    )
    .option("--write", "add them to your configuration")
    .addOption(scope.choices(["project", "user"]))
    .option("--references", "write ${NAME} in place of credentials")
    .addOption(secrets.choices(SECRET_STORES).conflicts("references"))
    .option("--force", "replace servers of the same name that are different")
    .option("--yes", "do not ask")
    .option("--no-check", "do not start the servers after they were written")
    .addHelpText("after", HELP)
    .action((names: string[], { from: given, scope: place, secrets: to, check, ...flags }: Given) =>
      choose({
        kind: "import",
        names,
        from: given ?? [],
        ...(place !== undefined && { scope: place }),
        write: flags.write === true,
        references: flags.references === true,
        ...(to !== undefined && { secrets: to === true ? {} : { to } }),
        force: flags.force === true,
        yes: flags.yes === true,
        check,
      }),
    );
}
