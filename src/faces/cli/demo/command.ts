// `plugboard demo` on the command line.

import type { Command as Parser } from "commander";

export function describeDemo(program: Parser, choose: () => void): void {
  program
    .command("demo")
    .description("take a short tour with the server that comes with Plugboard")
    .action(choose);
}
