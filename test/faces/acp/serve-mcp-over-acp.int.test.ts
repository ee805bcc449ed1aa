// Servers that run in the editor: MCP over ACP, with the ACP SDK's own client and provider on the other side.

import { tmpdir } from "node:os";
import { methods, RequestError } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { type Declared, EditorServers, workshop } from "./editor-servers.ts";
import { useDesk } from "./harness.ts";

const desk = useDesk();

type Editor = Awaited<ReturnType<typeof desk.open>>;

async function openEditor(options: Parameters<typeof desk.open>[0] = {}) {
  const servers = new EditorServers();
  const editor = await desk.open({ mcpOverAcp: true, equip: servers.equip, ...options });
  return { editor, servers };
}

async function newSession(editor: Editor, ...mcpServers: Declared[]): Promise<string> {
  const params = { cwd: tmpdir(), mcpServers };
  const { sessionId } = await editor.agent.request<{ sessionId: string }>("session/new", params);
  return sessionId;
}

describe("a server in the editor", () => {
  it("is used like any other", async () => {
    const { editor, servers } = await openEditor();
    const shop = workshop();
    const { declaration } = servers.register(editor.connection, "shop", shop.handler);
    const session = await newSession(editor, declaration);
    expect(await editor.ask(session, "/mcp")).toBe("- shop: ready, 5 tools");
    expect(await editor.call(session, "shop/shout", { text: "hey" })).toBe("HEY");
    expect(await editor.call(session, "shop/count")).toBe("counted");
  });
});
