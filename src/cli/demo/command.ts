// `plugboard demo` on the command line.

import { command } from "../command.ts";

export const COMMANDS = [
  command({
    name: "demo",
    about: "take a short tour",
    examples: ["plugboard demo"],
    run: async (_, context) => (await import("./demo.ts")).runDemo(context),
  }),
];
