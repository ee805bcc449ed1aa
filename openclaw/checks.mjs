// What must hold when Plugboard is used with the real OpenClaw: each check is a sentence and a procedure that throws.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { callPrompt } from "./lib/script.mjs";

/** How long what was started may take to end. */
const END_MS = 20_000;
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
      const { turn } = await rig.main.gateway();
      const prompt = callPrompt("own__echo", { text: "across" });
      assert.equal(await turn({ agent: "own", session: "bare", prompt }), "It said: across");
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
        const request = await requestOf(rig, agent);
        assert.deepEqual(serversOf(request), servers, `the tools of agent ${agent}`);
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
    name: "plugboard acp as an agent that OpenClaw drives: its model gets Plugboard's tools, and a call's result is framed",
    async run(rig) {
      const { turn } = await rig.main.gateway();
      const task = callPrompt("mcp__echo__echo", { text: "across" });
      const prompt = callPrompt("sessions_spawn", { task, runtime: "acp", agentId: "plugboard" });
      const { result, requests } = await rig.asked(async () => {
        const said = await turn({ agent: "none", session: "driven", prompt });
        console.log(said);
        await new Promise((resolve) => setTimeout(resolve, 20000));
        return said;
      });
      console.log(requests.map((r) => [r.api, r.tools.length, r.messages.at(-1).text.slice(0, 600)]));
      console.log((await rig.main.gateway()).output());
      assert.match(result, FRAMED, JSON.stringify(requests.at(0)?.tools.map(({ name }) => name)));
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
  const { turn } = await rig.main.gateway();
  const prompt = callPrompt(`${agent}__echo__echo`, { text: "across" });
  const { result, requests } = await rig.asked(() => turn({ agent, session: "call", prompt }));
  assert.match(result, FRAMED);
  assert.equal(requests.length, 2, "requests to the model");
  assert.ok(requests[0].tools.some(({ name }) => name === `${agent}__echo__add`));
}

/** The first request to the model of a new session. */
async function requestOf(rig, agent) {
  const { turn } = await rig.main.gateway();
  const { requests } = await rig.asked(() => turn({ agent, session: "tools", prompt: "Hello" }));
  return requests[0];
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
    Array.from({ length: SESSIONS }, async (_, index) => {
      const { turn } = await rig.main.gateway();
      const said = await turn({ agent, session: `many-${index}`, prompt: callPrompt(tool) });
      const pid = /(?:^It said: |^)(\d+)$/m.exec(said)?.[1];
      assert.ok(pid, `no pid in: ${said}`);
      return Number(pid);
    }),
  );
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
