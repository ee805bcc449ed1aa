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
import { SESSION_RATE_LIMIT } from "../guard/session-limits.ts";
import { SpillDirectory } from "../guard/spill.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { Next, Stage, StageFor, ToolSubject } from "../model/guard.ts";
import type { Logger } from "../model/logger.ts";
import type { Clock } from "../util/clock.ts";
import type { BoardGuardOptions, SessionGuard } from "./guard.ts";

const MAX_RESULT_BYTES = 256 * 1024;

export interface GuardedCallsOptions extends BoardGuardOptions {
  servers: ServerGuards;
  /** What decides about a tool as such, before any limit is counted. */
  first: readonly StageFor[];
  /** Of the board that a session's is laid over. */
  shared?: GuardedCalls;
}

export class GuardedCalls {
  readonly #agent: AgentConfig;
  readonly #logger: Logger;
  readonly #servers: ServerGuards;
  readonly #session: SessionGuard | undefined;
  readonly #rateLimit: StageFor;
  readonly #concurrency: StageFor;
  readonly #audit: AuditLog | undefined;
  readonly #isAuditShared: boolean;
  readonly #spill: SpillDirectory | undefined;
  readonly #stages: readonly StageFor[];
  readonly #contentStages: readonly StageFor[];

  constructor(given: GuardedCallsOptions) {
    const { agent, options, clock, logger, redactor, servers, first, session, shared } = given;
    const { stateDir, onApproval } = options;
    this.#agent = agent;
    this.#session = session;
    this.#logger = logger;
    this.#servers = servers;
    this.#isAuditShared = shared !== undefined;
    this.#audit = shared ? shared.#audit : openAudit(agent, stateDir, clock, logger);
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
        ...(session !== undefined && { session: session.id }),
        arguments: agent.audit?.arguments ?? false,
        redact: redactor,
        clock,
      });
    this.#rateLimit = rateLimitStage({
      servers,
      clock,
      ...(session !== undefined && { perMinute: SESSION_RATE_LIMIT }),
    });
    this.#concurrency = concurrencyStage(servers);
    const lower = (subject: ToolSubject): GuardedCalls | undefined =>
      session?.isShared(subject) ? shared : undefined;
    this.#contentStages = [() => audited, () => redact];
    // The outermost first. Nobody holds a slot while a person thinks.
    this.#stages = [
      ...this.#contentStages,
      ...first,
      (subject) => lower(subject)?.limitRate(subject),
      this.#rateLimit,
      approvalStage({
        ...approvalModes(servers, agent.guard?.approval),
        ask: onApproval,
        remembered: (subject) => approvals.has(subject),
        remember: (subject) => approvals.add(subject),
      }),
      (subject) => (lower(subject) ?? this).limitConcurrency(subject),
      outputStage(logger),
    ];
  }

  /** Counted for all boards that share a server. */
  limitRate(subject: ToolSubject): Stage | undefined {
    return this.#rateLimit(subject);
  }

  limitConcurrency(subject: ToolSubject): Stage | undefined {
    return this.#concurrency(subject);
  }

  around(subject: ToolSubject, last: Next): Next {
    return compose(this.#stages, subject, last);
  }

  aroundContent(subject: ToolSubject, last: Next): Next {
    return compose(this.#contentStages, subject, last);
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
    const audit = this.#isAuditShared ? undefined : this.#audit;
    await Promise.all([audit?.close(), this.#spill?.remove()]);
  }

  /** Told, never acted upon. */
  suspect({ server, tool }: { server: string; tool: string }, patterns: string[]): void {
    this.#logger.info("a result looks like an attempt to steer the model", {
      tool: `${server}/${tool}`,
      patterns,
    });
    const session = this.#session?.id;
    this.#audit?.suspect({
      agent: this.#agent.agentId,
      ...(session !== undefined && { session }),
      server,
      tool,
      patterns,
    });
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
