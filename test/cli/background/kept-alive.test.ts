import { describe, expect, it } from "vitest";
import { isKeptAlive, keepAliveHint } from "../../../src/cli/background/kept-alive.ts";
import type { AgentConfig } from "../../../src/core/types/agent-config.ts";
import type { ServerDefinition } from "../../../src/core/types/server-definition.ts";
import { definition } from "../../support/definition.ts";

type Given = Partial<ServerDefinition>;

function agent(servers: Record<string, Given>, keepAlive?: boolean): AgentConfig {
  return {
    agentId: "default",
    toolNames: "mcp__{server}__{tool}",
    warnings: [],
    servers: Object.entries(servers).map(([name, given]) => definition({ name, ...given })),
    ...(keepAlive !== undefined && { keepAlive }),
  };
}

describe("a command starts a gateway in the background", () => {
  it.each<[string, AgentConfig, string | undefined, boolean]>([
    ["for a server", agent({ a: { keepAlive: true }, b: {} }), "a", true],
    ["for any server", agent({ a: { keepAlive: true }, b: {} }), undefined, true],
    ["not for another server", agent({ a: { keepAlive: true }, b: {} }), "b", false],
    ["not for a server that it does not know", agent({ a: { keepAlive: true } }), "c", false],
    ["for all servers of the agent", agent({ a: {} }, true), "a", true],
    ["not for one that says otherwise", agent({ a: { keepAlive: false } }, true), "a", false],
    ["not for a server that is off", agent({ a: { keepAlive: true, enabled: false } }), "a", false],
    ["not for a session's own", agent({ a: { scope: "session" } }, true), undefined, false],
    ["not without servers", agent({}, true), undefined, false],
    ["not if nothing says so", agent({ a: {} }), "a", false],
  ])("%s", (_, given, about, expected) => {
    expect(isKeptAlive(given, about)).toBe(expected);
  });
});

describe("a person is told about keepAlive", () => {
  const program = (command: string, ...args: string[]): Given => ({
    target: { kind: "stdio", command, args, env: {} },
  });
  it.each<[string, Given, boolean | undefined, boolean]>([
    ["playwright", program("npx", "-y", "@playwright/mcp@latest"), undefined, true],
    ["chrome-devtools", program("chrome-devtools-mcp"), undefined, true],
    ["puppeteer", program("npx", "@modelcontextprotocol/server-puppeteer"), undefined, true],
    ["another program", program("npx", "files"), undefined, false],
    ["one that is kept alive", { ...program("playwright"), keepAlive: true }, undefined, false],
    ["one that is not to be", { ...program("playwright"), keepAlive: false }, undefined, false],
    ["one of an agent that decides", program("playwright"), false, false],
    ["one for each session", { ...program("playwright"), scope: "session" }, undefined, false],
  ])("after a call to %s", (_, given, keepAlive, expected) => {
    const configured = agent({ page: given, other: program("playwright") }, keepAlive);
    expect(keepAliveHint(configured, ["page"]) !== undefined).toBe(expected);
  });

  it("only for servers that the command has used", () => {
    expect(keepAliveHint(agent({ page: program("playwright") }), [])).toBeUndefined();
  });
});
