// `run_command`: runs a shell command in a terminal of the editor, where the user can watch it.

import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { JsonObject } from "../../../core/types/json.ts";
import { duration, oneLine, plainText, truncate } from "../../../util/text.ts";
import { visible } from "../../../util/visible.ts";
import { fenced, textContent } from "../wire/content.ts";
import { type EditorContext, type EditorTool, parametersOf, readArguments } from "./editor-tool.ts";
import { runInTerminal, type TerminalResult } from "./terminal.ts";

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 3600;
/** Only the end of a longer output is kept, because that is where the errors are. */
const OUTPUT_BYTES = 64 * 1024;
const LONGEST_TITLE = 80;

const schema = z.object({
  command: z.string().min(1).describe("The command line for the shell (sh, on Windows cmd)."),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe("Where it runs. Default: the session's directory. Relative paths start there too."),
  timeout: z
    .number()
    .positive()
    .max(MOST_SECONDS)
    .optional()
    .describe(`Seconds until the command is stopped. Default ${DEFAULT_SECONDS}.`),
});

export function runCommandTool(
  context: EditorContext,
  platform: NodeJS.Platform = process.platform,
): EditorTool {
  const { workspace, display } = context;
  const read = (args: JsonObject) => {
    const { command, cwd = ".", timeout = DEFAULT_SECONDS } = readArguments(schema, args);
    return { line: command, cwd: workspace.resolve(cwd), timeoutMs: timeout * 1000 };
  };
  return {
    tool: {
      name: "run_command",
      description:
        "Runs a shell command in a terminal of the editor and returns its exit code and output. " +
        "Nobody answers its prompts.",
      parameters: parametersOf(schema),
      annotations: {
        title: "run",
        readOnlyHint: false,
        destructiveHint: true,
        openWorldHint: true,
      },
      async execute(callId, args, signal) {
        const { line, cwd, timeoutMs } = read(args);
        const command = { ...shellFor(line, platform), cwd, outputByteLimit: OUTPUT_BYTES };
        const onOpen = (terminalId: string): void =>
          display.attach(callId, { content: [{ type: "terminal", terminalId }] });
        const ran = await runInTerminal({ command, timeoutMs, onOpen }, context, signal);
        const content = [{ type: "text" as const, text: report(ran, timeoutMs) }];
        return ran.end.kind === "timeout" ? { content, isError: true } : { content };
      },
    },
    async preview(args) {
      const { line, cwd } = read(args);
      return {
        kind: "execute",
        title: `run ${truncate(visible(line), LONGEST_TITLE)}`,
        content: commandContent(line, cwd),
        // One click must not allow every command there could be.
        always: { name: "Always allow this command", key: JSON.stringify([cwd, line]) },
      };
    },
  };
}

/** Program and arguments are separate, because editors need not start a command through a shell. */
function shellFor(line: string, platform: NodeJS.Platform): { command: string; args: string[] } {
  return platform === "win32"
    ? { command: "cmd.exe", args: ["/d", "/s", "/c", line] }
    : { command: "/bin/sh", args: ["-c", line] };
}

/** A command that failed is an ordinary result: its exit code says so, and its output says why. */
function report({ end, output }: TerminalResult, timeoutMs: number): string {
  const parts = [endText(end, timeoutMs)];
  if (output === undefined) parts.push("(the editor did not return its output)");
  else if (output.isCut) parts.push("(the beginning of the output is left out)");
  const text = plainText(output?.text ?? "").trimEnd();
  return [...parts, ...(text === "" ? [] : [text])].join("\n");
}

function endText(end: TerminalResult["end"], timeoutMs: number): string {
  if (end.kind === "timeout") return `stopped after its timeout of ${duration(timeoutMs)}`;
  const { exitCode, signal } = end.status;
  if (typeof exitCode === "number") return `exit code ${exitCode}`;
  return typeof signal === "string" ? `ended by ${oneLine(signal, 40)}` : "ended";
}

/** Every character that the shell gets: what the user approves must not be less than what runs. */
function commandContent(line: string, cwd: string): ToolCallContent[] {
  const rows = line.split("\n").map(visible);
  return [textContent(`${fenced(rows.join("\n"))}\nin\n${fenced(visible(cwd))}`)];
}
