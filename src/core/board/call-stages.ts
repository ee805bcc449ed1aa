// The guard's stages around the calls of a board, and how results are presented to a model. guard.ts loads this
// file with the first call.

import { join } from "node:path";
import type { Present } from "../tools/tool.ts";
import { approvalStage, ApprovalTurns, GivenApprovals } from "../guard/approval.ts";
import { AuditLog } from "../guard/audit/audit-log.ts";
import { auditStages } from "../guard/audit/stage.ts";
import { compose } from "../guard/compose.ts";
import { concurrencyStage, type Permits } from "../guard/concurrency.ts";
import { outputStage } from "../guard/output/stage.ts";
import { presentToModel, type PresentSettings } from "../guard/present/present.ts";
import { rateLimitStage } from "../guard/rate-limit.ts";
import { redactStage } from "../guard/redact.ts";
import type { ServerGuards } from "../guard/server-guards.ts";
import { removeLeftResults, ResultFiles } from "../guard/present/result-files.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import type { Callee, Next, OutermostStage, Stage, StageFor, Subject } from "../types/guard.ts";
import type { Logger } from "../types/logger.ts";
import type { BoardState, Limits } from "../types/shared-state.ts";
import type { CallOutcome } from "../types/tool.ts";
import { auditIn } from "../state/files/audit-file.ts";
import { LocalLimits } from "../state/local-limits.ts";
import type { Clock } from "../../util/clock.ts";
import type { BoardGuardOptions, GuardedSession } from "./guard.ts";
import { nativeArgumentStages } from "./native-arguments.ts";
import { reasonOf } from "../../util/system-problem.ts";

const MAX_RESULT_BYTES = 256 * 1024;

export interface CallStagesOptions extends BoardGuardOptions {
  servers: ServerGuards;
  /** Stages that decide about the tool itself, before any limit counts the call. */
  first: readonly StageFor[];
  /** For a session's board: the stages of the agent's board. */
  shared?: CallStages;
}

/** What the stages are around. */
export interface GuardedCallee<Answer> {
  /** Every call ends in it. */
  outermost: OutermostStage;
  callee: Callee<Answer>;
  /** Only rules apply, no limits and no approval. */
  asksNobody?: boolean;
}

/** What must not be lost when the configuration is replaced: what calls have used, and what they have left behind. */
interface LastingState {
  readonly approvals: GivenApprovals;
  readonly turns: ApprovalTurns;
  readonly limits: Limits;
  readonly permits: Permits;
  readonly resultFiles: ResultFiles | undefined;
  readonly cleaning: Promise<void> | undefined;
  /** Calls in flight still write to those before the last. */
  readonly audits: AuditLog[];
}

export class CallStages {
  /** The boards of sessions use these two as well, so that they limit the calls of all sessions together. */
  readonly rateLimit: StageFor;
  readonly concurrency: StageFor;
  readonly #agent: AgentConfig;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #redactor: CallStagesOptions["redactor"];
  readonly #servers: ServerGuards;
  readonly #session: GuardedSession | undefined;
  readonly #audit: AuditLog | undefined;
  readonly #lasting: LastingState;
  readonly #readTool: () => string | undefined;
  readonly #stages: readonly StageFor[];
  /** For requests that ask nobody. */
  readonly #ruleStages: readonly StageFor[];
  /** For what a gateway guards: it does not know the secrets of this board's other servers. */
  readonly #stagesInGateway: readonly StageFor[];

  /** `earlier` are the stages of the configuration before this one. Their lasting state is used from now on. */
  constructor(given: CallStagesOptions, earlier?: CallStages) {
    const { agent, options, clock, logger, redactor, servers, first, over, shared } = given;
    const { onApproval } = options;
    this.#agent = agent;
    this.#session = over?.session;
    this.#clock = clock;
    this.#logger = logger;
    this.#redactor = redactor;
    this.#servers = servers;
    this.#lasting = earlier ? earlier.#lasting : newLastingState(given);
    this.#audit = shared ? shared.#audit : this.#openAudit(given, earlier);
    this.#readTool = given.readTool;
    const { limits, permits, approvals, turns } = this.#lasting;
    const redact = redactStage(redactor);
    const audited =
      this.#audit &&
      auditStages(this.#audit, {
        agent: agent.agentId,
        session: this.#session?.id,
        arguments: agent.audit?.arguments ?? false,
        redact: redactor,
        clock,
      });
    const perMinute = over?.session.rateLimit;
    this.rateLimit = rateLimitStage({ servers, limits, of: agent.agentId, clock, perMinute });
    this.concurrency = concurrencyStage(servers, permits);
    const sharedStages = (subject: Subject): CallStages | undefined =>
      over?.isShared(subject) ? shared : undefined;
    this.#stagesInGateway = [() => redact];
    const nativeArguments = nativeArgumentStages(logger);
    this.#ruleStages = [(subject) => audited?.whole(subject), () => redact, ...first];
    // The outermost stage comes first. Approval comes before concurrency, so that a call does not keep others
    // waiting while a person decides.
    this.#stages = [
      ...this.#ruleStages,
      nativeArguments.first,
      (subject) => sharedStages(subject)?.rateLimit(subject),
      this.rateLimit,
      approvalStage({
        servers,
        agentMode: agent.guard?.approval,
        least: this.#session?.approval,
        redact: (value) => redactor.value(value),
        ask: onApproval,
        store: approvals,
        turns,
        clock,
      }),
      nativeArguments.again,
      (subject) => (sharedStages(subject) ?? this).concurrency(subject),
      outputStage(logger),
      // Innermost, so that a call that is refused or waits has not started.
      (subject) => audited?.start(subject),
    ];
  }

  around<Answer>(subject: Subject, called: GuardedCallee<Answer>): Next {
    const { outermost, callee, asksNobody = false } = called;
    const here = asksNobody ? this.#ruleStages : this.#stages;
    const inner = stagesFor(subject, subject.inGateway ? this.#stagesInGateway : here);
    return compose([outermost, ...inner], callee, this.#clock);
  }

  presenter(subject: Subject): Present {
    const { maxResultBytes = MAX_RESULT_BYTES } = this.#servers.own(subject);
    const settings: PresentSettings = {
      ...this.#framing(subject),
      maxResultBytes,
      resultFiles: this.#lasting.resultFiles,
      readTool: this.#readTool,
    };
    return (outcome, note) =>
      presentToModel(outcome, subject, settings, note && this.#redactor.text(note));
  }

  async frame(subject: Subject, outcome: CallOutcome): Promise<CallOutcome> {
    const settings = { ...this.#framing(subject), maxResultBytes: Infinity };
    const { content } = await presentToModel(outcome, subject, settings);
    const { structuredContent: _, ...rest } = outcome;
    return { ...rest, content };
  }

  #framing(subject: Subject): Pick<PresentSettings, "framing" | "onSuspicious"> {
    return {
      framing: this.#servers.own(subject).framing ?? this.#agent.guard?.framing ?? "full",
      onSuspicious: (patterns) => {
        const { source } = subject;
        if (source.kind === "mcp") this.reportSuspicious(source, patterns);
      },
    };
  }

  /** The results that were too long for a model. */
  get saved(): Pick<ResultFiles, "read" | "hasText" | "texts"> | undefined {
    return this.#lasting.resultFiles;
  }

  async close(): Promise<void> {
    const { audits, resultFiles, cleaning } = this.#lasting;
    await Promise.all([...audits.map((audit) => audit.close()), resultFiles?.remove(), cleaning]);
  }

  /** The stages of another configuration. Calls in flight end with those that they began with. */
  renewed(given: CallStagesOptions): CallStages {
    return new CallStages(given, this);
  }

  #openAudit(
    { agent, options, clock, logger }: CallStagesOptions,
    earlier: CallStages | undefined,
  ): AuditLog | undefined {
    if (earlier !== undefined && earlier.#agent.audit?.file === agent.audit?.file) {
      return earlier.#audit;
    }
    const audit = openAudit(agent, options.state, clock, logger);
    if (audit !== undefined) this.#lasting.audits.push(audit);
    return audit;
  }

  /** Only reports: the content stays as it is. */
  reportSuspicious(where: { server: string; tool: string }, patterns: string[]): void {
    this.#logger.warn("a result looks like an attempt to steer the model", {
      tool: `${where.server}/${where.tool}`,
      patterns,
    });
    this.auditSuspicious(where, patterns);
  }

  auditSuspicious({ server, tool }: { server: string; tool: string }, patterns: string[]): void {
    this.#audit?.suspect({
      agent: this.#agent.agentId,
      session: this.#session?.id,
      server,
      tool,
      patterns,
    });
  }
}

function newLastingState({
  agent,
  options,
  clock,
  logger,
  over,
  shared,
}: CallStagesOptions): LastingState {
  const { stateDir, state } = options;
  // What processes of earlier versions left behind is in a directory of this name, too.
  const saved = stateDir && join(stateDir, "spill");
  return {
    approvals: new GivenApprovals({
      agent: { agent: agent.agentId, ...(agent.file !== undefined && { config: agent.file }) },
      store: state?.approvals,
      clock,
      onWriteError: (error) =>
        logger.warn("an approval could not be saved", { reason: reasonOf(error) }),
    }),
    turns: new ApprovalTurns(),
    // A session's own limits are for this session alone.
    limits: (over ? undefined : state?.limits) ?? new LocalLimits(clock),
    permits: new Map(),
    resultFiles: saved === undefined ? undefined : new ResultFiles(saved),
    // Sessions share the directory, and the agent's board has seen to it.
    cleaning: saved === undefined || shared ? undefined : removeLeftResults(saved),
    audits: [],
  };
}

function openAudit(
  { audit }: AgentConfig,
  state: BoardState | undefined,
  clock: Clock,
  logger: Logger,
): AuditLog | undefined {
  const trail = audit?.file === undefined ? state?.audit : auditIn(audit.file);
  return trail === undefined ? undefined : new AuditLog({ trail, clock, logger });
}

/** A stage that has nothing to do for the subject is not among them. */
function stagesFor(subject: Subject, stages: readonly StageFor[]): Stage[] {
  return stages.flatMap((stageFor) => stageFor(subject) ?? []);
}
