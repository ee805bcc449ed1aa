// What the guard does when a tool is called: its stages in their order, the chain around each tool's calls,
// and what a model gets to read of an answer. Loaded with the first call: a list of tools needs none of it.

import { join } from "node:path";
import type { Present } from "../bridge/tool.ts";
import { approvalModes } from "../guard/approval-mode.ts";
import { approvalStage } from "../guard/approval.ts";
import { ApprovalStore } from "../guard/approval-store.ts";
import { AuditLog } from "../guard/audit/audit-log.ts";
import { auditStage } from "../guard/audit/stage.ts";
import { compose } from "../guard/compose.ts";
import { concurrencyStage } from "../guard/concurrency.ts";
import { outputStage } from "../guard/output/stage.ts";
import { presentToModel, type PresentSettings } from "../guard/present/present.ts";
import { rateLimitStage } from "../guard/rate-limit.ts";
import { redactStage } from "../guard/redact.ts";
import type { ServerGuards } from "../guard/server-guards.ts";
import { SpillDirectory } from "../guard/spill.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { Next, StageFor, ToolSubject } from "../model/guard.ts";
import type { Logger } from "../model/logger.ts";
import type { Clock } from "../util/clock.ts";
import type { BoardGuardOptions } from "./guard.ts";

const MAX_RESULT_BYTES = 256 * 1024;

export interface GuardedCallsOptions extends BoardGuardOptions {
  servers: ServerGuards;
  /** What decides about a tool as such, before any limit is counted. */
  first: readonly StageFor[];
}

export class GuardedCalls {
  readonly #agent: AgentConfig;
  readonly #logger: Logger;
  readonly #servers: ServerGuards;
  readonly #audit: AuditLog | undefined;
  readonly #spill: SpillDirectory | undefined;
  readonly #stages: readonly StageFor[];
  readonly #asideStages: readonly StageFor[];

  constructor({ agent, options, clock, logger, redactor, servers, first }: GuardedCallsOptions) {
    const { stateDir, onApproval } = options;
    this.#agent = agent;
    this.#logger = logger;
    this.#servers = servers;
    this.#audit = openAudit(agent, stateDir, clock, logger);
    this.#spill = stateDir === undefined ? undefined : new SpillDirectory(join(stateDir, "spill"));
    const approvals = new ApprovalStore({
      ...(stateDir !== undefined && { stateDir }),
      clock,
      onWriteError: (error) =>
        logger.warn("an approval could not be saved", { reason: String(error) }),
    });
    const redact = redactStage(redactor);
    const audited =
      this.#audit &&
      auditStage(this.#audit, {
        agent: agent.agentId,
        arguments: agent.audit?.arguments ?? false,
        redact: redactor,
        clock,
      });
    this.#asideStages = [() => audited, () => redact];
    // The outermost first. Nobody holds a slot while a person thinks.
    this.#stages = [
      ...this.#asideStages,
      ...first,
      rateLimitStage({ servers, clock }),
      approvalStage({
        ...approvalModes(servers, agent.guard?.approval),
        ask: onApproval,
        remembered: (subject) => approvals.has(subject),
        remember: (subject) => approvals.add(subject),
      }),
      concurrencyStage(servers),
      outputStage(logger),
    ];
  }

  around(subject: ToolSubject, last: Next): Next {
    return compose(this.#stages, subject, last);
  }

  /** Around what is no call of a tool. */
  aside(subject: ToolSubject, last: Next): Next {
    return compose(this.#asideStages, subject, last);
  }

  presenter(subject: ToolSubject): Present {
    const own = this.#servers.own(subject);
    const settings: PresentSettings = {
      framing: own.framing ?? this.#agent.guard?.framing ?? "full",
      maxResultBytes: own.maxResultBytes ?? MAX_RESULT_BYTES,
      ...(this.#spill !== undefined && { spill: this.#spill }),
      onSuspicious: (patterns) => {
        const { source } = subject;
        if (source.kind === "mcp") this.suspect(source, patterns);
      },
    };
    return (outcome) => presentToModel(outcome, subject, settings);
  }

  async close(): Promise<void> {
    await Promise.all([this.#audit?.close(), this.#spill?.remove()]);
  }

  /** Told, never acted upon. */
  suspect({ server, tool }: { server: string; tool: string }, patterns: string[]): void {
    this.#logger.info("a result looks like an attempt to steer the model", {
      tool: `${server}/${tool}`,
      patterns,
    });
    this.#audit?.suspect({ agent: this.#agent.agentId, server, tool, patterns });
  }
}

function openAudit(
  { audit }: AgentConfig,
  stateDir: string | undefined,
  clock: Clock,
  logger: Logger,
): AuditLog | undefined {
  const file = audit?.file ?? (stateDir && join(stateDir, "audit.jsonl"));
  return file === undefined ? undefined : new AuditLog({ file, clock, logger });
}
