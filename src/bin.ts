#!/usr/bin/env node
// The command. Loads as little as it can before it knows what is wanted.

import { packageVersion } from "./util/version.ts";

const argv = process.argv.slice(2);

// When the reader is gone, as after `| head`, the error needs a listener, or it would end the process.
process.stderr.on("error", () => {});
process.stdout.on("error", () => {});

if (["--version", "-v", "-V"].includes(argv[0] ?? "")) {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") return;
    process.stderr.write(`plugboard: the output could not be written: ${message}\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${packageVersion()}\n`);
} else {
  const { runCli } = await import("./faces/cli/main.ts");
  process.exitCode = await runCli(argv);
}
