// `plugboard secrets check`: gets the value of every reference, and says which work. Shows no value.

import { type AgentSecrets, isShort, SHORT_SECRET } from "../../core/board/agent-secrets.ts";
import { formatProblem } from "../../core/config/issue.ts";
import { resolveValue } from "../../core/config/resolve.ts";
import { textsOf, type PlacedText } from "../../core/config/secret-references.ts";
import { referencesIn, parseTemplate } from "../../core/config/schema/references.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import { oneLine, plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { loadTrusted } from "../trust/load-trusted.ts";
import { withSecrets } from "../store-secret.ts";

const COLUMNS: readonly Column[] = [
  { title: "SERVER", min: 8 },
  { title: "PLACE", min: 12 },
  { title: "REFERENCE", min: 20 },
  { title: "RESULT", min: 16 },
];

/** Stands in the place of a server's name. */
const MODEL = "(model)";

/** A reference as it is written, and what came of it. */
export interface CheckedReference {
  server?: string | undefined;
  key: string;
  reference: string;
  failure?: PlugboardError;
  /** A warning about a value that works. */
  warning?: string;
}

const SHORT = `it ${SHORT_SECRET}, so it is not redacted`;

export async function runCheck(context: CliContext): Promise<number> {
  const { screen, options, logger } = context;
  const agent = await loadTrustedAgent(context);
  const checked = await checkReferences(agent, context);
  for (const warning of agent.warnings) logger.warn(formatProblem(warning));
  const failed = checked.filter(({ failure }) => failure !== undefined);
  const exitCode = failed.length === 0 ? EXIT.ok : EXIT.unavailable;
  if (options.json) {
    screen.json({ references: checked.map(toJson), failed: failed.length });
    return exitCode;
  }
  if (checked.length === 0) {
    screen.note("no server and no model refers to a secret or a variable");
    return exitCode;
  }
  const { width, paint } = screen.terminal.out;
  const rows = checked.map(({ server = MODEL, key, reference, failure, warning }) => ({
    cells: [
      server,
      key,
      reference,
      failure === undefined
        ? warning === undefined
          ? { text: "ok", tone: "green" as const }
          : { text: `ok, but ${warning}`, tone: "yellow" as const }
        : { text: causeOf(failure), tone: "red" as const },
    ],
  }));
  screen.lines(renderTable(COLUMNS, rows, { width, paint }));
  for (const line of hintLines(failed)) screen.note(line);
  if (failed.length > 0) {
    screen.note(`${failed.length} of ${plural(checked.length, "reference")} cannot be resolved`);
  }
  return exitCode;
}

/** Gets the value of every reference, and forgets it. Rejects with CANCELLED when the command must end. */
export function checkReferences(
  agent: AgentConfig,
  context: CliContext,
): Promise<CheckedReference[]> {
  return withSecrets(agent, context, async (secrets) =>
    (await Promise.all(textsOf(agent).map((text) => checkText(text, secrets, context)))).flat(),
  );
}

/** Each hint once, with the servers that it is for where there are several to choose from. */
function hintLines(failed: readonly CheckedReference[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const { server = MODEL, failure } of failed) {
    if (failure?.hint === undefined) continue;
    places.set(failure.hint, (places.get(failure.hint) ?? new Set()).add(server));
  }
  return [...places].map(([hint, servers]) => {
    const [first = "", ...others] = servers;
    const more = others.length === 0 ? "" : ` and ${plural(others.length, "other")}`;
    const whom = failed.length === 1 ? "" : ` for ${visible(first)}${more}`;
    return `hint${whom}: ${visible(hint)}`;
  });
}

/** As other commands: a file that nobody has trusted gets no secrets, and none of its programs run. */
async function loadTrustedAgent(context: CliContext): Promise<AgentConfig> {
  const source = findSource(context);
  const found = source.kind === "file" ? await loadTrusted(source, context) : undefined;
  if (found !== undefined) return found.agent;
  throw new PlugboardError("CONFIG_INVALID", "there is no configuration here", {
    hint: "name one with --config <file>, or add a server: plugboard add",
  });
}

/** The secrets and the variables in one value. */
async function checkText(
  { server, key, text, baseDir }: PlacedText,
  secrets: AgentSecrets,
  { io, signal }: CliContext,
): Promise<CheckedReference[]> {
  const place = { server, key };
  const written = writtenReferences(text);
  return Promise.all(
    written.map(async (reference): Promise<CheckedReference> => {
      const checked = { ...place, reference };
      try {
        const values: string[] = [];
        await resolveValue(reference, key, io.env, async (needed) => {
          const value = await secrets.resolve({ ...needed, server, baseDir, signal });
          values.push(value);
          return value;
        });
        return values.some(isShort) ? { ...checked, warning: SHORT } : checked;
      } catch (error) {
        const failure = toPlugboardError(error, "SECRET_UNAVAILABLE");
        if (failure.code === "CANCELLED") throw error;
        return { ...checked, failure };
      }
    }),
  );
}

/** Each as it would stand alone: `secret://…` or `${NAME}`. */
function writtenReferences(text: string): string[] {
  const template = parseTemplate(text);
  if (template.kind === "malformed") return [];
  if (template.isReference) return [text];
  const variables = template.parts.flatMap((part) =>
    part.kind !== "variable" ? [] : part.fallback === undefined ? [`\${${part.name}}`] : [],
  );
  return [...new Set([...referencesIn(text).map((each) => each.text), ...variables])];
}

/** Without the place and the reference, which stand beside it. */
function causeOf(failure: PlugboardError): string {
  const { cause, message } = failure;
  return oneLine(cause instanceof PlugboardError ? cause.message : message, 300);
}

function toJson({ server, key, reference, failure, warning }: CheckedReference): object {
  return {
    ...(server !== undefined && { server }),
    key,
    reference,
    ok: failure === undefined,
    ...(warning !== undefined && { warning }),
    ...(failure && {
      error: { code: failure.code, message: causeOf(failure), hint: failure.hint },
    }),
  };
}
