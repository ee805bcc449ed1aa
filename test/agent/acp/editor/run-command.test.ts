// Which shell a command runs in, and what the user sees of it before.

import type { CreateTerminalRequest } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { CallDisplay } from "../../../../src/agent/acp/calls/display.ts";
import { runCommandTool } from "../../../../src/agent/acp/editor/run-command.ts";
import { Workspace } from "../../../../src/agent/acp/editor/workspace.ts";
import { systemClock } from "../../../../src/util/clock.ts";

it.each<[NodeJS.Platform, string, string[]]>([
  ["linux", "/bin/sh", ["-c", 'echo "a b"']],
  ["darwin", "/bin/sh", ["-c", 'echo "a b"']],
  ["win32", "cmd.exe", ["/d", "/s", "/c", 'echo "a b"']],
])("on %s", async (platform, command, args) => {
  const { context, asked, updates } = makeContext();
  const { tool } = runCommandTool(context, platform);
  const result = await tool.execute("1", { command: 'echo "a b"' });
  expect(result).toEqual({ content: [{ type: "text", text: "exit code 0\na b" }] });
  const [created] = asked as CreateTerminalRequest[];
  expect(created).toMatchObject({ command, args, cwd: "/project" });
  const content = [{ type: "terminal", terminalId: "t" }];
  expect(updates).toMatchObject([{ toolCallId: "1", content }]);
});

it.each([
  [
    "git status \u001b]0; touch /tmp/x # \u0007",
    "git status \\u{1b}]0; touch /tmp/x # \\u{7}",
    "```\ngit status \\u{1b}]0; touch /tmp/x # \\u{7}\n```\nin\n```\n/project\n```",
  ],
  [
    "echo <!--\n```\nrm x",
    "echo <!--\\u{a}```\\u{a}rm x",
    "````\necho <!--\n```\nrm x\n````\nin\n```\n/project\n```",
  ],
])("the user sees all of the command %j", async (command, title, text) => {
  const tool = runCommandTool(makeContext().context, "linux");
  const shown = await tool.preview?.({ command }, undefined);
  expect(shown).toMatchObject({ title: `run ${title}`, content: [{ content: { text } }] });
});

function makeContext() {
  const asked: unknown[] = [];
  const updates: unknown[] = [];
  const answer = { terminalId: "t", output: "a b\n", truncated: false, exitCode: 0 };
  const context = {
    sessionId: "s",
    workspace: new Workspace("/project", ["/project"]),
    client: {
      capabilities: () => ({ terminal: true }),
      // We cannot run an editor on another operating system here.
      request: (_method: string, params: unknown) => {
        asked.push(params);
        return Promise.resolve(answer as never);
      },
    },
    display: new CallDisplay({
      cwd: "/project",
      roots: ["/project"],
      send: (update) => updates.push(update),
    }),
    clock: systemClock,
  };
  return { context, asked, updates };
}
