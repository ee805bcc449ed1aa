// Which shell a command runs in.

import type { CreateTerminalRequest } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { CallDisplay } from "../../../../src/faces/acp/calls/display.ts";
import { runCommandTool } from "../../../../src/faces/acp/editor/run-command.ts";
import { Workspace } from "../../../../src/faces/acp/editor/workspace.ts";
import { systemClock } from "../../../../src/util/clock.ts";

it.each<[NodeJS.Platform, string, string[]]>([
  ["linux", "/bin/sh", ["-c", 'echo "a b"']],
  ["darwin", "/bin/sh", ["-c", 'echo "a b"']],
  ["win32", "cmd.exe", ["/d", "/s", "/c", 'echo "a b"']],
])("on %s", async (platform, command, args) => {
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
  const { tool } = runCommandTool(context, platform);
  const result = await tool.execute("1", { command: 'echo "a b"' });
  expect(result).toEqual({ content: [{ type: "text", text: "exit code 0\na b" }] });
  const [created] = asked as CreateTerminalRequest[];
  expect(created).toMatchObject({ command, args, cwd: "/project" });
  const content = [{ type: "terminal", terminalId: "t" }];
  expect(updates).toMatchObject([{ toolCallId: "1", content }]);
});
