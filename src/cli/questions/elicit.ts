// Asks the person at the terminal what a server wants to know: a form field by field, or a page to open.

import type {
  ElicitationAnswer,
  FormElicitation,
  OnElicitation,
  UrlElicitation,
} from "../../core/types/elicitation.ts";
import { type FieldValue, type FormField, readForm } from "../../core/types/form.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { truncate } from "../../util/text.ts";
import { askLine } from "../terminal/input.ts";
import { openBrowser } from "../terminal/browser.ts";
import type { CliContext } from "../context.ts";
import { isAttended } from "./attended.ts";
import { fieldLines, readField } from "./form-field.ts";
import { visible } from "../../util/visible.ts";

const MAX_MESSAGE = 2000;
/** After this many invalid answers to a field, the form counts as cancelled. */
const ATTEMPTS = 3;

/** Asks for one line, until `unless` aborts. */
type ReadLine = (question: string, unless?: AbortSignal) => Promise<string>;

/** Undefined where no person sits at a terminal: then servers are told that they cannot ask. */
export function elicitationPrompt(context: CliContext): OnElicitation | undefined {
  const { io, screen, signal } = context;
  if (!isAttended(context)) return undefined;
  return async (request) => {
    // Stdin has ended if the arguments came from it.
    if (!io.stdin.readable) return { action: "cancel" };
    const resume = screen.pauseLive();
    const read: ReadLine = (question, unless = signal) =>
      askLine(question, {
        ...context,
        signal: AbortSignal.any([signal, request.signal, unless]),
      });
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

async function fillIn(
  { schema, server }: FormElicitation,
  read: ReadLine,
  { screen }: CliContext,
): Promise<ElicitationAnswer> {
  const fields = readForm(schema);
  // A form that cannot be shown was refused before; this satisfies the type.
  if (typeof fields === "string") return { action: "decline" };
  if (fields.length > 0) {
    screen.note('  * is required, "-" cancels; do not enter passwords or keys here');
  }
  const content: JsonObject = {};
  for (const field of fields) {
    const answer = await fillInField(field, read, screen);
    if (answer === "cancelled") return { action: "cancel" };
    const { value } = answer;
    // Assigning would not set a field named `__proto__`.
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
  read: ReadLine,
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
  read: ReadLine,
  { screen, io }: CliContext,
): Promise<ElicitationAnswer> {
  screen.note(`  ${url}`);
  const how = (await read("Open it? [y]es, [m]yself, [N]o ")).trim();
  const byItself = /^y(?:es)?$/i.test(how);
  if (!byItself && !/^m(?:yself)?$/i.test(how)) return { action: "decline" };
  if (byItself && !(await openBrowser(url, io.env))) {
    screen.note("Could not start a browser: open the address above yourself.");
  }
  if (!required) return { action: "accept" };
  const answered = new AbortController();
  // The server may report that it is done before the person does.
  const reported = completed.then(() => "done");
  const line = read('Press Enter when you are done, "-" cancels ', answered.signal);
  try {
    const typed = await Promise.race([reported, line]);
    return typed.trim() === "-" ? { action: "cancel" } : { action: "accept" };
  } finally {
    line.catch(() => {});
    answered.abort();
  }
}
