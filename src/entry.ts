// The command. Loads as little as it can before it knows which command the user typed.

import { outputProblem, systemProblem } from "./util/system-problem.ts";
import { packageVersion } from "./util/version.ts";

/** As in `cli/exit-code.ts`, which may be what cannot be loaded. */
const EXIT_UNAVAILABLE = 3;

const argv = process.argv.slice(2);

// When the reader is gone, as after `| head`, the error needs a listener, or it would end the process.
process.stderr.on("error", () => {});
process.stdout.on("error", () => {});

if (["--version", "-v", "-V"].includes(argv[0] ?? "")) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    process.stderr.write(`plugboard: the output could not be written: ${outputProblem(error)}\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${packageVersion()}\n`);
} else if (argv[0] === "serve" && argv[1] === "--session" && argv.length === 3) {
  const { runSessionProgram } = await import("./cli/serve/session-program.ts");
  process.exitCode = await runSessionProgram(argv[2] ?? "", process);
} else if (argv[0] === "__complete") {
  const { complete, surroundingsOf } = await import("./cli/completion/complete.ts");
  process.stdout.write(await complete(argv.slice(1), surroundingsOf(process)));
} else {
  try {
    const { runCli } = await import("./cli/main.ts");
    process.exitCode = await runCli(argv);
  } catch (error) {
    // Not even the command line could be loaded.
    const problem = systemProblem(error);
    if (problem === undefined) throw error;
    process.stderr.write(`plugboard: ${problem.message}\nhint: ${problem.hint}\n`);
    process.exitCode = EXIT_UNAVAILABLE;
  }
}
