// Everything that a call can need and that is otherwise loaded with its first use, so that commands start fast. A process
// that runs for long loads all of it at its start: a part that cannot be read later, because too many files are open at
// that moment, could not be loaded until the process ends.

import type { Logger } from "../types/logger.ts";
import { reasonOf } from "../../util/system-problem.ts";

const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import("./call-stages.ts"),
  () => import("../guard/output/compile.ts"),
  () => import("../guard/output/pattern.ts"),
  () => import("./session/session-layer.ts"),
  () => import("../catalog/search/search.ts"),
  () => import("./content/resource-context.ts"),
  // Starting a server: also one that was stopped because nobody used it.
  () => import("../upstream/connect.ts"),
  () => import("../net/target-fetch.ts"),
  () => import("../net/fetch.ts"),
  () => import("./open-authorizer.ts"),
  () => import("../auth/flows.ts"),
  () => import("../auth/exchange-authorizer.ts"),
  () => import("../secrets/resolver.ts"),
  () => import("../secrets/run-program.ts"),
  () => import("../secrets/secret-fetch.ts"),
  () => import("../secrets/providers/env.ts"),
  () => import("../secrets/providers/file.ts"),
  () => import("../secrets/providers/exec.ts"),
  () => import("../secrets/providers/gcp.ts"),
  () => import("../secrets/providers/aws.ts"),
  () => import("../secrets/providers/vault.ts"),
  () => import("../secrets/providers/azure.ts"),
  () => import("../secrets/providers/op.ts"),
  () => import("../secrets/providers/keyring.ts"),
  ...(process.platform === "win32" ? [() => import("cross-spawn")] : []),
  // Reading the configuration again.
  () => import("./native-modules.ts"),
  // What was wrong with the arguments of a call that failed.
  () => import("../tools/arguments/misfits.ts"),
  () => import("../config/text/toml.ts"),
  () => import("../config/foreign/translate.ts"),
  // Answers what a server asks in the middle of a call.
  () => import("@modelcontextprotocol/client"),
];

/** Rejects if a part cannot be loaded: the process cannot do all of its work then. */
export async function loadCallPath(): Promise<void> {
  // One after another: all at once would need more open files than a call ever does.
  for (const load of PARTS) await load();
}

/** The same, after what the process does right now: whoever started it waits for its first answer. */
export function loadCallPathSoon(logger: Logger): void {
  setImmediate(() => {
    loadCallPath().catch((error: unknown) =>
      logger.error(
        "a part of Plugboard cannot be loaded, and what needs it will fail; start it again",
        {
          reason: reasonOf(error),
        },
      ),
    );
  });
}
