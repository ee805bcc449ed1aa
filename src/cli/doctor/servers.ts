// Each server, from its command to its tools.

import { modelLimits, providerOf } from "../../agent/loop/provider.ts";
import { statusOffBoard } from "../../core/board/untrusted-servers.ts";
import { type AgentConfig, templateFor } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import type { ServerDefinition } from "../../core/types/server-definition.ts";
import { boundedMap } from "../../util/bounded-map.ts";
import { plural } from "../../util/text.ts";
import { shortPath } from "../status/server-file-name.ts";
import type { DoctorContext } from "./context.ts";
import type { CheckGroup, Finding, FindingLevel } from "./finding.ts";
import { examine, type Examined, examineShared } from "./servers/examine.ts";
import { judge, type JudgeOptions } from "./servers/judge.ts";
import { bareCommands, duplicates, onlyInTerminal, weight } from "./servers/together.ts";

/** At most this many servers run at a time. Each is stopped before another one starts. */
const AT_A_TIME = 8;

export const serversGroup: CheckGroup = {
  title: "Servers",
  concernsServer: true,
  async run(context) {
    const config = await context.config();
    if (config.kind !== "usable") return [];
    const { agent } = config;
    const options = judgeOptions(agent);
    const examined = await examineAll(agent, context);
    const findings = [
      ...examined.flatMap((each) => judge(each, options)),
      ...(await findTogether(examined, agent, options, context)),
    ];
    return [...(context.server === undefined ? summary(examined) : []), ...worstFirst(findings)];
  },
};

const ORDER: readonly FindingLevel[] = ["ok", "broken", "warning", "note"];

/** Among a hundred servers, what does not work must not be in the middle. */
function worstFirst(findings: readonly Finding[]): Finding[] {
  return ORDER.flatMap((level) => findings.filter((each) => each.level === level));
}

function judgeOptions(agent: AgentConfig): JudgeOptions {
  const { servers, toolNames, toolNameLength, model: id = "", modelProviders } = agent;
  const provider = providerOf(id, modelProviders);
  return {
    rules: agent.guard?.rules,
    toolNames: templateFor(toolNames, servers.filter(({ enabled }) => enabled).length),
    toolNameLength,
    model: provider && { id, ...modelLimits(provider) },
  };
}

/** In the order of the configuration. Servers of a file that nobody has trusted are not among them. */
async function examineAll(agent: AgentConfig, context: DoctorContext): Promise<Examined[]> {
  const { server } = context;
  const servers = agent.servers.filter(({ name }) => server === undefined || server === name);
  const progress = new Progress(servers.length, context);
  try {
    // Without a gateway, each server has a board of its own.
    const shared = (await context.gateway())?.board;
    return await boundedMap(servers, AT_A_TIME, (definition) =>
      progress.during(definition.name, () => examineOne(definition, agent, shared, context)),
    );
  } finally {
    progress.stop();
  }
}

/** A server that is not ready in the gateway is started here: that shows whether it could be. */
async function examineOne(
  definition: ServerDefinition,
  agent: AgentConfig,
  shared: Board | undefined,
  context: DoctorContext,
): Promise<Examined> {
  const { name, enabled } = definition;
  const file = definition.from?.file ?? agent.file;
  const entry =
    file === undefined ? "its entry" : `its entry in ${shortPath(file, context.cli.io)}`;
  if (!enabled) {
    const status = statusOffBoard(definition, { kind: "disabled" });
    return { definition, entry, status, tools: [] };
  }
  const there = shared?.status().find((each) => each.name === name)?.state;
  if (shared !== undefined && there?.kind === "ready") {
    return { entry, ...(await examineShared(definition, shared, context)) };
  }
  const examined = { entry, ...(await examine(definition, agent, context)) };
  const isDown = there?.kind === "failed" || there?.kind === "backoff";
  return isDown ? { ...examined, gateway: { failure: there.error } } : examined;
}

/** `98 of 100 servers are ready, with 1234 tools`: the first thing to know where there are many. */
function summary(examined: readonly Examined[]): Finding[] {
  const enabled = examined.filter(({ definition }) => definition.enabled);
  const ready = enabled.filter(({ status }) => status.state.kind === "ready");
  if (ready.length < 2) return [];
  const tools = ready.reduce((sum, { status }) => sum + status.tools, 0);
  const count =
    ready.length === enabled.length
      ? `all ${enabled.length} servers are ready`
      : `${ready.length} of ${enabled.length} servers are ready`;
  return [{ level: "ok", check: "servers", message: `${count}, with ${plural(tools, "tool")}` }];
}

async function findTogether(
  examined: readonly Examined[],
  agent: AgentConfig,
  { model }: JudgeOptions,
  context: DoctorContext,
): Promise<Finding[]> {
  const { server, cli } = context;
  const isAsked = ({ subject }: Finding): boolean => server === undefined || subject === server;
  const asked = examined.map(({ definition }) => definition);
  const needsPath = process.platform !== "win32" && bareCommands(asked).length > 0;
  return [
    ...duplicates(agent.servers).filter(isAsked),
    ...weight(examined, agent, model?.contextWindow),
    ...(needsPath ? onlyInTerminal(asked, cli.io, await context.editorPath()) : []),
  ];
}

/** Shows a person how far it is, and what is being waited for. */
class Progress {
  readonly #current = new Set<string>();
  readonly #rows: { stop(): void };
  #done = 0;

  constructor(total: number, { cli }: Pick<DoctorContext, "cli">) {
    this.#rows = cli.screen.live(({ spinner, width }) => {
      const names = [...this.#current].join(", ");
      const line = `${spinner} looking at the servers, ${this.#done} of ${total} done: ${names}`;
      return [line.length > width ? `${line.slice(0, width - 1)}…` : line];
    });
  }

  async during<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    this.#current.add(name);
    try {
      return await work();
    } finally {
      this.#current.delete(name);
      this.#done += 1;
    }
  }

  stop(): void {
    this.#rows.stop();
  }
}
