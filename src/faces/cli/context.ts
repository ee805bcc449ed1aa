// What every command works with.

import type { Logger } from "../../model/logger.ts";
import type { Clock } from "../../util/clock.ts";
import type { CliIo } from "./io.ts";
import type { GlobalOptions } from "./invocation.ts";
import type { Screen } from "./terminal/screen.ts";

export interface CliContext {
  io: CliIo;
  options: GlobalOptions;
  screen: Screen;
  logger: Logger;
  clock: Clock;
  /** Aborted when the command must end. */
  signal: AbortSignal;
}
