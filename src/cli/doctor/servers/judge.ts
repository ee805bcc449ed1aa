// What is to be said about one server: that it works, or why not, and what about it may surprise you.

import { leftOutTools } from "../../../agent/loop/offered-tools.ts";
import type { ModelLimits } from "../../../agent/loop/provider.ts";
import { ModelTools } from "../../../core/tools/model-tools.ts";
import type { SchemaProvider } from "../../../core/tools/schema/normalize.ts";
import { type DiagnosticKind, diagnosticText } from "../../../core/types/diagnostic.ts";
import type { ToolRules } from "../../../core/types/guard-settings.ts";
import { isExchanged } from "../../../core/types/server-definition.ts";
import { ownName, type Tool } from "../../../core/types/tool.ts";
import { contentNamedBy } from "../../../core/types/tool-pattern.ts";
import { byteSize, duration, inWords, oneLine, plural, shellWord } from "../../../util/text.ts";
import type { Finding } from "../finding.ts";
import type { Examined } from "./examine.ts";
import { failureOf } from "./failure.ts";

export interface JudgeOptions {
  /** The template of public tool names, and the most characters of one. */
  toolNames: string;
  toolNameLength?: number | undefined;
  /** The lists of the agent. */
  rules?: readonly ToolRules[] | undefined;
  /** The configured model, and what it takes. */
  model?: (ModelLimits & { id: string }) | undefined;
  /** Milliseconds, to bound the work. */
  monotonic?: () => number;
}

/** A start that takes longer is worth a word. */
const SLOW_START_MS = 10_000;
const MUCH_MEMORY = 1024 ** 3;
/** More names would bury the rest. */
const MOST_NAMES = 3;
/** A hostile schema takes a while, and there may be thousands of tools. */
const MOST_SCHEMAS = 500;
/** Milliseconds for the schemas of one server: nothing else happens meanwhile, not even a Ctrl-C. */
const SCHEMAS_MS = 2000;
const LONGEST_NAME = 64;

/** The providers whose rules differ, as people call them. */
const PROVIDERS: readonly [SchemaProvider, string][] = [
  ["openai", "OpenAI"],
  ["anthropic", "Anthropic"],
  ["google", "Google"],
  ["generic", "other providers"],
];

export function judge(examined: Examined, options: JudgeOptions): Finding[] {
  const { definition, status, gateway } = examined;
  const { name: subject } = definition;
  const failure = failureOf(examined);
  if (failure !== undefined) return [failure];
  if (examined.forEach !== undefined && "at" in examined.forEach) {
    return [
      { level: "ok", check: "server", subject, message: `${subject}: ${forEachPerson(examined)}` },
    ];
  }
  if (status.state.kind !== "ready") {
    return [{ level: "ok", check: "server", subject, message: `${subject}: disabled` }];
  }
  return [
    { level: "ok", check: "server", subject, message: `${subject}: ${facts(examined)}` },
    ...(gateway?.failure ? [failedInGateway(subject, gateway.failure.message)] : []),
    ...ofTransport(examined),
    ...ofStart(examined),
    ...ofOffer(examined),
    ...ofLists(examined, options),
    ...ofNames(examined, options),
    ...ofSchemas(examined, options),
    ...ofDiagnostics(examined),
  ];
}

function forEachPerson({ definition, forEach }: Examined): string {
  const at = forEach !== undefined && "at" in forEach ? forEach.at : "";
  return isExchanged(definition)
    ? `each person's JWT is exchanged at ${at}, which takes this client`
    : `each person signs in for themselves at ${at}, and comes back to /sign-in/callback of the gateway`;
}

/** `ready in 80 ms, MCP 2025-11-25, 11 tools, 2 resources, 62 MiB` */
function facts({ status, content, memory, package: run, gateway }: Examined): string {
  const { state, tools } = status;
  if (state.kind !== "ready") return state.kind;
  const start = duration(state.startMs);
  const { resources = 0, prompts = 0 } = content ?? {};
  return [
    gateway === undefined ? `ready in ${start}` : "ready in the gateway",
    ...(run?.wasCached === false ? [`${run.runner} had to download it`] : []),
    `MCP ${state.protocolVersion}`,
    plural(tools, "tool"),
    ...(resources > 0 ? [plural(resources, "resource")] : []),
    ...(prompts > 0 ? [plural(prompts, "prompt")] : []),
    ...(memory === undefined ? [] : [byteSize(roundedMemory(memory))]),
  ].join(", ");
}

/** To whole MiB: what is behind the point changes with every look. */
function roundedMemory(bytes: number): number {
  return Math.max(1, Math.round(bytes / 1024 ** 2)) * 1024 ** 2;
}

function failedInGateway(subject: string, why: string): Finding {
  return {
    level: "warning",
    check: "not-ready-in-gateway",
    subject,
    message: `${subject}: it works when it is started again, but not in the running gateway: ${why}`,
    remedy: `start it there again: plugboard restart ${shellWord(subject)}`,
  };
}

const TRANSPORTS = { http: "Streamable HTTP", sse: "SSE" };

function ofTransport({ definition, entry, status }: Examined): Finding[] {
  const { name: subject, target } = definition;
  const configured = target.kind;
  const { transport } = status;
  if (configured !== "http" && configured !== "sse") return [];
  if ((transport !== "http" && transport !== "sse") || transport === configured) return [];
  const [is, was] = [TRANSPORTS[transport], TRANSPORTS[configured]];
  return [
    {
      level: "warning",
      check: "transport",
      subject,
      message: `${subject}: it speaks ${is}, but ${was} is configured`,
      remedy: `write "transport": "${transport}" into ${entry}`,
    },
  ];
}

function ofStart(examined: Examined): Finding[] {
  const { definition, entry, status, memory, noise, package: run } = examined;
  const { name: subject, timeout } = definition;
  const { state } = status;
  const findings: Finding[] = [];
  const startMs = state.kind === "ready" ? state.startMs : 0;
  if (startMs > Math.min(SLOW_START_MS, timeout / 2) && run?.wasCached !== false) {
    const message = `${subject}: its start took ${duration(startMs)}, and after ${duration(timeout)} it would have been given up`;
    const more = `give it more time, with "timeout": ${timeout * 2} in ${entry}`;
    const remedy =
      run?.runner === "npx"
        ? `install it once, and give its program as "command":\n  npm install -g ${shellWord(run.spec)}\nor ${more}`
        : more;
    findings.push({ level: "note", check: "slow-start", subject, message, remedy });
  }
  if (noise !== undefined) {
    findings.push({
      level: "note",
      check: "stdout-noise",
      subject,
      message: `${subject}: it writes text to stdout, which is for messages (${plural(noise.lines, "line")}, such as "${oneLine(noise.first, 60)}"); Plugboard skips it, other clients may fail`,
      remedy:
        "turn its log off or to stderr, if it has an option for that; otherwise tell its author",
    });
  }
  if (memory !== undefined && memory > MUCH_MEMORY) {
    findings.push({
      level: "note",
      check: "memory",
      subject,
      message: `${subject}: its processes take ${byteSize(roundedMemory(memory))} of memory`,
      remedy: `let it run only while it is used, with "lazy": true and "idleTimeout": 600000 in ${entry}`,
    });
  }
  return findings;
}

function ofOffer({ definition, entry, status, content }: Examined): Finding[] {
  const { name: subject } = definition;
  const { tools, hiddenByRules = 0, diagnostics } = status;
  const leftOut = diagnostics.filter(({ kind }) => kind === "left-out").length;
  const { resources = 0, prompts = 0, failure } = content ?? {};
  const findings: Finding[] = [];
  if (failure !== undefined) {
    findings.push({
      level: "warning",
      check: "content-not-listed",
      subject,
      message: `${subject}: its resources or prompts could not be listed: ${failure.message}`,
      remedy:
        failure.hint ??
        `its tools can be used; tell its author, or leave out its resources, with "resources": false in ${entry}`,
    });
  } else if (tools + hiddenByRules + leftOut + resources + prompts === 0) {
    findings.push({
      level: "warning",
      check: "offers-nothing",
      subject,
      message: `${subject}: it starts, but has no tools, no resources and no prompts`,
      remedy: `check "args" and "env" of ${entry}: many servers offer nothing without a key or a directory; for what it says: plugboard status ${shellWord(subject)}`,
    });
  }
  return findings;
}

/** Lists of the configuration are about tools, so that those who hide some may think that they hide more. */
function ofLists(
  { definition, status, content }: Examined,
  { rules = [] }: JudgeOptions,
): Finding[] {
  const { name: subject, guard } = definition;
  const { hiddenByRules = 0 } = status;
  const patterns = [...rules, ...(guard?.rules ?? [])].flatMap(({ allow = [], deny = [] }) => [
    ...allow,
    ...deny,
  ]);
  const named = new Set(patterns.map((text) => contentNamedBy(text)?.kind));
  const resources = named.has("resource") ? 0 : (content?.resources ?? 0);
  const prompts = named.has("prompt") ? 0 : (content?.prompts ?? 0);
  if (hiddenByRules === 0 || resources + prompts === 0) return [];
  const open = [
    ...(resources > 0 ? [plural(resources, "resource")] : []),
    ...(prompts > 0 ? [plural(prompts, "prompt")] : []),
  ].join(" and ");
  const deny = [
    ...(resources > 0 ? [`"${subject}/resource:*"`] : []),
    ...(prompts > 0 ? [`"${subject}/prompt:*"`] : []),
  ].join(", ");
  return [
    {
      level: "note",
      check: "content-left-open",
      subject,
      message: `${subject}: the rules hide ${plural(hiddenByRules, "tool")} and leave open its ${open}`,
      remedy: `if agents should not read ${resources + prompts === 1 ? "it" : "them"}, add ${deny} to "deny" in "tools" of the agent`,
    },
  ];
}

function ofNames({ definition, entry, tools }: Examined, options: JudgeOptions): Finding[] {
  const { name: subject, toolPrefix = subject } = definition;
  const { toolNames, toolNameLength = LONGEST_NAME } = options;
  const written = (prefix: string, tool: Tool): string =>
    toolNames.replaceAll("{server}", () => prefix).replaceAll("{tool}", () => ownName(tool));
  const changed = tools.filter((tool) => written(toolPrefix, tool) !== tool.name);
  const [shortest] = changed.toSorted((a, b) => ownName(a).length - ownName(b).length);
  if (shortest === undefined) return [];
  const isTooLong = (prefix: string, tool: Tool): boolean =>
    written(prefix, tool).length > toolNameLength;
  const cut = changed.filter((tool) => isTooLong(toolPrefix, tool));
  const short = shortened(toolPrefix);
  const mended = cut.filter((tool) => !isTooLong(short, tool));
  const what =
    cut.length > 0
      ? `longer than the ${toolNameLength} characters that models take, and cut`
      : "not valid for models, and changed";
  const names = listed(changed.map((tool) => `${shownName(tool)} is ${tool.name}`));
  const whose =
    changed.length === 1 ? "the name of a tool is" : `the names of ${changed.length} tools are`;
  return [
    {
      level: "note",
      check: "tool-names-changed",
      subject,
      message: `${subject}: ${whose} ${what}: ${names}`,
      remedy:
        mended.length > 0
          ? `write "toolPrefix": "${short}" into ${entry}: that stands before its tools instead of its name`
          : `there is nothing to do; in rules, a tool has the name that its server gives it: ${subject}/${shownName(shortest)}`,
    },
  ];
}

/** `my-long-server` becomes `mls`. */
function shortened(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const letters = words.length > 1 ? words.map((word) => word[0]).join("") : (words[0] ?? "s");
  return letters.slice(0, 4).toLowerCase();
}

/** Tools that a model would not get, because its provider refuses their schemas or they do not fit. */
function ofSchemas(
  { definition, tools }: Examined,
  { model, monotonic = () => performance.now() }: JudgeOptions,
): Finding[] {
  const { name: subject } = definition;
  const some: Tool[] = [];
  const refusals = new Map<string, { tool: string; reason: string; by: string[] }>();
  const end = monotonic() + SCHEMAS_MS;
  for (const each of tools.slice(0, MOST_SCHEMAS)) {
    if (monotonic() > end) break;
    some.push(each);
    for (const [provider, name] of PROVIDERS) {
      if (provider === model?.schemas) continue;
      for (const { tool, reason } of refusedBy(provider, [each])) {
        const known = refusals.get(tool) ?? { tool, reason, by: [] };
        known.by.push(name);
        refusals.set(tool, known);
      }
    }
  }
  const forModel = model === undefined ? [] : leftOutTools(some, model);
  return [
    ...forModel.map(({ subject: names = "a tool", message }): Finding => ({
      level: "warning",
      check: "tool-not-offered",
      subject,
      message: `${subject}: ${names}: ${message}`,
      remedy: `choose another model, or tell the server's author; the other tools are offered`,
    })),
    ...[...refusals.values()].slice(0, MOST_NAMES).map(({ tool, reason, by }): Finding => ({
      level: by.length === PROVIDERS.length ? "warning" : "note",
      check: "schema-refused",
      subject,
      message: `${subject}: ${tool} is not offered to models of ${inWords(by)}: ${reason}`,
      remedy: "tell the server's author that the input schema of this tool cannot be used",
    })),
  ];
}

function refusedBy(
  provider: SchemaProvider,
  tools: readonly Tool[],
): { tool: string; reason: string }[] {
  const found: { tool: string; reason: string }[] = [];
  const onLeftOut = (tool: Tool, reason: string): void => {
    found.push({ tool: shownName(tool), reason: oneLine(reason, 300) });
  };
  new ModelTools(() => tools, { providers: [provider], onLeftOut }).list();
  return found;
}

function ofDiagnostics({ definition, status }: Examined): Finding[] {
  const { name: subject } = definition;
  const word = shellWord(subject);
  const of = (kind: DiagnosticKind | undefined): typeof status.diagnostics =>
    status.diagnostics.filter((each) => each.kind === kind);
  const findings: Finding[] = [];
  const suspicious = of("suspicious");
  if (suspicious.length > 0) {
    const [first] = suspicious;
    // One about several tools names them itself.
    const shown = suspicious.map((each) => each.subject ?? each.message);
    const isOfSome = suspicious.every((each) => each.subject !== undefined);
    const count = isOfSome ? plural(suspicious.length, "tool") : "its tools";
    findings.push({
      level: "warning",
      check: "suspicious-description",
      subject,
      message: `${subject}: what it says about ${count} looks like an attempt to steer a model: ${listed(shown)}`,
      remedy: `read it, and remove the server if you do not trust it: plugboard tools ${first?.subject === undefined ? word : shellWord(`${subject}/${first.subject}`)}`,
    });
  }
  const leftOut = of("left-out");
  if (leftOut.length > 0) {
    const shown = leftOut.map((each) => `${each.subject ?? "one"} (${reasonIn(each.message)})`);
    findings.push({
      level: "warning",
      check: "left-out",
      subject,
      message: `${subject}: ${plural(leftOut.length, "definition")} of the server cannot be used and ${leftOut.length === 1 ? "is" : "are"} left out: ${listed(shown)}`,
      remedy: `tell the server's author; everything else of it works, and the whole list is here: plugboard status ${word}`,
    });
  }
  for (const { message } of of("unlisted")) {
    findings.push({
      level: "broken",
      check: "does-not-list",
      subject,
      message: `${subject}: the server runs, and answers with an error: ${message}`,
      remedy: `check what it was given: its arguments and its credentials; for all that it wrote: plugboard status ${word}`,
    });
  }
  for (const { message } of of("missing")) {
    findings.push({
      level: "note",
      check: "says-something-is-missing",
      subject,
      message: `${subject}: ${message}`,
      remedy: `some of its tools may not work until that is there; for all that it wrote: plugboard status ${word}`,
    });
  }
  for (const { message } of of("filter")) {
    findings.push({
      level: "warning",
      check: "filter-matches-nothing",
      subject,
      message: `${subject}: ${message}`,
      remedy: `correct the entry, or take it out; for what the server has: plugboard resources --server ${word}`,
    });
  }
  // Rules, pins and doubles have a group of their own, and the transport has been told.
  const other = of(undefined);
  if (other.length > 0) {
    const shown = other.map(diagnosticText);
    findings.push({
      level: "note",
      check: "unusual",
      subject,
      message: `${subject}: ${listed(shown, "; ")}`,
      remedy: `the server works nevertheless; for the whole text: plugboard status ${word}`,
    });
  }
  return findings;
}

/** Without the beginning that all these messages share: the finding says it once. */
function reasonIn(message: string): string {
  return message.replace(/^[\w ]+ left out: /, "");
}

function shownName(tool: Tool): string {
  return oneLine(ownName(tool), 60);
}

/** `a, b, c and 4 more` */
export function listed(names: readonly string[], between = ", "): string {
  const shown = names.slice(0, MOST_NAMES).join(between);
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown;
}
