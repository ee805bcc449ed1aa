// An ACP agent around tsagent's core, as small as it can be: `node acp-server.mjs <agent.yaml>`. Like the acp-server in tsagent's
// repository, which is not on npm, it connects to the servers of the agent's file when it starts and ignores those of a session.
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { agent as acpAgent, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { loadAndInitializeAgent } from "@tsagent/core/runtime";

const quiet = { debug() {}, info() {}, warn() {}, error: console.error };
const agent = await loadAndInitializeAgent(process.argv[2], quiet);
const { initialize, session } = methods.agent;

const connection = acpAgent({ name: agent.name })
  .onRequest(initialize, () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: false },
    agentInfo: { name: agent.name, version: agent.getMetadata().version ?? "1.0.0" },
  }))
  .onRequest(session.new, () => {
    const sessionId = randomUUID();
    agent.createChatSession(sessionId, { autonomous: true });
    return { sessionId };
  })
  .onRequest(session.prompt, async ({ params, client }) => {
    const text = params.prompt.map((block) => block.text ?? "").join("\n");
    const { updates } = await agent.getChatSession(params.sessionId).handleMessage(text);
    const results = updates
      .flatMap(({ modelReply }) => modelReply?.turns ?? [])
      .flatMap((turn) => turn.results ?? []);
    for (const { type, text: said } of results) {
      if (type !== "text") continue;
      const update = { sessionUpdate: "agent_message_chunk", content: { type, text: said } };
      const { sessionId } = params;
      await client.notify(methods.client.session.update, { sessionId, update });
    }
    return { stopReason: "end_turn" };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

await connection.closed;
for (const client of Object.values(await agent.getAllMcpClients())) await client.disconnect();
