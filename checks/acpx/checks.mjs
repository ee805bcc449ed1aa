// What acpx must be able to do with the agent: each check is a name and a procedure that throws.

import assert from "node:assert/strict";
import { USE_BOTH, WHAT_WAS_FIRST } from "./lib/script.mjs";

/** What acpx exits with. */
const EXIT = { ok: 0, failed: 1, timeout: 3, denied: 5 };

/** How long a session's processes may take to go. */
const GONE_MS = 6000;

export const CHECKS = [
  {
    name: "a model uses a stdio and an http server in one turn",
    async run({ acpx, servers: { files, web }, model }) {
      const before = model.requests.length;
      const args = ["--approve-all", "modelled", "exec", USE_BOTH];
      const { code, stdout, stderr } = await acpx([files, web], args);
      assert.equal(code, EXIT.ok, stderr);
      assert.match(stdout, /They said: .*the note says 42.* and .*Echo: hello/s);
      assert.match(stdout, /\[tool] files: read text file note\.txt \(completed\)/);
      assert.equal(model.requests.length - before, 2);
    },
  },
  {
    name: "without a model: /tools lists the tools of both",
    async run({ acpx, servers: { files, web } }) {
      const { code, stdout } = await acpx([files, web], ["direct", "exec", "/tools"]);
      assert.equal(code, EXIT.ok);
      assert.match(stdout, /files\/read_text_file/);
      assert.match(stdout, /web\/echo/);
    },
  },
  {
    name: "without a model: /call calls a tool of each",
    async run({ acpx, servers: { files, web } }) {
      const call = (line) => acpx([files, web], ["--approve-all", "direct", "exec", line]);
      const read = await call('/call files/read_text_file {"path": "note.txt"}');
      assert.equal(read.code, EXIT.ok);
      assert.match(read.stdout, /the note says 42/);
      const echo = await call('/call web/echo {"message": "across"}');
      assert.equal(echo.code, EXIT.ok);
      assert.match(echo.stdout, /Echo: across/);
    },
  },
  {
    name: "without a model: a question fails, which says how to get one",
    async run({ acpx }) {
      const { code, stdout, stderr } = await acpx([], ["direct", "exec", "What is this?"]);
      assert.equal(code, EXIT.failed);
      assert.match(stdout + stderr, /To get answers, run `plugboard acp --sign-in model`/);
    },
  },
  {
    name: "servers that fail are reported, and the others work",
    async run({ acpx, servers: { echo } }) {
      const missing = { name: "missing", command: "no-such-program", args: [], env: [] };
      const dying = { ...echo, name: "dying", args: ["-e", "process.exit(3)"] };
      const refused = { type: "http", name: "refused", url: "http://127.0.0.1:9/mcp", headers: [] };
      const line = '/call echo/echo {"text": "still here"}';
      const { code, stdout } = await acpx(
        [missing, dying, refused, echo],
        ["--approve-all", "direct", "exec", line],
      );
      assert.equal(code, EXIT.ok);
      assert.match(stdout, /still here/);
      assert.match(stdout, /missing.*command 'no-such-program' was not found on PATH/);
      assert.match(stdout, /dying/);
      assert.match(stdout, /refused/);
    },
  },
  {
    name: "--deny-all: nothing is called, and acpx exits with 5",
    async run({ acpx, servers: { files } }) {
      const line = '/call files/write_file {"path": "denied.txt", "content": "x"}';
      const { code, stdout } = await acpx([files], ["--deny-all", "direct", "exec", line]);
      assert.equal(code, EXIT.denied);
      assert.match(stdout, /not approved/);
      const list = await acpx(
        [files],
        ["--approve-all", "direct", "exec", '/call files/list_directory {"path": "."}'],
      );
      assert.doesNotMatch(list.stdout, /denied\.txt/);
    },
  },
  {
    name: "--format json --json-strict: stdout is the protocol and nothing else",
    async run({ acpx, servers: { files, web } }) {
      const args = ["--approve-all", "--format", "json", "--json-strict", "modelled", "exec"];
      const { code, stdout, stderr } = await acpx([files, web], [...args, USE_BOTH]);
      assert.equal(code, EXIT.ok);
      assert.equal(stderr, "");
      const messages = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      assert.ok(messages.every(({ jsonrpc }) => jsonrpc === "2.0"));
      const opened = messages.find(({ method }) => method === "session/new");
      assert.deepEqual(
        opened.params.mcpServers.map(({ name }) => name),
        ["files", "web"],
      );
      assert.deepEqual(messages.at(-1).result.stopReason, "end_turn");
      const updates = messages.flatMap(({ params }) => params?.update?.sessionUpdate ?? []);
      assert.equal(updates.filter((kind) => kind === "tool_call").length, 2);
      assert.ok(updates.includes("agent_message_chunk"));
    },
  },
  {
    name: "--format quiet: the answer and nothing else, also with a server that has resources",
    async run({ acpx, servers: { web } }) {
      const args = ["--format", "quiet", "modelled", "exec", "Anything?"];
      const { code, stdout, stderr } = await acpx([web], args);
      assert.equal(code, EXIT.ok, stderr);
      assert.equal(stdout.trim(), "I have nothing to say to that.");
    },
  },
  {
    name: "an agent given as a command line instead of by name",
    async run({ acpx, rawAgent, servers: { echo } }) {
      const { code, stdout } = await acpx([echo], ["--agent", rawAgent, "exec", "/tools"]);
      assert.equal(code, EXIT.ok);
      assert.match(stdout, /echo\/add/);
    },
  },
  {
    name: "a session: two prompts, one server, one conversation",
    run: ({ acpx, servers: { echo } }) =>
      inSession(acpx, [echo], ["--approve-all", "modelled"], async ({ prompt }) => {
        assert.equal(await pidOf(prompt), await pidOf(prompt));
        await prompt("My name is Ada.");
        assert.match((await prompt(WHAT_WAS_FIRST)).stdout, /You said: .*My name is Ada\./s);
      }),
  },
  {
    name: "a closed session is resumed with its conversation",
    async run({ acpx, left, servers: { echo } }) {
      const flags = ["--approve-all", "modelled"];
      const first = await inSession(acpx, [echo], flags, async ({ prompt }) => {
        await prompt("My name is Grace.");
        return pidOf(prompt);
      });
      assert.deepEqual(await left(GONE_MS), []);
      const { stdout } = await acpx([echo], [...flags, "sessions", "list"]);
      const line = stdout.split("\n").find((each) => each.includes("My name is Grace."));
      const again = ["--resume-session", line?.split("\t")[0] ?? "none"];
      await inSession(
        acpx,
        [echo],
        flags,
        async ({ prompt }) => {
          assert.match((await prompt(WHAT_WAS_FIRST)).stdout, /You said: .*My name is Grace\./s);
          assert.notEqual(await pidOf(prompt), first);
        },
        again,
      );
    },
  },
  {
    name: "modes: by set-mode and as an option of the session",
    run: ({ acpx, servers: { echo } }) =>
      inSession(acpx, [echo], ["--deny-all", "direct"], async ({ agent, prompt }) => {
        const call = () => prompt('/call echo/echo {"text": "hi"}');
        // A mode is the live session's: it holds as long as the agent that acpx keeps for it.
        await prompt("/mcp");
        await agent(["set-mode", "-s", SESSION, "auto"]);
        assert.equal((await call()).code, EXIT.ok);
        await agent(["set", "-s", SESSION, "mode", "read-only"]);
        assert.match((await call()).stdout, /this session is in read-only mode/);
        await agent(["set-mode", "-s", SESSION, "ask"]);
        assert.equal((await call()).code, EXIT.denied);
      }),
  },
  {
    name: "cancel ends a call, and the session continues",
    run: ({ acpx, servers: { echo } }) =>
      inSession(acpx, [echo], ["--approve-all", "direct"], async ({ agent, prompt }) => {
        let isRunning = () => {};
        const running = new Promise((resolve) => {
          isRunning = resolve;
        });
        const onStdout = (text) => text.includes("echo: sleep") && isRunning();
        const turn = prompt('/call echo/sleep {"ms": 600000}', { onStdout });
        await Promise.race([running, turn]);
        assert.match((await agent(["cancel", "-s", SESSION])).stdout, /cancel requested/);
        assert.match((await turn).stdout, /\[done] cancelled/);
        const { stdout } = await prompt('/call echo/echo {"text": "on"}');
        assert.match(stdout, /\[done] end_turn/);
      }),
  },
  {
    name: "an aborted prompt leaves no process behind",
    async run({ acpx, left, servers: { echo } }) {
      const line = '/call echo/sleep {"ms": 600000}';
      const args = ["--timeout", "3", "--approve-all", "direct", "exec", line];
      assert.equal((await acpx([echo], args)).code, EXIT.timeout);
      assert.deepEqual(await left(GONE_MS), []);
    },
  },
  {
    name: "after all checks no process is left",
    async run({ left }) {
      assert.deepEqual(await left(GONE_MS), []);
    },
  },
];

const SESSION = "check";

/** Runs `work` in a session that is kept between runs of acpx, and closes it whatever comes of that. */
async function inSession(acpx, servers, flags, work, opening = []) {
  const agent = (args, options) => acpx(servers, [...flags, ...args], options);
  const prompt = (text, options) => agent(["prompt", "-s", SESSION, text], options);
  const { code, stderr } = await agent(["sessions", "new", "--name", SESSION, ...opening]);
  assert.equal(code, EXIT.ok, stderr);
  try {
    return await work({ agent, prompt });
  } finally {
    await agent(["sessions", "close", SESSION]);
  }
}

/** Of the echo server, as it tells it itself. */
async function pidOf(prompt) {
  const { stdout, stderr } = await prompt("/call echo/pid");
  const pid = /output:\s+(\d+)/.exec(stdout)?.[1];
  assert.ok(pid, `no pid in: ${stdout}${stderr}`);
  return pid;
}
