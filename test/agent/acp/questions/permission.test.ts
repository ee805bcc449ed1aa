import { expect, it } from "vitest";
import { permissionPrompt } from "../../../../src/agent/acp/questions/permission.ts";

it.each([
  [{ a: "<!-- ", z: "\u2800" }, '```\n{\n  "a": "<!-- ",\n  "z": "\\u2800"\n}\n```'],
  [{ a: "```" }, '````\n{\n  "a": "```"\n}\n````'],
])("the arguments %j are a code block that shows all of them", async (args, text) => {
  const asked: unknown[] = [];
  const ask = permissionPrompt({
    sessionId: "s",
    cwd: "/project",
    isAutomatic: () => false,
    preview: async () => undefined,
    client: {
      request: (_method: string, params: unknown) => {
        asked.push(params);
        return Promise.resolve({ outcome: { outcome: "cancelled" } } as never);
      },
    },
  });
  const request = { callId: "1", tool: "docs/x", hash: "h", publicName: "x", server: "docs", args };
  const rest = { hints: {}, trusted: false, reason: "r", always: "until-closed" } as const;
  expect(await ask({ ...request, ...rest }, undefined)).toBe("refuse");
  expect(asked).toMatchObject([{ toolCall: { content: [{ content: { text } }, {}, {}] } }]);
});
