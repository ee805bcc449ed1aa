#!/usr/bin/env node
// The command. Loads as little as it can before it knows what is wanted.

import { isVersionFlag } from "./faces/cli/version-flag.ts";
import { packageVersion } from "./util/version.ts";

const argv = process.argv.slice(2);

// A reader that has gone, as after `| head`, is no fault; without a listener it would be reported as one.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});

if (isVersionFlag(argv[0])) {
  process.stdout.write(`${packageVersion()}\n`);
} else {
  const [{ runCli }, { processIo }] = await Promise.all([
    import("./faces/cli/main.ts"),
    import("./faces/cli/process-io.ts"),
  ]);
  process.exitCode = await runCli(argv, processIo());
}
