// What a hostile agent tells the client of its calls in ways that a client may read and we do not: a permission that the
// client gives over it does not count, and Plugboard asks itself. The client is the test's, and permits everything; the
// board and its server are real.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { fixture } from "../../support/boards.ts";
import { eventually, expectNoProcesses } from "../../support/processes.ts";
import { type Json, SILENT, startFront } from "./memory-front.ts";

afterAll(() => expectNoProcesses());

const ARGS = { text: "x" };
const CALL = { toolCallId: "t", title: "mcp__plugboard__mcp__e__echo", rawInput: ARGS };
const OPTIONS = [
  { optionId: "allow", name: "Yes", kind: "allow_once" },
  { optionId: "reject", name: "No", kind: "reject_once" },
];
const WORDS = [{ type: "content", content: { type: "text", text: "Lists files." } }];
const SHOWN = { sessionUpdate: "tool_call_update", toolCallId: "t", content: WORDS };
const QUESTION = "session/request_permission";

const line = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });
const update = (sessionId: string, shown: object): string =>
  line({ method: "session/update", params: { sessionId, update: shown } });
const BEGUN = { sessionUpdate: "tool_call", ...CALL };
const { toolCallId: _, ...WITHOUT_ID } = SHOWN;

/** What the agent says before it asks, in the session of this id. */
type Says = (sessionId: string) => string;

const HARMLESS: [string, Says][] = [
  ["nothing", () => ""],
  ["a plain call", (id) => update(id, BEGUN)],
  ["words of another call", (id) => update(id, { ...SHOWN, toolCallId: "u" })],
  [
    "words",
    (id) => update(id, { sessionUpdate: "agent_message_chunk", content: WORDS[0]?.content }),
  ],
  ["a request of its own", () => line({ id: "x", method: "_x/y", params: { update: { a: 1 } } })],
];

const HOSTILE: [string, Says][] = [
  ["an update of the call", (id) => update(id, SHOWN)],
  ["an update in an array", (id) => `[${update(id, SHOWN)}]`],
  [
    "a question with an invalid id",
    (id) =>
      line({
        id: {},
        method: QUESTION,
        params: { sessionId: id, toolCall: SHOWN, options: OPTIONS },
      }),
  ],
  [
    // A client that puts a mark in place of half a character answers the question of the id "\ufffd" too.
    "a question whose id others write in another way",
    (id) => line({ id: "\ud800", method: "_x/y", params: { sessionId: id } }),
  ],
  [
    "a question whose id others round",
    (id) => line({ id: 2 ** 53, method: "_x/y", params: { sessionId: id } }),
  ],
  [
    "an update that others take for an answer",
    (id) =>
      line({ method: "session/update", params: { sessionId: id, update: BEGUN }, result: {} }),
  ],
  [
    "an update as a request",
    (id) => line({ id: 7, method: "session/update", params: { sessionId: id, update: SHOWN } }),
  ],
  [
    "a question as a notification",
    (id) =>
      line({ method: QUESTION, params: { sessionId: id, toolCall: SHOWN, options: OPTIONS } }),
  ],
  [
    "an update twice, the second time about no call",
    (id) => update(id, SHOWN).replace(/\}\}$/, `,"update":{"sessionUpdate":"plan","entries":[]}}}`),
  ],
  ["a method twice", (id) => update(id, SHOWN).replace(/\}$/, `,"method":"_x/y"}`)],
  ["the id of a call in other letters", (id) => update(id, { ...WITHOUT_ID, ToolCallId: "t" })],
  ["the id of a call as Python has it", (id) => update(id, { ...WITHOUT_ID, tool_call_id: "t" })],
  [
    "parameters in other letters",
    (id) => line({ method: "session/update", params: { sessionId: id, Update: SHOWN } }),
  ],
  [
    "an answer that has a method in other letters",
    (id) =>
      line({
        id: 99,
        result: {},
        Method: "session/update",
        params: { sessionId: id, update: SHOWN },
      }),
  ],
  ["the id of a call as a number", (id) => update(id, { ...SHOWN, toolCallId: 1 })],
  ["the id of the session as others write the same letters", () => update("\u00e9", SHOWN)],
  [
    "an update between two carriage returns",
    (id) => `{"jsonrpc":"2.0","method":"_x/y","params":\r${update(id, SHOWN)}\r}`,
  ],
  ["an update that is no JSON-RPC", (id) => update(id, BEGUN).replace('"jsonrpc":"2.0",', "")],
  ["an update with half a character", (id) => update(id, { ...BEGUN, _meta: { "\ud800": 1 } })],
  [
    "an update with a number that is too large",
    (id) => update(id, { ...BEGUN, _meta: { n: 0 } }).replace('"n":0', '"n":1e400'),
  ],
  [
    "an update that is nested too deeply",
    (id) =>
      update(id, BEGUN).replace(
        '"update":',
        `"_meta":${'{"a":'.repeat(64)}1${"}".repeat(64)},"update":`,
      ),
  ],
];

it("a permission counts after what is plain, and not after what the client may read otherwise", async () => {
  let sessions = 0;
  const servers = new Map<string, Json>();
  const front = await startFront({
    servers: { e: fixture("echo") },
    capabilities: { mcpCapabilities: { http: true }, loadSession: true },
    script: {
      "session/new": ({ mcpServers }) => {
        const sessionId = `s${(sessions += 1)}`;
        servers.set(sessionId, mcpServers[0]);
        return { sessionId };
      },
      "session/load": ({ sessionId, mcpServers }, agent) => {
        servers.set(sessionId, mcpServers[0]);
        // It replays what has happened before.
        if (sessionId === "replays") agent.say(update(sessionId, SHOWN));
        return {};
      },
      "session/prompt": () => SILENT,
    },
  });
  let read = 0;
  const answering = setInterval(() => {
    for (; read < front.lines.length; read += 1) {
      const { id, method }: Json = JSON.parse(front.lines[read] ?? "");
      if (method !== QUESTION || id === undefined) continue;
      front.send({ id, result: { outcome: { outcome: "selected", optionId: "allow" } } });
    }
  }, 2);
  onTestFinished(() => clearInterval(answering));
  const isAsked = (text: string, sessionId: string): boolean =>
    text.includes(`"${QUESTION}"`) && text.includes(`"sessionId":"${sessionId}"`);

  /** How often the person is asked before the call is made, if the agent says this first. */
  const questionsAfter = async (sessionId: string, said: string): Promise<number> => {
    const { url, headers } = servers.get(sessionId);
    const sent = headers.map(({ name, value }: Json) => [name, value]);
    const requestInit = { headers: Object.fromEntries(sent) };
    const mcp = new Client({ name: "agent", version: "1" });
    await mcp.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    await mcp.listTools();
    front.send({ id: sessionId, method: "session/prompt", params: { sessionId, prompt: [] } });
    await eventually(() => front.agent().asked("session/prompt").at(-1)?.id === sessionId);
    if (said !== "") front.agent().say(said);
    const before = front.lines.filter((text) => isAsked(text, sessionId)).length;
    const id = `q-${sessionId}`;
    front
      .agent()
      .say({ id, method: QUESTION, params: { sessionId, toolCall: CALL, options: OPTIONS } });
    await eventually(() => front.agent().received.some((each) => each.id === id));
    const { content } = await mcp.callTool({ name: "mcp__e__echo", arguments: ARGS });
    expect(JSON.stringify(content)).toContain("x");
    await mcp.close();
    return front.lines.filter((text) => isAsked(text, sessionId)).length - before;
  };
  const counted: Record<string, number> = {};
  for (const [name, says] of [...HARMLESS, ...HOSTILE]) {
    const id = await front.newSession();
    counted[name] = await questionsAfter(id, says(id));
  }
  const load = (sessionId: string) =>
    front.request("session/load", { sessionId, cwd: "/", mcpServers: [] });
  await load("loaded");
  counted["a session that was loaded"] = await questionsAfter("loaded", "");
  await load("replays");
  counted["what it has replayed"] = await questionsAfter("replays", "");
  front.agent().say(update("early", SHOWN));
  await load("early");
  counted["what it said before the session was open"] = await questionsAfter("early", "");
  await load("again");
  front.agent().say(update("again", SHOWN));
  // Another setup, so that the session gets another board.
  await front.request("session/load", { sessionId: "again", cwd: "/tmp", mcpServers: [] });
  counted["what the client had before the session was opened again"] = await questionsAfter(
    "again",
    "",
  );
  expect(counted).toEqual({
    ...Object.fromEntries(HARMLESS.map(([name]) => [name, 1])),
    ...Object.fromEntries(HOSTILE.map(([name]) => [name, 2])),
    "a session that was loaded": 1,
    "what it has replayed": 2,
    "what it said before the session was open": 2,
    "what the client had before the session was opened again": 2,
  });
});
