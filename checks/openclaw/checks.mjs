// What must hold when Plugboard is used with the real OpenClaw: each check is a sentence and a procedure that throws.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { PLUGIN_CHECKS } from "./plugin-checks.mjs";
import { freePorts } from "../lib/run-gateway.mjs";
import { fixture } from "./lib/rig.mjs";
import { callPrompt, NO_CALL, WHAT_WAS_FIRST } from "./lib/script.mjs";

/** How long what was started may take to end. */
const END_MS = 120_000;
/** How long something that goes on by itself may take. */
const FOUND_MS = 300_000;
/** A gateway that is gone is given a minute to come back. */
const GONE_MS = 300_000;
const SESSIONS = 10;
/** Sessions in a row that OpenClaw may delete before their first turn. */
const MOST_DELETED = 3;
const MISSING = "ACP metadata is missing for ";
/** Why OpenClaw closes a session that it takes for an orphan, or how, if the agent has not given its own id yet. */
const DELETED = new Set(["orphaned-parent-task-cleanup", "prepareFreshSession"]);
/** As many as `plugboard openclaw setup` makes unless it is told otherwise. */
const SLOTS = 8;
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
    run: checkDriven,
  },
  {
    name: "plugboard openclaw setup: OpenClaw accepts the slots, a second run changes nothing, and --undo restores every byte",
    async run(rig) {
      const words = ["--slots", "3", "--base-port", String(await freePorts(SLOTS))];
      await checkSetup(rig, { words, undo: [] });
    },
  },
  {
    name: "plugboard openclaw setup --shared: OpenClaw accepts the entry, a second run changes nothing, and --undo restores every byte",
    run: (rig) => checkSetup(rig, { words: ["--shared"], undo: ["--shared"] }),
  },
  {
    name: "plugboard acp --openclaw: three sessions with different servers at once, each model request with exactly its tools",
    run: (rig) =>
      withEditor(rig, async (editor, slots) => {
        const [alpha, beta, none] = await Promise.all([
          newSession(editor, slots, { alpha: fixture("echo") }),
          newSession(editor, slots, { beta: fixture("list-changed"), gamma: fixture("echo") }),
          newSession(editor, slots, {}),
        ]);
        const sessions = [alpha, beta, none];
        await Promise.all(sessions.map((each) => editor.prompt(each, NO_CALL)));
        const [ofAlpha, ofBeta, ofNone] = sessions.map((each) => serversAsked(rig, each));
        assert.deepEqual(ofAlpha.servers, ["alpha", "house"]);
        assert.deepEqual(ofBeta.servers, ["beta", "gamma", "house"]);
        assert.deepEqual(ofNone.servers, ["house"]);
        const used = [ofAlpha, ofBeta, ofNone].flatMap(({ slots: names }) => names);
        assert.equal(new Set(used).size, 3, `slots: ${used.join(", ")}`);
      }),
  },
  {
    name: "plugboard acp --openclaw: a call of the model asks the editor, and its result is framed",
    run: (rig) =>
      withEditor(rig, async (editor, slots) => {
        const session = await newSession(editor, slots, { echo: fixture("echo") });
        await editor.prompt(session, NO_CALL);
        const tool = toolAsked(rig, session, "echo__echo");
        const { said } = await editor.prompt(session, callPrompt(tool, { text: "across" }));
        assert.match(said, FRAMED);
        assert.equal(editor.asked.length, 1, JSON.stringify(editor.asked));
      }),
  },
  {
    name: "plugboard acp --openclaw: a changed list of tools is in the next turn",
    run: (rig) =>
      withEditor(rig, async (editor, slots) => {
        const session = await newSession(editor, slots, { beta: fixture("list-changed") });
        await editor.prompt(session, NO_CALL);
        const swap = toolAsked(rig, session, "beta__swap");
        toolAsked(rig, session, "beta__before");
        const { said } = await editor.prompt(session, callPrompt(swap));
        assert.match(said, /\bafter\b/);
        await editor.prompt(session, NO_CALL);
        toolAsked(rig, session, "beta__after");
        assert.throws(() => toolAsked(rig, session, "beta__before"));
      }),
  },
  {
    name: "plugboard acp --openclaw: a session that is loaded or resumed has the servers of that request, and its conversation",
    async run(rig) {
      const session = await withEditor(rig, async (editor, slots) => {
        const opened = await newSession(editor, slots, { first: fixture("echo") });
        await editor.prompt(opened, "My name is Ada.");
        assert.deepEqual(serversAsked(rig, opened).servers, ["first", "house"]);
        return opened;
      });
      for (const [method, name] of [
        ["session/load", "second"],
        ["session/resume", "third"],
      ]) {
        await withEditor(rig, async (editor, slots) => {
          const mcpServers = asAcp({ [name]: fixture("echo") });
          await editor.request(method, { sessionId: session, cwd: slots.work, mcpServers });
          const { said } = await editor.prompt(session, WHAT_WAS_FIRST);
          assert.match(said, /You said: .*My name is Ada\./s, method);
          assert.deepEqual(serversAsked(rig, session).servers, ["house", name], method);
        });
      }
    },
  },
  {
    name: "plugboard acp --openclaw: after a restart of the editor the second session is opened alone, and no prompt is lost",
    async run(rig) {
      for (const method of ["session/load", "session/resume"]) {
        const { second, slot } = await withEditor(rig, async (editor, slots) => {
          const one = await newSession(editor, slots, { first: fixture("echo") });
          const two = await newSession(editor, slots, { second: fixture("echo") });
          for (const each of [one, two]) await answered(rig, editor, each, `Before ${method}.`);
          return { second: two, slot: serversAsked(rig, two).slots };
        });
        await withEditor(rig, async (editor, slots) => {
          const mcpServers = asAcp({ second: fixture("echo") });
          await editor.request(method, { sessionId: second, cwd: slots.work, mcpServers });
          await answered(rig, editor, second, `After ${method}.`);
          assert.deepEqual(serversAsked(rig, second), {
            slots: slot,
            servers: ["house", "second"],
          });
          // Another session may have the slot of the first, which nobody has come back for.
          const third = await newSession(editor, slots, { third: fixture("echo") });
          await answered(rig, editor, third, `Beside ${method}.`);
          assert.deepEqual(serversAsked(rig, third).servers, ["house", "third"]);
        });
      }
    },
  },
  {
    name: "plugboard acp --openclaw: an open session that is loaded or resumed with other servers loses no prompt",
    run: (rig) =>
      withEditor(rig, async (editor, slots) => {
        const session = await newSession(editor, slots, { first: fixture("echo") });
        await answered(rig, editor, session, "Before any change.");
        for (const [method, name] of [
          ["session/load", "second"],
          ["session/resume", "third"],
        ]) {
          const mcpServers = asAcp({ [name]: fixture("echo") });
          await editor.request(method, { sessionId: session, cwd: slots.work, mcpServers });
          await answered(rig, editor, session, `After ${method}.`);
          assert.deepEqual(serversAsked(rig, session).servers, ["house", name], method);
        }
      }),
  },
  {
    name: "plugboard acp --openclaw: a closed session has no slot any more, and goes on in OpenClaw alone without losing a prompt",
    async run(rig) {
      const first = await withEditor(rig, async (editor, slots) => {
        const session = await newSession(editor, slots, { alpha: fixture("echo") });
        await answered(rig, editor, session, "Before it is closed.");
        await editor.request("session/close", { sessionId: session });
        assert.equal(await askAgain(slots, session), "Hello.");
        assert.deepEqual(serversAsked(rig, session).slots, [], "of the closed session");
        const other = await newSession(editor, slots, { beta: fixture("echo") });
        await answered(rig, editor, other, "Before the editor is closed.");
        return other;
      });
      assert.equal(await askAgain(await slotsOf(rig), first), "Hello.");
      assert.deepEqual(serversAsked(rig, first).slots, [], "after the editor was closed");
    },
  },
  {
    name: "plugboard acp --openclaw: when OpenClaw's gateway dies, the servers of a session end; the next prompt has them again",
    async run(rig) {
      const slots = await slotsOf(rig);
      await slots.gateway();
      const editor = await slots.editor();
      const servers = () => (commandsOf(rig.running()).match(/list-changed\.mjs/g) ?? []).length;
      try {
        const session = await newSession(editor, slots, { alpha: fixture("list-changed") });
        await answered(rig, editor, session, "Before the gateway dies.");
        assert.equal(servers(), 1);
        await slots.kill();
        await until(
          () => servers() === 0,
          () => `the server still runs:\n${commandsOf(rig.running())}`,
          GONE_MS,
        );
        await slots.gateway();
        await answered(rig, editor, session, "After the gateway has come back.");
        assert.deepEqual(serversAsked(rig, session).servers, ["alpha", "house"]);
      } finally {
        await editor.close();
      }
      assert.equal(servers(), 0);
    },
  },
  {
    name: "plugboard acp --openclaw killed with -9: nothing is left of it, and the next one takes the slot from the session that had it",
    async run(rig) {
      const slots = await slotsOf(rig);
      await slots.gateway();
      const before = rig.running();
      const killed = await slots.editor();
      const lost = await newSession(killed, slots, { alpha: fixture("echo") });
      await killed.prompt(lost, NO_CALL);
      const used = serversAsked(rig, lost).slots;
      assert.equal(used.length, 1);
      await killed.kill();
      await noneLeft(rig, before);
      await withEditor(rig, async (editor) => {
        const next = await newSession(editor, slots, { beta: fixture("echo") });
        await editor.prompt(next, NO_CALL);
        assert.deepEqual(serversAsked(rig, next), { slots: used, servers: ["beta", "house"] });
        await askAgain(slots, lost);
        assert.deepEqual(serversAsked(rig, lost).slots, [], "of the lost session");
      });
    },
  },
  ...PLUGIN_CHECKS.map((check) => ({
    name: check.name,
    async run(rig) {
      await check.run(await rig.plugin());
    },
  })),
  {
    name: "after all checks no process is left",
    async run(rig) {
      assert.deepEqual(await rig.left(END_MS), []);
    },
  },
];

/**
 * OpenClaw's maintenance, which runs every minute, takes a session that was spawned for an orphan until its turn has begun, and
 * deletes it. On a busy machine that is likely, so such a session is asked for again: right after the maintenance there is a
 * minute.
 */
async function checkDriven(rig) {
  for (let deleted = 0; ; deleted += 1) {
    const { told, asked, isDeleted } = await drive(rig);
    if (isDeleted && deleted < MOST_DELETED) continue;
    assert.equal(asked.length, 2, `${told}\n${shown(asked)}`);
    assert.deepEqual(serversOf(asked[0]), ["mcp__echo"]);
    assert.match(asked[1].toolResults[0].text, FRAMED);
    assert.match(told, /status: completed/);
    if (deleted === 0) return undefined;
    return `OpenClaw's own maintenance deleted the session that it had just spawned, before its first turn: asked again ${deleted} time${deleted > 1 ? "s" : ""}`;
  }
}

/** Has OpenClaw spawn the agent for one task: what it was told of it, what the agent has asked its model, and whether OpenClaw has deleted it first. */
async function drive(rig) {
  const task = callPrompt("mcp__echo__echo", { text: "across" });
  const spawn = callPrompt("sessions_spawn", { task, runtime: "acp", agentId: "plugboard" });
  const before = rig.model.requests.length;
  const { said, session } = await ask(rig, "none", spawn);
  assert.match(said, /"status": "accepted"/);
  const told = await until(
    () => {
      const requests = rig.requestsFor("none", session);
      return childResultIn(requests) ?? missingIn(requests);
    },
    () => `OpenClaw was not told of the answer:\n${shown(rig.model.requests.slice(before))}`,
  );
  const asked = rig.model.requests.slice(before).filter(({ api }) => api === "messages");
  const isDeleted =
    asked.length === 0 &&
    rig.closedAcp().some((each) => DELETED.has(each.reason) && told.includes(each.sessionKey));
  return { told, asked, isDeleted: isDeleted && told.includes(MISSING) };
}

/** What `plugboard openclaw setup` does with these words to a file with comments. */
async function checkSetup(rig, { words, undo }) {
  const fresh = await rig.openclaw("setup");
  const written = `// OpenClaw's, by hand.\n${readFileSync(fresh.file, "utf8")}\n`;
  writeFileSync(fresh.file, written);
  const setup = (more) => fresh.plugboard("openclaw", "setup", "--yes", ...more);
  succeeded(await setup(words));
  const changed = readFileSync(fresh.file, "utf8");
  assert.notEqual(changed, written);
  assert.ok(changed.startsWith("// OpenClaw's, by hand."), "the comment");
  succeeded(await fresh.openclaw("config", "validate"));
  succeeded(await setup(words));
  assert.equal(readFileSync(fresh.file, "utf8"), changed, "after a second run");
  succeeded(await setup(["--undo", ...undo]));
  assert.equal(readFileSync(fresh.file, "utf8"), written, "after --undo");
}

/** An OpenClaw whose user has run `plugboard openclaw setup`, and has one server in Plugboard. */
function slotsOf(rig) {
  rig.slots ??= setUpSlots(rig);
  return rig.slots;
}

async function setUpSlots(rig) {
  // One gateway at a time: each takes more than a gigabyte.
  await rig.main.stop();
  const slots = await rig.openclaw("slots", { servers: { house: fixture("echo") } });
  const base = String(await freePorts(SLOTS));
  succeeded(await slots.plugboard("openclaw", "setup", "--base-port", base, "--yes"));
  return slots;
}

/** Runs `work` with an editor that is closed afterwards. Nothing that was started for it may be left then. */
async function withEditor(rig, work) {
  const slots = await slotsOf(rig);
  await slots.gateway();
  const before = rig.running();
  const editor = await slots.editor();
  let result;
  try {
    result = await work(editor, slots);
  } catch (error) {
    await editor.kill();
    throw error;
  }
  assert.equal(await editor.close(), 0, editor.stderr());
  await noneLeft(rig, before);
  return result;
}

async function noneLeft(rig, before) {
  let left = [];
  await until(
    () => {
      left = without(rig.running(), before);
      return left.length === 0;
    },
    () => `still running: ${commandsOf(left)}`,
  );
}

async function newSession(editor, { work }, servers) {
  const params = { cwd: work, mcpServers: asAcp(servers) };
  return (await editor.request("session/new", params)).sessionId;
}

/** A prompt that is answered, with a request to the model that ends with this very prompt. */
async function answered(rig, editor, session, prompt) {
  const { said, stopReason } = await editor.prompt(session, prompt);
  assert.equal(stopReason, "end_turn");
  assert.match(said, /Hello\./, `'${prompt}' got no answer`);
  const asked = lastRequest(rig, session).messages.filter(({ role }) => role === "user");
  assert.ok(
    asked.some(({ text }) => text.includes(prompt)),
    `'${prompt}' is not in the last request`,
  );
}

function asAcp(servers) {
  return Object.entries(servers).map(([name, server]) => ({ name, ...server, env: [] }));
}

/** A turn of a session of the editor without the editor, through OpenClaw's own API. */
async function askAgain(slots, session) {
  const { turn } = await slots.gateway();
  return turn({ agent: "main", session: `acp-bridge:${session}`, prompt: NO_CALL });
}

/** The last request to the model for a session of the editor. */
function lastRequest(rig, session) {
  const request = rig.requestsFor("main", `acp-bridge:${session}`).at(-1);
  assert.ok(request, `no request for ${session}:\n${shown(rig.model.requests)}`);
  return request;
}

/** The slots and the servers behind them whose tools were in the last request for a session of the editor. */
function serversAsked(rig, session) {
  const pairs = serversOf(lastRequest(rig, session)).map((name) => name.split("__"));
  const unique = (index) => distinct(pairs.map((pair) => pair[index]));
  return { slots: unique(0), servers: unique(1) };
}

/** The name by which the last request had a tool. */
function toolAsked(rig, session, end) {
  const names = lastRequest(rig, session).tools.map(({ name }) => name);
  const found = names.find((name) => name.endsWith(`__${end}`));
  assert.ok(found, `no ${end} in ${names.filter((name) => name.includes("__")).join(" ")}`);
  return found;
}

function succeeded({ code, stdout, stderr }) {
  assert.equal(code, 0, `${stdout}${stderr}`);
}

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

/**
 * The servers whose tools a request has, by OpenClaw's name and, behind Plugboard, also by Plugboard's.
 *
 * @param {{ tools: { name: string }[] }} request
 */
function serversOf({ tools }) {
  const names = tools
    .map(({ name }) => name.split("__"))
    .filter((parts) => parts.length > 1 && !UTILITIES.has(parts.at(-1)));
  return distinct(names.map((parts) => parts.slice(0, -1).join("__")));
}

/** In a fixed order. */
function distinct(names) {
  return [...new Set(names)].sort((one, other) => one.localeCompare(other));
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

/** The message in which OpenClaw tells the agent that asked for another one what that one has said. */
function childResultIn(requests) {
  const messages = requests.flatMap((request) => request.messages);
  return messages.find(({ role, text }) => role === "user" && text.includes("Child result ("))
    ?.text;
}

/** The message in which OpenClaw says that it does not know a session which it has spawned. */
function missingIn(requests) {
  return requests
    .flatMap(({ messages }) => messages)
    .find(({ role, text }) => role === "user" && text.includes(MISSING))?.text;
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
async function until(look, complain, ms = FOUND_MS) {
  const deadline = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(complain());
    await delay(100);
  }
}

function commandsOf(pids) {
  if (pids.length === 0) return "nothing";
  return execFileSync("ps", ["-o", "pid=,args=", "-p", pids.join(",")], { encoding: "utf8" });
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
