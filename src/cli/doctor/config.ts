// The configuration: which file is used and why, what is wrong in it, and whether it is trusted.

import { join } from "node:path";
import { type FileSource, filesOf } from "../../core/config/find.ts";
import { formatProblem } from "../../core/config/issue.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { loadConfig } from "../../core/config/load.ts";
import { proxiesIn } from "../../core/process/environment.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { type ConfigProblem, PlugboardError } from "../../core/types/errors.ts";
import { plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { readRegularFileNow } from "../../util/regular-file.ts";
import { approvalUnset } from "../approval-unset.ts";
import { findChannel } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../find-source.ts";
import { mayConcern } from "../open.ts";
import type { DoctorConfig, DoctorContext } from "./context.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const configGroup: CheckGroup = {
  title: "Configuration",
  concernsServer: true,
  async run(context) {
    const { quiet } = context;
    const found = await context.config();
    switch (found.kind) {
      case "none":
        return [nothingConfigured()];
      case "unusable": {
        const source = sourceOf(quiet);
        const others = source === undefined ? [] : await otherProblems(source, found.error, quiet);
        return [...errorFindings(found.error, "broken"), ...others];
      }
      case "withheld":
        return [withheld(found.source)];
      case "usable":
        return [
          ...(await fileFindings(found, quiet)),
          ...contentFindings(found.agent, context.server),
          ...(context.server === undefined ? approvalFindings(found.agent, quiet) : []),
          ...proxyFindings({ ...found.agent, env: quiet.io.env, npmrc: npmrcOf(quiet.io) }),
          ...(await gatewayFindings(found, context)),
        ];
    }
  },
};

function nothingConfigured(): Finding {
  return {
    level: "note",
    check: "no-config",
    message: "there is no configuration yet, so commands use the built-in demo server",
    remedy:
      "to bring the servers of other applications:\n  plugboard import --write\nto add one yourself:\n  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
  };
}

function withheld({ path }: FileSource): Finding {
  return {
    level: "note",
    check: "config-withheld",
    subject: path,
    message: `${visible(path)} is valid, but it is not used, and its servers are not checked, while somebody else could change Plugboard's own files`,
    remedy: "correct the permissions of these files first, as described above",
  };
}

/** Undefined where there is none, or the one that was named is not there. */
function sourceOf(context: CliContext): FileSource | undefined {
  try {
    const source = findSource(context);
    return source.kind === "file" ? source : undefined;
  } catch {
    return undefined;
  }
}

/** Whoever loads several files reports the first wrong one. These are the mistakes in the others. */
async function otherProblems(
  source: FileSource,
  error: PlugboardError,
  { io }: CliContext,
): Promise<Finding[]> {
  const told = new Set(error.problems.map(({ file }) => file));
  const files = source.base === undefined ? [] : filesOf(source);
  const found = await Promise.all(
    files
      .filter(({ path }) => !told.has(path))
      .map(async ({ path }) => {
        const problem = await problemIn(path, io);
        return problem === undefined ? [] : errorFindings(problem, "broken");
      }),
  );
  return found.flat();
}

/** A project's file with mistakes, such as one that loosens yours, is left out while nobody trusts it. */
async function leftOutFindings(used: FileSource, context: CliContext): Promise<Finding[]> {
  const found = sourceOf(context);
  if (found?.base === undefined || found.path === used.path) return [];
  const problem = await problemIn(found.path, context.io, found.base);
  return problem === undefined ? [] : errorFindings(problem, "warning");
}

async function problemIn(
  path: string,
  { cwd, homedir }: Pick<CliContext["io"], "cwd" | "homedir">,
  base?: string,
): Promise<PlugboardError | undefined> {
  try {
    await loadConfig(path, undefined, { cwd, homedir, base });
    return undefined;
  } catch (error) {
    if (error instanceof PlugboardError) return error;
    throw error;
  }
}

/** Each problem by itself, with the place where it is. */
function errorFindings(error: PlugboardError, level: "broken" | "warning"): Finding[] {
  const { code, message, hint, problems } = error;
  if (problems.length > 0) {
    return problems.map((problem) => problemFinding(problem, "config-invalid", level));
  }
  const isUntrusted = code === "UNTRUSTED";
  // `plugboard trust` shows the programs that the file would start, so the first line is enough here.
  const [first = message] = message.split("\n");
  return [
    {
      level,
      check: isUntrusted ? "config-untrusted" : "config-unusable",
      message: isUntrusted ? first : message,
      remedy: hint ?? "correct the file, or name another one with --config",
    },
  ];
}

function problemFinding(
  problem: ConfigProblem,
  check: string,
  level: "broken" | "warning" | "note",
): Finding {
  const { file, line, path, remedy, suggestion } = problem;
  const place = line === undefined ? "" : ` in line ${line}`;
  const what = suggestion === undefined ? "change it" : `write "${visible(suggestion)}"`;
  const where = file === undefined ? "the configuration" : visible(file);
  return {
    level,
    check,
    ...(path !== "" && { subject: path }),
    message: formatProblem(problem),
    remedy: remedy ?? (path === "" ? `look at ${where}${place}` : `${what}${place} of ${where}`),
  };
}

type Usable = Extract<DoctorConfig, { kind: "usable" }>;

const WHY: Readonly<Record<FileSource["from"], string>> = {
  flag: "named by --config",
  environment: "named by $PLUGBOARD_CONFIG",
  directory: "in this directory",
  home: "your own",
};

async function fileFindings({ source, agent }: Usable, context: CliContext): Promise<Finding[]> {
  const used = filesOf(source).toReversed();
  const names = used.map(({ path, from }) => `${visible(path)} (${WHY[from]})`).join(" over ");
  const servers = plural(agent.servers.length, "server");
  const findings: Finding[] = [
    { level: "ok", check: "config-file", message: `${names}, with ${servers}` },
  ];
  if (agent.servers.length === 0) {
    findings.push({
      level: "note",
      check: "no-servers",
      message: `there is no server in ${used.map(({ path }) => visible(path)).join(" or ")}`,
      remedy: "to add one: plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
    });
  }
  findings.push(...(await leftOutFindings(source, context)));
  for (const { file, servers: unused, inUse } of agent.untrusted ?? []) {
    const count = plural(unused.length, "server");
    findings.push({
      level: "warning",
      check: "config-untrusted",
      subject: file,
      message: inUse
        ? `${visible(file)} has changed since it was trusted, so ${count} of it ${unused.length === 1 ? "is" : "are"} not used: ${unused.map(({ name }) => visible(name)).join(", ")}`
        : `${visible(file)} is not trusted, so its ${count} and rules are not used`,
      remedy: "to look at it, and to trust it if you do: plugboard trust",
    });
  }
  const whole = sourceOf(context);
  const isLeftOut = whole?.path !== source.path && agent.untrusted === undefined;
  const problem = isLeftOut && whole ? await problemIn(whole.path, context.io) : undefined;
  return problem === undefined
    ? findings
    : [...findings, ...errorFindings(problem, "warning").map(asLeftOut)];
}

/** Somebody else's mistake in a file that you have never trusted. */
function asLeftOut(finding: Finding): Finding {
  return { ...finding, message: `${finding.message} (until then, the file is not used)` };
}

export interface ProxySettings extends Pick<AgentConfig, "networkProxy" | "networkInherit"> {
  env: CliContext["io"]["env"];
  /** The text of the user's own .npmrc. */
  npmrc: string;
}

/** A proxy that this machine needs, and that servers do not have. */
export function proxyFindings({
  env,
  networkProxy,
  networkInherit = true,
  npmrc,
}: ProxySettings): Finding[] {
  const variable = proxiesIn(env)[0]?.variable;
  if (!networkInherit && (variable ?? networkProxy) !== undefined) {
    return [
      {
        level: "note",
        check: "proxy",
        message: `servers that are programs do not have the proxy of ${networkProxy === undefined ? variable : "network.proxy"}, because network.inherit is false`,
        remedy: "if they need it, remove network.inherit, or set the variable in a server's env",
      },
    ];
  }
  if (variable !== undefined || networkProxy !== undefined) return [];
  if (!/^\s*(?:https-proxy|proxy|http-proxy)\s*=\s*(?!null\b)\S/m.test(npmrc)) return [];
  return [
    {
      level: "warning",
      check: "proxy",
      message:
        "npm uses a proxy, as your .npmrc says, and neither Plugboard nor its servers have one",
      remedy: "set HTTPS_PROXY where you start Plugboard, or network.proxy in the configuration",
    },
  ];
}

/** Empty where there is none. */
function npmrcOf({ homedir }: Pick<CliContext["io"], "homedir">): string {
  try {
    return readRegularFileNow(join(homedir, ".npmrc"));
  } catch {
    return "";
  }
}

function contentFindings(agent: AgentConfig, server: string | undefined): Finding[] {
  const { warnings, notes = [], servers } = agent;
  const isAsked = ({ path }: ConfigProblem): boolean =>
    server === undefined || mayConcern(path, server);
  return [
    ...warnings.filter(isAsked).map((each) => problemFinding(each, "config-warning", "warning")),
    ...notes.filter(isAsked).map((each) => problemFinding(each, "config-note", "note")),
    ...servers.flatMap(({ name, from }): Finding[] => {
      if (from?.hides === undefined || (server !== undefined && server !== name)) return [];
      return [
        {
          level: "note",
          check: "server-hidden",
          subject: name,
          message: `the server '${visible(name)}' of ${visible(from.file)} hides the one of that name in ${visible(from.hides)}`,
          remedy: "if you want both, give one of them another name",
        },
      ];
    }),
  ];
}

function approvalFindings(agent: AgentConfig, { io }: CliContext): Finding[] {
  if (agent.servers.length === 0) return [];
  const unset = approvalUnset(agent, plugboardHome(io.env, io.homedir));
  return unset === undefined ? [] : [{ level: "note", check: "approval-unset", ...unset }];
}

/** A gateway that runs for this configuration, and whether commands can use its servers. */
async function gatewayFindings({ source }: Usable, { quiet }: DoctorContext): Promise<Finding[]> {
  if (quiet.options.standalone) return [];
  const channel = await findChannel(source, quiet);
  if (channel.kind === "attach") {
    const { pid } = channel.gateway;
    const message = `the gateway (pid ${pid}) runs, and its servers are the ones that are checked`;
    return [{ level: "ok", check: "gateway", message }];
  }
  if (channel.reason === undefined) return [];
  const at = channel.reason.lastIndexOf("; ");
  return [
    {
      level: "warning",
      check: "gateway",
      message: channel.reason.slice(0, at),
      remedy: channel.reason.slice(at + 2),
    },
  ];
}
