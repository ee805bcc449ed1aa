// Chooses how a server is stopped: by its platform, and as a container too where it is one.

import { stopContainers } from "./container.ts";
import type { Engine } from "./engine.ts";
import { commonTable } from "./open-table.ts";
import type { StopTarget, StopTiming, StopTools } from "./stop.ts";
import { STOP_TIMING, stopTree } from "./stop.ts";
import { stopOnWindows, taskkillPath } from "./stop-windows.ts";
import type { ProcessTable } from "./table.ts";

export interface StopServerOptions extends Pick<StopTools, "clock" | "logger"> {
  platform: NodeJS.Platform;
  /** The host's. */
  ambient: NodeJS.ProcessEnv;
  timing: Partial<StopTiming> | undefined;
  table: ProcessTable | undefined;
  taskkill: string | undefined;
  engine: Engine | undefined;
}

/** Never rejects. */
export function stopServer(target: StopTarget, options: StopServerOptions): Promise<void> {
  const { clock, logger, platform, engine } = options;
  const timing = { ...STOP_TIMING, ...options.timing };
  const grace = Math.ceil(timing.term / 1000);
  const tools: StopTools = { clock, logger, timing };
  if (engine) {
    tools.stopContainers = () => stopContainers(engine, target.cookie, { clock, logger, grace });
  }
  const table = options.table ?? commonTable(platform);
  if (table) return stopTree(target, table, tools);
  return stopOnWindows(target, options.taskkill ?? taskkillPath(options.ambient), tools);
}
