// A call to a running gateway, from the command line to the exit code. `bin.cts` tries it first: the build makes one file
// of it, with all that such a call can need.

import { readCommandLine } from "./command-line.ts";
import { EXIT } from "./exit-code.ts";
import { processIo } from "./io.ts";
import { runCli } from "./main.ts";
import { runCall } from "./call/call.ts";
import type { CallRequest } from "./call/command.ts";

const NOBODY = { out: () => {}, err: () => {}, width: undefined };

/**
 * Resolves to the exit code, or to undefined if the command line means something else or the call has to go the ordinary
 * way: then nothing has been called, read or printed.
 */
export async function runWarmCall(argv: readonly string[]): Promise<number | undefined> {
  // The ordinary way says what is wrong with it.
  const invocation = await readCommandLine(argv, NOBODY).catch(() => undefined);
  if (invocation?.kind !== "run" || invocation.name !== "call") return undefined;
  const { request, traits, options } = invocation;
  if (!isCall(request) || traits.readsStdin || options.exitWithStdin) return undefined;
  let isWarm = true;
  const exitCode = await runCli(argv, processIo(), async () => ({
    ...invocation,
    run: (context) =>
      runCall(request, context, async () => {
        isWarm = false;
        return EXIT.ok;
      }),
  }));
  return isWarm ? exitCode : undefined;
}

/** `call --help` with a tool is a request for the help of that tool. */
function isCall(request: unknown): request is CallRequest {
  return (request as Partial<CallRequest>).tool !== undefined;
}
