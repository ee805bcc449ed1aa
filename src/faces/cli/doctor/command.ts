// `plugboard doctor` on the command line.

import type { Command as Parser } from "commander";

export interface DoctorCommand {
  kind: "doctor";
  /** The only server to look at. */
  server?: string;
  /** Make the repairs that are safe. */
  fix: boolean;
}

const HELP = `
Looks at this machine, the configuration, Plugboard's own files, the secrets,
the sign-ins, the model, every server from its command to its tools, the rules,
and the applications that could use all of that. Says for each problem what to
do about it. It stops the servers that it has started.

--fix changes the rights of Plugboard's own files, and removes what processes
have left that no longer run; never your configuration. --verbose also shows
what is all right. The exit code is 1 if something is broken.

Examples:
  plugboard doctor
  plugboard doctor files
  plugboard doctor --fix`;

export function describeDoctor(program: Parser, choose: (command: DoctorCommand) => void): void {
  program
    .command("doctor")
    .description("find out what is wrong, and what to do about it")
    .argument("[server]", "look at this server alone")
    .option("--fix", "make the repairs that are safe")
    .addHelpText("after", HELP)
    .action((server: string | undefined, { fix = false }: { fix?: boolean }) =>
      choose({ kind: "doctor", server, fix }),
    );
}
