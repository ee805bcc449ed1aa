// What must hold when Plugboard is used with the real OpenClaw: each check is a sentence and a procedure that throws.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { callPrompt, NO_CALL } from "./lib/script.mjs";

/** How long what was started may take to end. */
const END_MS = 20_000;
/** How long something that goes on by itself may take. */
const FOUND_MS = 60_000;
const SESSIONS = 10;
/** OpenClaw's own tools for the resources and prompts of a server. */
const UTILITIES = new Set(["prompts_get", "prompts_list", "resources_list", "resources_read"]);
const FRAMED =
  /<<<EXTERNAL_UNTRUSTED_CONTENT id="(\w+)">>>\nSource: MCP server 'echo', tool 'echo'\n.*\n---\nacross\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="\1">>>/s;

export const CHECKS = [
  {
    name: "plugboard serve as an entry of mcp.servers: the model gets the tools, and a call's result is framed",
    run: (rig) => checkCall(rig, "serve"),
  },
  {
    name: "plugboard up as an entry of mcp.servers: the model gets the tools, and a call's result is framed",
    run: (rig) => checkCall(rig, "shared"),
  },
  {
    name: "without Plugboard the same result reaches the model without a frame",
    async run(rig) {
      const { said } = await ask(rig, "own", callPrompt("own__echo", { text: "across" }));
      assert.equal(said, "It said: across");
    },
  },
  {
    name: "each agent's model request has exactly the tools that its rules leave",
    async run(rig) {
      const expected = {
        none: [],
        own: ["own"],
        serve: ["serve__echo", "serve__library"],
        shared: ["shared__echo", "shared__library"],
        reader: ["shared__library"],
      };
      for (const [agent, servers] of Object.entries(expected)) {
        const { requests } = await ask(rig, agent, NO_CALL);
        assert.equal(requests.length, 1, shown(requests));
        assert.deepEqual(serversOf(requests[0]), servers, `the tools of agent ${agent}`);
      }
    },
  },
  {
    name: `${SESSIONS} sessions share one process of a server behind plugboard up; OpenClaw alone starts one for each`,
    async run(rig) {
      const before = rig.running();
      const shared = await pidsOf(rig, "shared", "shared__echo__pid");
      const between = rig.running();
      assert.equal(new Set(shared).size, 1, `pids behind plugboard up: ${shared.join(", ")}`);
      const own = await pidsOf(rig, "own", "own__pid");
      assert.equal(new Set(own).size, SESSIONS, `pids of OpenClaw's own: ${own.join(", ")}`);
      const sharedMore = without(between, before);
      const ownMore = without(rig.running(), between);
      return `${SESSIONS} sessions with one server each: OpenClaw alone starts ${ownMore.length} processes (${SESSIONS} servers and what it starts beside them) with ${memoryOf(ownMore)} MB in total; behind \`plugboard up\` it is ${new Set(shared).size} server of ${memoryOf([...new Set(shared)])} MB, and OpenClaw starts ${sharedMore.length} processes`;
    },
  },
  {
    name: "plugboard acp as an agent that OpenClaw drives: its model gets Plugboard's tools, a call's result is framed, and the answer comes back",
    async run(rig) {
      const task = callPrompt("mcp__echo__echo", { text: "across" });
      const spawn = callPrompt("sessions_spawn", { task, runtime: "acp", agentId: "plugboard" });
      const before = rig.model.requests.length;
      const { said, session } = await ask(rig, "none", spawn);
      assert.match(said, /"status": "accepted"/);
      const told = await until(
        () => rig.requestsFor("none", session).find(isChildResult),
        () => `OpenClaw was not told of the answer:\n${shown(rig.model.requests.slice(before))}`,
      );
      const asked = rig.model.requests.slice(before).filter(({ api }) => api === "messages");
      assert.equal(asked.length, 2, shown(asked));
      assert.deepEqual(serversOf(asked[0]), ["mcp__echo"]);
      assert.match(asked[1].toolResults[0].text, FRAMED);
      assert.match(textOf(told), /status: completed/);
    },
  },
  {
    name: "after all checks no process is left",
    async run(rig) {
      assert.deepEqual(await rig.left(END_MS), []);
    },
  },
];

async function checkCall(rig, agent) {
  const prompt = callPrompt(`${agent}__echo__echo`, { text: "across" });
  const { said, requests } = await ask(rig, agent, prompt);
  assert.match(said, FRAMED);
  assert.equal(requests.length, 2, shown(requests));
  assert.deepEqual(serversOf(requests[0]), [`${agent}__echo`, `${agent}__library`]);
}

/** One turn in a new session: what the agent said, and what its model was asked. */
async function ask(rig, agent, prompt) {
  const { turn } = await rig.main.gateway();
  const session = rig.session();
  const said = await turn({ agent, session, prompt });
  return { said, session, requests: rig.requestsFor(agent, session) };
}

/** The servers whose tools a request has, by OpenClaw's name and, behind Plugboard, also by Plugboard's. */
function serversOf({ tools }) {
  const names = tools
    .map(({ name }) => name.split("__"))
    .filter((parts) => parts.length > 1 && !UTILITIES.has(parts.at(-1)));
  return [...new Set(names.map((parts) => parts.slice(0, -1).join("__")))].sort();
}

/** What the server says its pid is, in each of some sessions at the same time. */
function pidsOf(rig, agent, tool) {
  return Promise.all(
    Array.from({ length: SESSIONS }, async () => {
      const { said } = await ask(rig, agent, callPrompt(tool));
      const pid = /(?:^It said: |^)(\d+)$/m.exec(said)?.[1];
      assert.ok(pid, `no pid in: ${said}`);
      return Number(pid);
    }),
  );
}

/** OpenClaw tells the agent that asked for another one what that one has said. */
function isChildResult(request) {
  return request.api === "chat" && textOf(request).includes("Child result");
}

function textOf({ messages }) {
  return messages.map(({ text }) => text).join("\n");
}

/** Requests to the model, for a message. */
function shown(requests) {
  return requests
    .map(({ api, tools, messages }) => {
      const mcp = tools.map(({ name }) => name).filter((name) => name.includes("__"));
      return `${api}: tools ${mcp.join(" ")}; ${messages.at(-1)?.role}: ${messages.at(-1)?.text}`;
    })
    .join("\n");
}

/** Resolves to what `look` finds; rejects with what `complain` says when it has found nothing for long. */
async function until(look, complain) {
  const deadline = performance.now() + FOUND_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(complain());
    await delay(100);
  }
}

function without(pids, others) {
  return pids.filter((pid) => !others.includes(pid));
}

/** Resident memory in MB. */
function memoryOf(pids) {
  const said = execFileSync("ps", ["-o", "rss=", "-p", pids.join(",")], { encoding: "utf8" });
  const kilobytes = said.trim().split(/\s+/).map(Number);
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024);
}
