// Puts a server's question to the person at the terminal: a form field by field, or a page to open.

import type {
  ElicitationAnswer,
  FormElicitation,
  OnElicitation,
  UrlElicitation,
} from "../../../model/elicitation.ts";
import { type FieldValue, type FormField, readForm } from "../../../model/form.ts";
import type { JsonObject } from "../../../model/json.ts";
import { truncate } from "../../../util/text.ts";
import { ask } from "../terminal/input.ts";
import { openBrowser } from "../terminal/browser.ts";
import type { CliContext } from "../context.ts";
import { fieldLines, readField } from "./form-field.ts";
import { visible } from "../terminal/visible.ts";

const MAX_MESSAGE = 2000;
/** How often a field is asked for before the form counts as left. */
const ATTEMPTS = 3;

/** One line of theirs, unless it is no longer wanted. */
type Read = (question: string, unless?: AbortSignal) => Promise<string>;

/** Undefined where nobody sits at a terminal: then servers are not told that they can ask. */
export function elicitationPrompt(context: CliContext): OnElicitation | undefined {
  const { io, screen, signal } = context;
  if (!isAttended(context)) return undefined;
  return async (request) => {
    // The arguments may have been typed, up to the end of it.
    if (!io.stdin.readable) return { action: "cancel" };
    const resume = screen.hush();
    const read: Read = (question, unless = signal) =>
      ask(question, io, AbortSignal.any([signal, request.signal, unless]));
    try {
      const { server, tool, message } = request;
      const during = tool === undefined ? "" : ` during ${visible(tool)}`;
      screen.note(`${visible(server)} asks${during}: ${visible(truncate(message, MAX_MESSAGE))}`);
      return request.mode === "form"
        ? await fillIn(request, read, context)
        : await openPage(request, read, context);
    } finally {
      resume();
    }
  };
}

/** Whether somebody sits at the terminal who can be asked in the middle of a call. */
export function isAttended({ io, screen, options }: CliContext): boolean {
  return io.stdin.isTTY === true && screen.terminal.err.isTerminal && !options.exitWithStdin;
}

async function fillIn(
  { schema, server }: FormElicitation,
  read: Read,
  { screen }: CliContext,
): Promise<ElicitationAnswer> {
  const fields = readForm(schema);
  // It has been checked before; what cannot be asked is not answered.
  if (typeof fields === "string") return { action: "decline" };
  if (fields.length > 0) {
    screen.note('  * is needed, "-" cancels; give no passwords or keys here');
  }
  const content: JsonObject = {};
  for (const field of fields) {
    const answer = await fillInField(field, read, screen);
    if (answer === "cancelled") return { action: "cancel" };
    const { value } = answer;
    // A name may be `__proto__`, which an assignment would not set.
    if (value !== undefined) {
      Object.defineProperty(content, field.name, { value, enumerable: true });
    }
  }
  const isAgreed = /^(?:y|yes)?$/i.test(
    (await read(`Send it to ${visible(server)}? [Y/n] `)).trim(),
  );
  return isAgreed ? { action: "accept", content } : { action: "decline" };
}

async function fillInField(
  field: FormField,
  read: Read,
  screen: CliContext["screen"],
): Promise<{ value: FieldValue | undefined } | "cancelled"> {
  const lines = fieldLines(field);
  const prompt = lines.pop() ?? "";
  for (const line of lines) screen.note(line);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const line = await read(prompt);
    if (line.trim() === "-") return "cancelled";
    const answer = readField(field, line);
    if ("value" in answer) return answer;
    screen.note(`  ${visible(field.title ?? field.name)} ${answer.problem}`);
  }
  return "cancelled";
}

async function openPage(
  { url, required, completed }: UrlElicitation,
  read: Read,
  { screen, io }: CliContext,
): Promise<ElicitationAnswer> {
  screen.note(`  ${url}`);
  const how = (await read(`Open it? [y]es, [m]yself, [N]o `)).trim();
  const byItself = /^y(?:es)?$/i.test(how);
  if (!byItself && !/^m(?:yself)?$/i.test(how)) return { action: "decline" };
  if (byItself && !(await openBrowser(url, io.env))) {
    screen.note("No browser could be started here: open the address above in one.");
  }
  if (!required) return { action: "accept" };
  const through = new AbortController();
  // The server may say so first; then nobody's line is waited for.
  const said = completed.then(() => "said");
  const line = read('Press Enter when you are through, "-" cancels ', through.signal);
  try {
    const typed = await Promise.race([said, line]);
    return typed.trim() === "-" ? { action: "cancel" } : { action: "accept" };
  } finally {
    line.catch(() => {});
    through.abort();
  }
}
