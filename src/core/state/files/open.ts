// Opens the shared state that is in the files of one directory. Nothing is read or written before it is used.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Logger, silentLogger } from "../../types/logger.ts";
import type { SharedState } from "../../types/shared-state.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { CountedDays } from "../counted-days.ts";
import { LocalLimits } from "../local-limits.ts";
import { ApprovalFile } from "./approval-file.ts";
import { auditIn } from "./audit-file.ts";
import { ChangeFiles } from "./change-files.ts";
import { GrantFiles } from "./grant-files.ts";
import { PendingApprovalFiles } from "./pending-approval-files.ts";
import { PinFiles } from "./pin-files.ts";
import { SealKeyFile } from "./seal-key-file.ts";
import { SessionFile } from "./session-file.ts";
import { TokenFiles } from "./token-files.ts";
import { usageFile } from "./usage-file.ts";

export interface FileStateOptions {
  clock?: Clock;
  logger?: Logger;
  random?: (bytes: number) => Buffer;
}

export function openFileState(stateDir: string, options: FileStateOptions = {}): SharedState {
  const { clock = systemClock, logger = silentLogger, random = randomBytes } = options;
  const tokens = new TokenFiles({ stateDir, clock, random });
  const sessions = new SessionFile({
    stateDir,
    clock,
    onWriteError: (error) =>
      logger.warn("a session could not be saved", { reason: reasonOf(error) }),
  });
  const usage = new CountedDays(usageFile(stateDir, clock), clock);
  const changes = new ChangeFiles(stateDir, clock);
  return {
    pins: new PinFiles({ stateDir, clock, logger, changes }),
    changes,
    approvals: new ApprovalFile(stateDir, clock),
    grants: new GrantFiles(stateDir, clock),
    limits: new LocalLimits(clock),
    usage,
    audit: auditIn(join(stateDir, "audit.jsonl"), { clock }),
    tokens,
    sessions,
    pending: new PendingApprovalFiles(stateDir, clock),
    openSealKeys: (given) => SealKeyFile.open({ ...given, stateDir, clock, random }),
    async close() {
      await Promise.all([tokens.close(), sessions.close(), usage.close()]);
    },
  };
}
