// What is checked with each agent: that the front changes nothing but the servers, and that these work.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AGENTS } from "./lib/agents.mjs";
import { toolNames, USE_BOTH } from "./lib/script.mjs";

const run = promisify(execFile);
const EXAMPLE = fileURLToPath(new URL("../../examples/tsagent/agent.mjs", import.meta.url));

/** How long what was started may take to end. */
const GONE_MS = 10_000;

const ASKING = { account: true, approval: "ask" };

const INITIALIZE = {
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  clientInfo: { name: "plugboard-agents", version: "1.0.0" },
};

export const CHECKS = [
  ...AGENTS.flatMap((agent) => [
    {
      name: `${agent.name}: initialize, as without the front apart from http, sse and close`,
      run: (rig) => checkInitialize(rig, agent),
    },
    ...(agent.refuses === undefined
      ? []
      : [
          {
            name: `${agent.name} without an account: its refusal is passed on`,
            run: (rig) => checkRefusal(rig, agent),
          },
        ]),
    {
      name: `${agent.name}: gets one server for the client's and the operator's, and a model uses both`,
      run: (rig) => checkTurn(rig, agent),
    },
    {
      name: `${agent.name}: two sessions, each with its own servers, and both can be closed`,
      run: (rig) => checkSessions(rig, agent),
    },
  ]),
  {
    name: "tsagent: the example with its core runs to its end",
    run: checkExample,
  },
  {
    name: "after all checks no process is left",
    async run(rig) {
      assert.deepEqual(await rig.left(GONE_MS), []);
    },
  },
];

async function checkInitialize(rig, agent) {
  const ask = (how) =>
    using(rig.open(agent, how), ({ request }) => request("initialize", INITIALIZE));
  const bare = await ask("bare");
  const expected = structuredClone(bare);
  const { agentCapabilities } = expected;
  Object.assign((agentCapabilities.mcpCapabilities ??= {}), { http: true, sse: true });
  (agentCapabilities.sessionCapabilities ??= {}).close ??= {};
  assert.deepEqual(await ask("front"), expected);
}

async function checkRefusal(rig, agent) {
  const refusal = (how) =>
    using(rig.open(agent, how), async ({ request, work }) => {
      await request("initialize", INITIALIZE);
      const opening = request("session/new", { cwd: work, mcpServers: [rig.echo] });
      const asked =
        agent.refuses === "session/new"
          ? opening
          : opening.then(({ sessionId }) => request("session/prompt", prompt(sessionId)));
      const error = await asked.then(
        () => assert.fail("it was not refused"),
        (reason) => reason,
      );
      return { code: error.code, message: error.message, data: error.data };
    });
  assert.deepEqual(await refusal("front"), await refusal("bare"));
}

async function checkTurn(rig, agent) {
  const before = rig.model.requests.length;
  const own = await using(rig.open(agent, "front", ASKING), async (opened) => {
    const { request, work, permissions } = opened;
    const { agentCapabilities } = await request("initialize", INITIALIZE);
    const { sessionId } = await request("session/new", { cwd: work, mcpServers: [rig.echo] });
    const { stopReason } = await request("session/prompt", prompt(sessionId));
    assert.equal(stopReason, "end_turn");
    assertOneServer(opened, agent);
    assert.match(opened.said(), /They said: .*hello.*16:00|They said: .*hello.*17:00/s);
    const asked = permissions.filter(isOfBoard).map(({ toolCall }) => toolCall.name);
    assert.deepEqual(asked, ["echo__echo", "demo__convert_time"], JSON.stringify(permissions));
    if (agentCapabilities.sessionCapabilities?.close !== undefined) {
      await request("session/close", { sessionId });
    }
    return permissions.length - asked.length;
  });
  const offered = toolsSince(rig, before);
  assert.ok(
    offered.some((name) => name.endsWith("echo__add")),
    offered.join(", "),
  );
  assert.ok(
    offered.some((name) => name.endsWith("demo__current_time")),
    offered.join(", "),
  );
  return `of the two calls, ${agent.name} itself asks about ${["none", "one", "both"][own] ?? `more: ${own} questions`}`;
}

async function checkSessions(rig, agent) {
  await using(rig.open(agent, "front", { account: true }), async (opened) => {
    const { request, work, permissions } = opened;
    await request("initialize", INITIALIZE);
    const open = (mcpServers) => request("session/new", { cwd: work, mcpServers });
    const [both, none] = [await open([rig.echo]), await open([])];
    const ask = async ({ sessionId }) => {
      const before = rig.model.requests.length;
      await request("session/prompt", prompt(sessionId));
      return toolsSince(rig, before);
    };
    const hasEcho = (names) => names.some((name) => name.endsWith("echo__echo"));
    const hasDemo = (names) => names.some((name) => name.endsWith("demo__convert_time"));
    const [withEcho, without] = [await ask(both), await ask(none)];
    assert.deepEqual([hasEcho(withEcho), hasDemo(withEcho)], [true, true], withEcho.join(", "));
    assert.deepEqual([hasEcho(without), hasDemo(without)], [false, true], without.join(", "));
    for (const { sessionId } of [both, none]) await request("session/close", { sessionId });
    assert.deepEqual(permissions.filter(isOfBoard), [], "the board asks only if it is told to");
  });
}

async function checkExample() {
  const { stdout } = await run(process.execPath, [EXAMPLE]);
  assert.match(stdout, /09:00:00 in Europe\/Berlin/);
  assert.match(stdout, /Unknown time zone "Atlantis"/);
}

/** What the agent was given is the board, by a URL that only it knows. One that has it from a file gets nothing else. */
function assertOneServer({ received }, { words }) {
  const { params } = received().find(({ method }) => method === "session/new");
  if (words !== undefined) {
    assert.deepEqual(params.mcpServers, []);
    return;
  }
  assert.equal(params.mcpServers.length, 1);
  const [{ type, name, url, headers }] = params.mcpServers;
  assert.deepEqual([type, name], ["http", "plugboard"]);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\//);
  assert.deepEqual(
    headers.map((header) => header.name.toLowerCase()),
    ["authorization"],
  );
}

/** Whether Plugboard asks, and not the agent: the agent does not know such ids. */
function isOfBoard({ toolCall }) {
  return toolCall.toolCallId.startsWith("plugboard-");
}

/** Names of the tools in the model's requests about the prompt. */
function toolsSince({ model }, start) {
  const names = model.requests.slice(start).flatMap(toolNames);
  return [...new Set(names)];
}

function prompt(sessionId) {
  return { sessionId, prompt: [{ type: "text", text: USE_BOTH }] };
}

async function using(opened, work) {
  try {
    return await work(opened);
  } catch (error) {
    throw new Error(`${error.message}\n${opened.complaints()}`.trim(), { cause: error });
  } finally {
    await opened.close();
  }
}
