// `plugboard demo` on the command line.

import type { Command as Parser } from "commander";
import { examples } from "../examples.ts";

export function describeDemo(program: Parser, choose: () => void): void {
  program
    .command("demo")
    .description("take a short tour")
    .addHelpText("after", examples("plugboard demo"))
    .action(choose);
}
