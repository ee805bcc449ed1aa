// What an editor does: it starts `plugboard acp`, opens a session with a server of its own, and calls a tool.
// Run it after `npm ci`:
//   node examples/acp-session.mjs
// Without a model the agent still has commands, such as /tools and /call.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

// In your editor's settings: npx plugboard acp
const plugboard = fileURLToPath(new URL("../dist/bin.cjs", import.meta.url));
const home = await mkdtemp(join(tmpdir(), "plugboard-acp-"));
const agent = spawn(process.execPath, [plugboard, "acp"], {
  env: { ...process.env, PLUGBOARD_HOME: home },
  stdio: ["pipe", "pipe", "inherit"],
});

const connection = client({ name: "an editor" })
  // What the agent says and does.
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === "agent_message_chunk") console.log(update.content.text);
    if (update.sessionUpdate === "tool_call") console.log(`[call] ${update.title}`);
    if (update.status === "completed") console.log(`[result] ${update.content[0].content.text}`);
  })
  // An editor would show this question to you.
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    console.log(`[question] ${params.options.map(({ name }) => name).join(" | ")}`);
    const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  })
  .connect(ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)));

async function say(sessionId, text) {
  console.log(`\n> ${text}`);
  await connection.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: "text", text }],
  });
}

try {
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: {},
  });
  const everything = ["-y", "@modelcontextprotocol/server-everything"];
  const { sessionId } = await connection.agent.request(methods.agent.session.new, {
    cwd: process.cwd(),
    mcpServers: [{ name: "everything", command: "npx", args: everything, env: [] }],
  });
  await say(sessionId, "/tools sum");
  await say(sessionId, "/call everything/get-sum a=2 b=40");
} finally {
  // The session's servers end with the agent, and the agent with its input.
  agent.stdin.end();
  await once(agent, "exit");
  await rm(home, { recursive: true });
}
