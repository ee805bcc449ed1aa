// `run_command`: a line of shell in a terminal of the editor's, where the person sees it run.

import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { JsonObject } from "../../../model/json.ts";
import { duration, oneLine, plainText } from "../../../util/text.ts";
import { textContent } from "../wire/content.ts";
import { parametersOf, readArguments } from "./arguments.ts";
import type { EditorContext, EditorTool } from "./editor-tool.ts";
import { type Ran, runInTerminal } from "./terminal.ts";

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 3600;
/** The end of a longer output is kept: that is where the errors are. */
const OUTPUT_BYTES = 64 * 1024;
const LONGEST_TITLE = 80;

const schema = z.object({
  command: z.string().min(1).describe("One line for the shell (sh, on Windows cmd)."),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe("Where it runs. Default: the session's directory, where relative paths start."),
  timeout: z
    .number()
    .positive()
    .max(MOST_SECONDS)
    .optional()
    .describe(`Seconds until it is ended. Default ${DEFAULT_SECONDS}.`),
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
        "Runs a shell command in a terminal of the editor's and gives its exit code and output. " +
        "Nobody types anything into it.",
      parameters: parametersOf(schema),
      annotations: {
        title: "run",
        readOnlyHint: false,
        destructiveHint: true,
        openWorldHint: true,
      },
      async execute(_id, args, signal) {
        const { line, cwd, timeoutMs } = read(args);
        const command = { ...shellFor(line, platform), cwd, outputByteLimit: OUTPUT_BYTES };
        const onOpen = (terminalId: string): void =>
          display.show({ content: [{ type: "terminal", terminalId }] });
        const ran = await runInTerminal({ command, timeoutMs, onOpen }, context, signal);
        const content = [{ type: "text" as const, text: report(ran, timeoutMs) }];
        return ran.end.kind === "timeout" ? { content, isError: true } : { content };
      },
    },
    async preview(args) {
      const { line, cwd } = read(args);
      return {
        kind: "execute",
        title: `run ${oneLine(line, LONGEST_TITLE)}`,
        content: commandContent(line, cwd),
        // For all commands there could be, nobody should be able to say yes by one click.
        always: { name: "Always allow this command", key: JSON.stringify([cwd, line]) },
      };
    },
  };
}

/** Program and arguments apart: what an editor starts need not go through a shell of its own. */
function shellFor(line: string, platform: NodeJS.Platform): { command: string; args: string[] } {
  return platform === "win32"
    ? { command: "cmd.exe", args: ["/d", "/s", "/c", line] }
    : { command: "/bin/sh", args: ["-c", line] };
}

/** A command that failed is a result like any other: its code says so, and its output why. */
function report({ end, output }: Ran, timeoutMs: number): string {
  const parts = [howItEnded(end, timeoutMs)];
  if (output === undefined) parts.push("(the editor did not give its output)");
  else if (output.isCut) parts.push("(the beginning of the output is left out)");
  const text = plainText(output?.text ?? "").trimEnd();
  return [...parts, ...(text === "" ? [] : [text])].join("\n");
}

function howItEnded(end: Ran["end"], timeoutMs: number): string {
  if (end.kind === "timeout") return `ended after ${duration(timeoutMs)}, which is its timeout`;
  const { exitCode, signal } = end.status;
  if (typeof exitCode === "number") return `exit code ${exitCode}`;
  return typeof signal === "string" ? `ended by ${oneLine(signal, 40)}` : "ended";
}

function commandContent(line: string, cwd: string): ToolCallContent[] {
  const shown = plainText(line);
  const note = shown === line ? "" : "\n(characters that cannot be seen are left out here)";
  return [textContent(`${shown}\nin ${cwd}${note}`)];
}
