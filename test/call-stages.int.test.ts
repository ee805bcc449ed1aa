// What every kind of call passes through, in which order, and whose limits, approvals, pins and audit count: the agent's or the
// session's. The order is security, so it is written out for each kind, as seen from outside: by whoever watches calls, by the
// stores that a board is given, by the person who is asked, and by the server.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parseAgentConfig } from "../src/core/config/parse.ts";
import { LocalLimits } from "../src/core/state/local-limits.ts";
import { memoryGrants, memoryPins } from "../src/core/state/memory.ts";
import type { AuditLine } from "../src/core/types/audit-entry.ts";
import type { AskApproval } from "../src/core/types/approval.ts";
import type { Board, BoardBase, SessionBoard } from "../src/core/types/board.ts";
import type { BoardOptions, SessionOptions } from "../src/core/types/board-options.ts";
import type { BoardConfig } from "../src/core/types/agent-config.ts";
import { PlugboardError } from "../src/core/types/errors.ts";
import type { ServerConfig } from "../src/core/types/server-config.ts";
import type { ApprovalKey, BoardState, PinStore } from "../src/core/types/shared-state.ts";
import type { NativeTool, UpdateListener } from "../src/core/types/tool.ts";
import { canonicalJson } from "../src/util/canonical-json.ts";
import { systemClock } from "../src/util/clock.ts";
import { type NotingServer, startNotingServer } from "./fixtures/http/noting-server.ts";
import { openAttachedBoard } from "./support/attached.ts";
import { closeBoards, openWith } from "./support/boards.ts";
import { closeChannels, openChannel } from "./support/channels.ts";
import { eventually } from "./support/processes.ts";

closeBoards();
closeChannels();

let server: NotingServer;
/** What has happened, in order. */
let seen: string[] = [];
/** The stages that a call went through, by who watched it; then the call itself, with `*`, and with `/` what came after it. */
let stages: Record<string, string> = {};
/** The lines of the audits. */
let audit: string[] = [];
/** What everybody says who is asked. */
let answer: "once" | "always" = "once";

beforeAll(async () => {
  server = await startNotingServer((what) => seen.push(what));
});

afterAll(() => server.close());

afterEach(() => {
  server.description = "as it was";
  answer = "once";
  begin();
});

function begin(): void {
  seen = [];
  stages = {};
  audit = [];
}

/** The state of the agent, or of a command beside the gateway that has the agent's. What a board asks of it is seen. */
function notedState(
  pins: PinStore = memoryPins(),
  whose: "the agent's" | "the command's" = "the agent's",
): BoardState {
  const limits = new LocalLimits(systemClock);
  const given = new Set<string>();
  const keyOf = ({ agent, config, tool, hash, caller }: ApprovalKey): string =>
    canonicalJson({ agent, config, tool, hash, caller });
  const record = (lines: Buffer): void => {
    for (const line of lines.toString("utf8").trim().split("\n")) {
      const where = whose === "the agent's" ? "" : `${whose} audit: `;
      audit.push(`${where}${audited(JSON.parse(line) as AuditLine)}`);
    }
  };
  return {
    pins,
    grants: memoryGrants(),
    approvals: {
      async has(approval) {
        seen.push(`${whose} approvals`);
        return given.has(keyOf(approval));
      },
      add: async (approval) => void given.add(keyOf(approval)),
      list: async () => [],
      forget: async () => {},
    },
    audit: {
      where: "the memory of the test",
      obstacle: async () => undefined,
      async *read() {},
      open: () => ({
        isOpen: true,
        append: async (lines) => record(lines),
        appendNow(bytes, length) {
          seen.push(`${whose} audit of the start`);
          record(bytes.subarray(0, length));
          return undefined;
        },
        close: async () => {},
      }),
    },
    limits: {
      take(buckets, longestWait) {
        const names = buckets.map(({ key }) => String((JSON.parse(key) as string[]).at(-1)));
        seen.push(`${whose} limits: ${names.join(", ").replaceAll("configured ", "")}`);
        return limits.take(buckets, longestWait);
      },
      giveBack: (buckets) => limits.giveBack(buckets),
      enter: (key, most) => limits.enter(key, most),
    },
    changes: { publish: async () => {}, subscribe: () => () => {} },
  };
}

function asking(who: string): AskApproval {
  return () => {
    seen.push(`${who} is asked`);
    return answer;
  };
}

type Watched = Pick<BoardBase, "watchCalls" | "on">;

function watch(board: Watched, who: string): void {
  board.on("callStart", ({ session }) => seen.push(`${who}: start${placeOf(session)}`));
  board.on("call", ({ session }) => seen.push(`${who}: end${placeOf(session)}`));
  board.watchCalls({
    admits: () => true,
    started: () => {},
    ended({ steps }) {
      const halves = { before: "", call: "*", after: "/" };
      stages[who] = steps.map(({ stage, half }) => `${halves[half]}${stage}`).join(", ");
    },
  });
}

const greet: NativeTool = {
  name: "greet",
  description: "Greets.",
  parameters: { type: "object", properties: { n: { type: "integer" } } },
  async execute() {
    seen.push("the tool runs");
    return { content: [{ type: "text", text: server.secret }] };
  },
};

const CONTENT = ["resource:*", "prompt:*"];

/** For all tools, resources and prompts, and for `act`. What is set for all tools does not count for the others. */
function forAll<Value>(all: Value, act: Value): { default: Value; tools: Record<string, Value> } {
  const tools = Object.fromEntries(CONTENT.map((pattern) => [pattern, all]));
  return { default: all, tools: { ...tools, act } };
}

/** With everything that can be set, so that each stage has something to do. */
const EVERYTHING = {
  rateLimit: forAll(600, 300),
  concurrency: forAll(9, 3),
  approval: forAll<"ask">("ask", "ask"),
};

function docs(more: object = {}): ServerConfig {
  const headers = { "x-token": server.secret };
  return { url: server.url, headers, pins: "block", ...EVERYTHING, ...more };
}

function configuration(more: Partial<BoardConfig> = {}): BoardConfig {
  return {
    servers: { docs: docs({ trusted: true }) },
    approval: "ask",
    // By what a tool does, so that rules are asked anew with each call.
    tools: { deny: ["docs/@destructive"], ownerOnly: ["docs/look"] },
    session: EVERYTHING,
    ...more,
  };
}

async function openAgent(
  config = configuration(),
  state = notedState(),
  start: BoardOptions["start"] = "eager",
): Promise<Board> {
  const onApproval = asking("the agent's user");
  const board = await openWith(config, { state, native: [greet], onApproval, start });
  watch(board, "agent");
  return board;
}

async function openSession(
  board: Board,
  options: Partial<SessionOptions> = {},
): Promise<SessionBoard> {
  const session = await board.openSession({
    cwd: "/",
    id: "s1",
    rateLimit: 500,
    onApproval: asking("the session's user"),
    ...options,
  });
  watch(session, "session");
  return session;
}

const mine = (): Pick<SessionOptions, "servers"> => ({
  servers: { mine: { url: server.url, headers: { "x-token": server.secret } } },
});

const anna = { person: { id: "anna", signInHint: () => "sign in" } };

/** The server that each person has for themselves. */
function forPeople(more: object = {}): BoardConfig {
  const headers = { "x-token": server.secret };
  return configuration({
    servers: { docs: docs({ trusted: true, headers, oauth: { per: "user" }, ...more }) },
  });
}

/** The server runs once for each session. */
const eachSession = { scope: "session" };

/** The board of a command beside a gateway that runs the agent's servers, each with a state of its own. */
async function openAttached(
  config = configuration(),
  gatewayState = notedState(),
): Promise<{ gateway: Board; command: Board }> {
  const agent = parseAgentConfig(config);
  const onApproval = asking("the gateway's user");
  const gateway = await openWith(agent, { state: gatewayState, onApproval });
  watch(gateway, "gateway");
  const channel = await openChannel(
    { [agent.agentId]: gateway },
    {
      watch: (_, board) => {
        watch(board, "in the gateway");
        return () => {};
      },
    },
  );
  const command = await openAttachedBoard({
    agent,
    channel,
    state: notedState(memoryPins(), "the command's"),
    native: [greet],
    onApproval: asking("the command's user"),
  });
  closing.push(command);
  watch(command, "command");
  return { gateway, command };
}

const closing: Board[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((board) => board.close()));
});

/** Which session it was in. That of a command is named after its process. */
function placeOf(session: string | undefined): string {
  return session === undefined ? "" : ` in ${session.replace(String(process.pid), "PID")}`;
}

function audited(line: AuditLine): string {
  if (line.type !== "call" && line.type !== "start") return line.type;
  const what = `${line.type} of ${line.server}/${line.tool}${placeOf(line.session)}`;
  if (line.type === "start") return what;
  const rule = line.rule === undefined ? "" : ` by ${line.rule}`;
  return `${what}: ${line.decision}${rule}, ${line.outcome}`;
}

/** What has become of it. Nobody may get to see the secret. */
async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    const outcome = (await asked) as { failure?: { code: string } };
    expect(JSON.stringify(outcome)).not.toContain(server.secret);
    return outcome.failure?.code ?? "ok";
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    return error.code;
  }
}

interface Kind {
  /** Opens the boards and asks once. */
  ask: () => Promise<{ ask: () => Promise<unknown>; boards: Board[] }>;
  code?: string;
  /** What others see of it, in order. */
  seen: string[];
  /** Nobody can watch reads and prompts. */
  stages: Record<string, string>;
  audit: string[];
}

async function report({ ask }: Pick<Kind, "ask">): Promise<Required<Omit<Kind, "ask">>> {
  const opened = await ask();
  begin();
  const code = await codeOf(opened.ask());
  const before = [...seen];
  for (const board of opened.boards) await board.close();
  return { code, seen: before, stages: { ...stages }, audit: [...audit] };
}

const onAgent =
  (ask: (board: Board) => Promise<unknown>, config?: () => BoardConfig): Kind["ask"] =>
  async () => {
    const board = await openAgent(config?.());
    return { ask: () => ask(board), boards: [board] };
  };

const inSession =
  (
    ask: (session: SessionBoard) => Promise<unknown>,
    options: () => Partial<SessionOptions> = () => ({}),
    config?: () => BoardConfig,
  ): Kind["ask"] =>
  async () => {
    const board = await openAgent(config?.());
    const session = await openSession(board, options());
    return { ask: () => ask(session), boards: [board] };
  };

const attached =
  (ask: (command: Board) => Promise<unknown>): Kind["ask"] =>
  async () => {
    const { gateway, command } = await openAttached();
    return { ask: () => ask(command), boards: [command, gateway] };
  };

const forSessions = (): BoardConfig =>
  configuration({ servers: { docs: docs({ trusted: true, ...eachSession }) } });
const replacing = (): Pick<SessionOptions, "servers"> => ({
  servers: { docs: mine().servers?.["mine"] ?? {} },
});

const act = (board: BoardBase): Promise<unknown> => board.call("docs/act");
const look = (board: BoardBase): Promise<unknown> => board.call("docs/look");
const native = (board: BoardBase): Promise<unknown> => board.call("greet", { n: 1 });
const read = (board: BoardBase): Promise<unknown> => board.resources.read("note:///a");
const prompt = (board: BoardBase): Promise<unknown> => board.prompts.get("docs/greet");
const complete = (board: BoardBase): Promise<unknown> =>
  board.prompts.complete("docs/greet", "who", "a");
const readOwn = (session: BoardBase): Promise<unknown> =>
  session.resources.read("note:///a", { server: "mine" });
const denied = (): BoardConfig =>
  configuration({ tools: { deny: ["docs/act", "docs/resource:*", "docs/prompt:*"] } });

const KINDS: Record<string, Kind> = {
  "a call on an agent's board": {
    ask: onAgent(act),
    seen: [
      "the agent's limits: docs/act, docs",
      "the agent's approvals",
      "the agent's approvals",
      "the agent's user is asked",
      "the agent's audit of the start",
      "agent: start",
      "the server gets a call",
      "agent: end",
    ],
    stages: {
      agent:
        "audit, secrets, rules, pins, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
    },
    audit: ["start of docs/act", "call of docs/act: approved by approval: once, ok"],
  },
  "a call on an agent's board that a rule refuses": {
    ask: onAgent(act, denied),
    code: "REFUSED_BY_POLICY",
    seen: ["agent: end"],
    stages: { agent: "audit, secrets, rules" },
    audit: ['call of docs/act: refused by "docs/act" in tools.deny, REFUSED_BY_POLICY'],
  },
  "a call of a tool that is for the owner, by somebody else": {
    ask: onAgent(look),
    code: "REFUSED_BY_POLICY",
    seen: ["agent: end"],
    stages: { agent: "audit, secrets, rules" },
    audit: ['call of docs/look: refused by "docs/look" in tools.ownerOnly, REFUSED_BY_POLICY'],
  },
  "a call of a tool that is for the owner, by the owner, which only reads": {
    ask: inSession(look, () => ({ owner: true })),
    seen: [
      "the agent's limits: docs",
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "session: start",
      "agent: start in s1",
      "the server gets a call",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rules, pins, rate limit, rate limit, approval, concurrency, *the tool, /output schema, /concurrency, /secrets, /audit",
    },
    audit: ["call of docs/look in s1: approved by approval: once, ok"],
  },
  "a session's call of a shared server": {
    ask: inSession(act),
    seen: [
      "the agent's limits: docs/act, docs",
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the agent's audit of the start",
      "session: start",
      "agent: start in s1",
      "the server gets a call",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rules, pins, rate limit, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
    },
    audit: ["start of docs/act in s1", "call of docs/act in s1: approved by approval: once, ok"],
  },
  "a session's call of its own server": {
    ask: inSession((session) => session.call("mine/act"), mine),
    seen: [
      "the session's user is asked",
      "the agent's audit of the start",
      "session: start",
      "agent: start in s1",
      "the server gets a call",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rules, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
    },
    audit: ["start of mine/act in s1", "call of mine/act in s1: approved by approval: once, ok"],
  },
  "a session's call of its own tool that says it only reads": {
    ask: inSession((session) => session.call("mine/look"), mine),
    seen: [
      "the session's user is asked",
      "the agent's audit of the start",
      "session: start",
      "agent: start in s1",
      "the server gets a call",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rules, rate limit, approval, concurrency, audit of the start, *the tool, /output schema, /concurrency, /secrets, /audit",
    },
    audit: ["start of mine/look in s1", "call of mine/look in s1: approved by approval: once, ok"],
  },
  "a call of a native tool": {
    ask: onAgent(native),
    seen: [
      "the agent's user is asked",
      "the agent's audit of the start",
      "agent: start",
      "the tool runs",
      "agent: end",
    ],
    stages: {
      agent:
        "audit, secrets, rules, arguments, approval, arguments, audit of the start, *the tool, /secrets, /audit",
    },
    audit: ["start of native/greet", "call of native/greet: approved by approval: once, ok"],
  },
  "a call of a native tool with wrong arguments": {
    ask: onAgent((board) => board.call("greet", { n: "x" })),
    code: "INVALID_ARGUMENTS",
    seen: ["agent: end"],
    stages: { agent: "audit, secrets, rules, arguments" },
    audit: ["call of native/greet: allowed, INVALID_ARGUMENTS"],
  },
  "a session's call of a native tool": {
    ask: inSession(native),
    seen: [
      "the session's user is asked",
      "the agent's audit of the start",
      "session: start",
      "agent: start in s1",
      "the tool runs",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rules, arguments, approval, arguments, audit of the start, *the tool, /secrets, /audit",
    },
    audit: [
      "start of native/greet in s1",
      "call of native/greet in s1: approved by approval: once, ok",
    ],
  },
  "a call of a server that a gateway runs": {
    ask: attached(act),
    seen: [
      "command: start",
      "the agent's limits: docs/act, docs",
      "the agent's approvals",
      "the agent's approvals",
      "the command's user is asked",
      "the agent's audit of the start",
      "in the gateway: start",
      "gateway: start in test-PID",
      "the server gets a call",
      "in the gateway: end",
      "gateway: end in test-PID",
      "command: end",
    ],
    stages: {
      "in the gateway":
        "audit, secrets, rules, pins, rate limit, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
      command: "secrets, *the tool, /secrets",
    },
    audit: [
      "start of docs/act in test-PID",
      "call of docs/act in test-PID: approved by approval: once, ok",
    ],
  },
  "a call of a server that a gateway runs, refused there": {
    ask: attached(look),
    code: "REFUSED_BY_POLICY",
    seen: ["command: start", "in the gateway: end", "gateway: end in test-PID", "command: end"],
    stages: { "in the gateway": "audit, secrets, rules", command: "secrets, *the tool, /secrets" },
    audit: [
      'call of docs/look in test-PID: refused by "docs/look" in tools.ownerOnly, REFUSED_BY_POLICY',
    ],
  },
  "a session's call of a server that a gateway runs": {
    ask: async () => {
      const { gateway, command } = await openAttached();
      const session = await openSession(command);
      return { ask: () => act(session), boards: [command, gateway] };
    },
    seen: [
      "session: start",
      "command: start in s1",
      "the agent's limits: docs/act, docs",
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the agent's audit of the start",
      "in the gateway: start",
      "gateway: start in s1",
      "the server gets a call",
      "in the gateway: end",
      "gateway: end in s1",
      "session: end",
      "command: end in s1",
    ],
    stages: {
      "in the gateway":
        "audit, secrets, rules, pins, rate limit, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
      session: "secrets, *the tool, /secrets",
    },
    audit: ["start of docs/act in s1", "call of docs/act in s1: approved by approval: once, ok"],
  },
  "an attached command's call of its own native tool": {
    ask: attached(native),
    seen: [
      "the command's user is asked",
      "the command's audit of the start",
      "command: start",
      "the tool runs",
      "command: end",
    ],
    stages: {
      command:
        "audit, secrets, rules, arguments, approval, arguments, audit of the start, *the tool, /secrets, /audit",
    },
    audit: [
      "the command's audit: start of native/greet",
      "the command's audit: call of native/greet: approved by approval: once, ok",
    ],
  },
  "a session's call of a server that runs once for each session": {
    ask: inSession(act, undefined, forSessions),
    seen: [
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the agent's audit of the start",
      "session: start",
      "agent: start in s1",
      "the server gets a call",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rules, pins, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
    },
    audit: ["start of docs/act in s1", "call of docs/act in s1: approved by approval: once, ok"],
  },
  "a session's read of a server that runs once for each session": {
    ask: inSession(read, undefined, forSessions),
    seen: [
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the server gets a read",
    ],
    stages: {},
    audit: ["call of docs/resource:note:///a in s1: approved by approval: once, ok"],
  },
  "a session's call of its own server with the name of the agent's": {
    ask: inSession(act, replacing, () => configuration({ tools: {} })),
    seen: [
      "the session's user is asked",
      "the agent's audit of the start",
      "session: start",
      "agent: start in s1",
      "the server gets a call",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
    },
    audit: ["start of docs/act in s1", "call of docs/act in s1: approved by approval: once, ok"],
  },
  "a session's call of its own server, refused by the rules of the agent's of that name": {
    ask: inSession(act, replacing, denied),
    code: "REFUSED_BY_POLICY",
    seen: ["session: end", "agent: end in s1"],
    stages: { session: "audit, secrets, rules" },
    audit: ['call of docs/act in s1: refused by "docs/act" in tools.deny, REFUSED_BY_POLICY'],
  },
  "a call in a person's session": {
    ask: inSession(act, () => anna, forPeople),
    seen: [
      "the agent's limits: docs/act, docs",
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the agent's audit of the start",
      "session: start",
      "agent: start in s1",
      "the server gets a call",
      "session: end",
      "agent: end in s1",
    ],
    stages: {
      session:
        "audit, secrets, rules, pins, rate limit, rate limit, approval, concurrency, concurrency, audit of the start, *the tool, /output schema, /concurrency, /concurrency, /secrets, /audit",
    },
    audit: ["start of docs/act in s1", "call of docs/act in s1: approved by approval: once, ok"],
  },
  "a read on an agent's board": {
    ask: onAgent(read),
    seen: [
      "the agent's limits: docs/resource:*",
      "the agent's approvals",
      "the agent's approvals",
      "the agent's user is asked",
      "the server gets a read",
    ],
    stages: {},
    audit: ["call of docs/resource:note:///a: approved by approval: once, ok"],
  },
  "a read on an agent's board that a rule refuses": {
    ask: onAgent(read, denied),
    code: "REFUSED_BY_POLICY",
    seen: [],
    stages: {},
    audit: [
      'call of docs/resource:note:///a: refused by "docs/resource:*" in tools.deny, REFUSED_BY_POLICY',
    ],
  },
  "a session's read of a shared server": {
    ask: inSession(read),
    seen: [
      "the agent's limits: docs/resource:*",
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the server gets a read",
    ],
    stages: {},
    audit: ["call of docs/resource:note:///a in s1: approved by approval: once, ok"],
  },
  "a session's read of its own server": {
    ask: inSession(readOwn, mine),
    seen: [
      "the session's user is asked",
      "the agent's audit of the start",
      "the server gets a read",
    ],
    stages: {},
    audit: [
      "start of mine/resource:note:///a in s1",
      "call of mine/resource:note:///a in s1: approved by approval: once, ok",
    ],
  },
  "a read of a server that a gateway runs": {
    ask: attached(read),
    seen: [
      "the agent's limits: docs/resource:*",
      "the agent's approvals",
      "the agent's approvals",
      "the command's user is asked",
      "the server gets a read",
    ],
    stages: {},
    audit: ["call of docs/resource:note:///a in test-PID: approved by approval: once, ok"],
  },
  "a read in a person's session": {
    ask: inSession(read, () => anna, forPeople),
    seen: [
      "the agent's limits: docs/resource:*",
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the server gets a read",
    ],
    stages: {},
    audit: ["call of docs/resource:note:///a in s1: approved by approval: once, ok"],
  },
  "a prompt on an agent's board": {
    ask: onAgent(prompt),
    seen: [
      "the agent's limits: docs/prompt:*",
      "the agent's approvals",
      "the agent's approvals",
      "the agent's user is asked",
      "the server gets a prompt",
    ],
    stages: {},
    audit: ["call of docs/prompt:greet: approved by approval: once, ok"],
  },
  "a prompt on an agent's board that a rule refuses": {
    ask: onAgent(prompt, denied),
    code: "REFUSED_BY_POLICY",
    seen: [],
    stages: {},
    audit: [
      'call of docs/prompt:greet: refused by "docs/prompt:*" in tools.deny, REFUSED_BY_POLICY',
    ],
  },
  "a session's prompt of a shared server": {
    ask: inSession(prompt),
    seen: [
      "the agent's limits: docs/prompt:*",
      "the agent's approvals",
      "the agent's approvals",
      "the session's user is asked",
      "the server gets a prompt",
    ],
    stages: {},
    audit: ["call of docs/prompt:greet in s1: approved by approval: once, ok"],
  },
  "a session's prompt of its own server": {
    ask: inSession((session) => session.prompts.get("mine/greet"), mine),
    seen: [
      "the session's user is asked",
      "the agent's audit of the start",
      "the server gets a prompt",
    ],
    stages: {},
    audit: [
      "start of mine/prompt:greet in s1",
      "call of mine/prompt:greet in s1: approved by approval: once, ok",
    ],
  },
  "a prompt of a server that a gateway runs": {
    ask: attached(prompt),
    seen: [
      "the agent's limits: docs/prompt:*",
      "the agent's approvals",
      "the agent's approvals",
      "the command's user is asked",
      "the server gets a prompt",
    ],
    stages: {},
    audit: ["call of docs/prompt:greet in test-PID: approved by approval: once, ok"],
  },
  "a completion, which asks nobody": {
    ask: onAgent(complete),
    seen: ["the server gets a completion"],
    stages: {},
    audit: ["call of docs/complete:greet: allowed, ok"],
  },
  "a completion of a server that a gateway runs, which asks nobody": {
    ask: attached(complete),
    seen: ["the server gets a completion"],
    stages: {},
    audit: ["call of docs/complete:greet in test-PID: allowed, ok"],
  },
  "a model's read, which is a call with a read in it": {
    ask: onAgent(
      (board) => board.call("read_resource", { uri: "note:///a" }),
      () => configuration({ resourceTools: true }),
    ),
    seen: [
      "the agent's user is asked",
      "agent: start",
      "the agent's limits: docs/resource:*",
      "the agent's approvals",
      "the agent's approvals",
      "the agent's user is asked",
      "the server gets a read",
      "agent: end",
    ],
    stages: { agent: "audit, secrets, rules, approval, *the tool, /secrets, /audit" },
    audit: [
      "call of docs/resource:note:///a: approved by approval: once, ok",
      "call of native/read_resource: approved by approval: once, ok",
    ],
  },
};

describe("the order of the stages of", () => {
  it.each(Object.entries(KINDS))("%s", async (_, { ask, code = "ok", ...expected }) => {
    expect(await report({ ask })).toEqual({ code, ...expected });
  });
});

type Who = "agent" | "A" | "B" | "anna" | "bert" | "command" | "gateway" | "command's A";

/** Everybody who may call, over one agent: opened when they first do. */
function actors(
  config: BoardConfig,
  options: () => Partial<SessionOptions> = () => ({}),
  state = notedState(),
  start: BoardOptions["start"] = "eager",
): (who: Who) => Promise<BoardBase> {
  let agent: Promise<Board> | undefined;
  let beside: ReturnType<typeof openAttached> | undefined;
  const opened = new Map<Who, Promise<BoardBase>>();
  const open = async (who: Who): Promise<BoardBase> => {
    if (who === "command" || who === "gateway" || who === "command's A") {
      beside ??= openAttached(config, state);
      const { command, gateway } = await beside;
      if (who === "gateway") return gateway;
      return who === "command" ? command : openSession(command, { id: "A", ...options() });
    }
    agent ??= openAgent(config, state, start);
    const board = await agent;
    if (who === "agent") return board;
    const isPerson = who === "anna" || who === "bert";
    const person = isPerson && { person: { id: who, signInHint: () => "sign in" } };
    return openSession(board, { id: who, rateLimit: false, ...person, ...options() });
  };
  return (who) => {
    const known = opened.get(who) ?? open(who);
    opened.set(who, known);
    return known;
  };
}

/** Nothing of the server is set but this. */
function only(more: object, of: Partial<BoardConfig> = {}): BoardConfig {
  const none = { rateLimit: undefined, concurrency: undefined, approval: undefined };
  const servers = { docs: docs({ ...none, ...more }) };
  return configuration({ servers, approval: "never", tools: {}, session: {}, ...of });
}

const people = { oauth: { per: "user" } };
const actMine = (board: BoardBase): Promise<unknown> => board.call("mine/act");
const readOther = (board: BoardBase): Promise<unknown> => board.resources.read("note:///b");

type Call = [who: Who, ask: (board: BoardBase) => Promise<unknown>, code?: string];

interface Limited {
  config: () => BoardConfig;
  options?: () => Partial<SessionOptions>;
  calls: Call[];
}

const one = (): BoardConfig => only({ rateLimit: 1 });
const oneEach = { options: () => ({ rateLimit: 1 }) };

const LIMITS: Record<string, Limited> = {
  "of a server counts for the agent and its sessions together": {
    config: one,
    calls: [
      ["agent", act],
      ["A", act, "RATE_LIMITED"],
      ["B", look, "RATE_LIMITED"],
    ],
  },
  "of a server counts for all sessions together": {
    config: one,
    calls: [
      ["A", act],
      ["B", act, "RATE_LIMITED"],
      ["agent", act, "RATE_LIMITED"],
    ],
  },
  "of a server counts for all people together": {
    config: () => only({ rateLimit: 1, ...people }),
    calls: [
      ["anna", act],
      ["bert", act, "RATE_LIMITED"],
    ],
  },
  "of a server that a gateway runs counts there, for commands and for the gateway's own callers": {
    config: one,
    calls: [
      ["command", act],
      ["command's A", act, "RATE_LIMITED"],
      ["gateway", act, "RATE_LIMITED"],
    ],
  },
  "of a tool counts for all sessions together, and for this tool alone": {
    config: () => only({ rateLimit: { tools: { act: 1 } } }),
    calls: [
      ["A", act],
      ["B", act, "RATE_LIMITED"],
      ["B", look],
      ["B", look],
    ],
  },
  "of resources counts for all of them, and neither for tools nor for prompts": {
    config: () => only({ rateLimit: { tools: { "resource:*": 1 } } }),
    calls: [
      ["agent", read],
      ["A", readOther, "RATE_LIMITED"],
      ["A", act],
      ["A", prompt],
      ["A", prompt],
    ],
  },
  "of all calls of a server does not count reads and prompts": {
    config: one,
    calls: [
      ["A", read],
      ["A", prompt],
      ["A", read],
      ["A", act],
      ["A", read],
    ],
  },
  "of a session counts for its calls of a shared server alone": {
    config: () => only({}),
    ...oneEach,
    calls: [
      ["A", act],
      ["A", look, "RATE_LIMITED"],
      ["B", act],
      ["agent", act],
      ["agent", act],
    ],
  },
  "of a session does not count where the server has a limit of its own": {
    config: () => only({ rateLimit: 300 }),
    ...oneEach,
    calls: [
      ["A", act],
      ["A", act],
      ["A", act],
    ],
  },
  "of a session counts for its own server alone": {
    config: () => only({}),
    options: () => ({ rateLimit: 1, ...mine() }),
    calls: [
      ["A", actMine],
      ["A", actMine, "RATE_LIMITED"],
      ["A", act],
      ["B", actMine],
    ],
  },
  "of the servers that sessions bring counts in each session": {
    config: () => only({}, { session: { rateLimit: 1 } }),
    options: mine,
    calls: [
      ["A", actMine],
      ["A", actMine, "RATE_LIMITED"],
      ["B", actMine],
      ["A", act],
      ["A", act],
    ],
  },
  "of a server that runs once for each session counts in each": {
    config: () => only({ rateLimit: 1, ...eachSession }),
    calls: [
      ["A", act],
      ["A", act, "RATE_LIMITED"],
      ["B", act],
      ["agent", act],
      ["agent", act, "RATE_LIMITED"],
    ],
  },
  "of a session counts in a person's session": {
    config: () => only(people),
    ...oneEach,
    calls: [
      ["anna", act],
      ["anna", act, "RATE_LIMITED"],
      ["bert", act],
    ],
  },
  "of a command's session counts in the gateway": {
    config: () => only({}),
    ...oneEach,
    calls: [
      ["command's A", act],
      ["command's A", act, "RATE_LIMITED"],
      ["command", act],
      ["gateway", act],
    ],
  },
  "of a session does not count native tools": {
    config: () => only({}),
    ...oneEach,
    calls: [
      ["A", native],
      ["A", native],
      ["agent", native],
    ],
  },
};

describe("the limit", () => {
  it.each(Object.entries(LIMITS))("%s", async (_, { config, options, calls }) => {
    const board = actors(config(), options);
    for (const [who, ask, code = "ok"] of calls) {
      expect([who, await codeOf(ask(await board(who)))]).toEqual([who, code]);
    }
  });

  it("of the agent is taken from before that of the session refuses, and is not given back", async () => {
    const board = await actors(only({ rateLimit: { tools: { look: 300 } } }), oneEach.options)("A");
    begin();
    expect(await codeOf(look(board))).toBe("ok");
    expect(await codeOf(look(board))).toBe("RATE_LIMITED");
    expect(seen.filter((each) => each.includes("limits"))).toEqual([
      "the agent's limits: docs/look",
      "the agent's limits: docs/look",
    ]);
  });

  it.each([
    ["a call", act],
    ["a read", read],
    ["a prompt", prompt],
  ])("is taken from by %s that nobody approves then", async (_, ask) => {
    const board = await openWith(configuration(), { state: notedState() });
    expect(await codeOf(ask(board))).toBe("NOT_APPROVED");
    expect(seen.filter((each) => each.includes("limits"))).toHaveLength(1);
  });
});

interface Approved {
  config?: () => BoardConfig;
  options?: () => Partial<SessionOptions>;
  calls: [who: Who, ask: (board: BoardBase) => Promise<unknown>, asked: string | undefined][];
}

const asks =
  (more: object = {}) =>
  (): BoardConfig =>
    only({ approval: EVERYTHING.approval, ...more }, { approval: "ask" });
const sessionsUser = "the session's user is asked";
const agentsUser = "the agent's user is asked";
const by = (approvalsOf: string) => (board: BoardBase) =>
  board.call("docs/act", {}, { approvalsOf });

const APPROVALS: Record<string, Approved> = {
  "of a session for a shared server holds for other sessions and the agent": {
    calls: [
      ["A", act, sessionsUser],
      ["B", act, undefined],
      ["agent", act, undefined],
    ],
  },
  "of the agent's user holds in sessions": {
    calls: [
      ["agent", act, agentsUser],
      ["A", act, undefined],
      ["A", look, sessionsUser],
    ],
  },
  "for a resource or prompt holds for the agent and its sessions": {
    calls: [
      ["A", read, sessionsUser],
      ["agent", read, undefined],
      ["agent", readOther, agentsUser],
      ["agent", prompt, agentsUser],
      ["B", prompt, undefined],
    ],
  },
  "for a session's own server holds in this session": {
    options: mine,
    calls: [
      ["A", actMine, sessionsUser],
      ["A", actMine, undefined],
      ["B", actMine, sessionsUser],
    ],
  },
  "for a server that runs once for each session holds in all of them": {
    config: asks(eachSession),
    calls: [
      ["A", act, sessionsUser],
      ["B", act, undefined],
      ["agent", act, undefined],
    ],
  },
  "for a native tool holds on this board or in this session": {
    calls: [
      ["agent", native, agentsUser],
      ["agent", native, undefined],
      ["A", native, sessionsUser],
      ["A", native, undefined],
      ["B", native, sessionsUser],
    ],
  },
  "of a command holds in the gateway that runs the server": {
    calls: [
      ["command", act, "the command's user is asked"],
      ["gateway", act, undefined],
      ["command's A", act, undefined],
    ],
  },
  "holds for other people too, unless the call says whose answers count": {
    config: asks(people),
    calls: [
      ["anna", by("anna"), sessionsUser],
      ["anna", by("anna"), undefined],
      ["bert", by("bert"), sessionsUser],
      ["bert", act, sessionsUser],
      ["anna", act, undefined],
    ],
  },
};

describe("an approval", () => {
  it.each(Object.entries(APPROVALS))("%s", async (_, { config = asks(), options, calls }) => {
    answer = "always";
    const board = actors(config(), options);
    for (const [who, ask, asked] of calls) {
      const opened = await board(who);
      // An approval is for what is listed, and a list that is not known yet is another.
      await opened.prompts.list();
      begin();
      expect(await codeOf(ask(opened))).toBe("ok");
      expect([who, seen.find((each) => each.endsWith("is asked"))]).toEqual([who, asked]);
    }
  });
});

interface Concurrent {
  config?: () => BoardConfig;
  options?: () => Partial<SessionOptions>;
  tool?: string;
  first: Who;
  second: Who;
  becomes: "waits" | "runs";
}

const single =
  (more: object = {}) =>
  (): BoardConfig =>
    only({ concurrency: 1, ...more });
const brought = {
  config: () => only({}, { session: { concurrency: 1 } }),
  options: mine,
  tool: "mine/act",
};

const CONCURRENCY: Record<string, Concurrent> = {
  "of the agent and a session": { first: "agent", second: "A", becomes: "waits" },
  "of two sessions, on a shared server": { first: "A", second: "B", becomes: "waits" },
  "of two people, on a server that each has for themselves": {
    config: single(people),
    first: "anna",
    second: "bert",
    becomes: "waits",
  },
  "of a command and of the gateway that runs the server": {
    first: "command",
    second: "gateway",
    becomes: "waits",
  },
  "of a session, on a server that it brings": {
    ...brought,
    first: "A",
    second: "A",
    becomes: "waits",
  },
  "of two sessions, on a server that runs once for each": {
    config: single(eachSession),
    first: "A",
    second: "B",
    becomes: "runs",
  },
  "of two sessions, on a server that each brings": {
    ...brought,
    first: "A",
    second: "B",
    becomes: "runs",
  },
};

describe("with one permit, the second of two calls", () => {
  it.each(Object.entries(CONCURRENCY))("%s", async (_, row) => {
    const { config = single(), options, tool = "docs/act", first, second, becomes } = row;
    const board = actors(config(), options);
    const [holder, other] = [await board(first), await board(second)];
    begin();
    const release = server.holdNext();
    const holding = holder.call(tool);
    await eventually(() => gotBy(/call/) === 1);
    let update = "";
    const onUpdate: UpdateListener = ({ content }) => (update = JSON.stringify(content));
    const next = other.call(tool, {}, { onUpdate });
    if (becomes === "runs") expect(await codeOf(next)).toBe("ok");
    else await eventually(() => update.includes("waits until another call"));
    expect(gotBy(/call/)).toBe(becomes === "runs" ? 2 : 1);
    release();
    expect([await codeOf(holding), await codeOf(next)]).toEqual(["ok", "ok"]);
  });

  it.each([
    ["call", act],
    ["read", read],
    ["prompt", prompt],
  ])("is approved before it waits: a %s", async (kind, ask) => {
    const tools = { act: 1, "resource:*": 1, "prompt:*": 1 };
    const docsServer = docs({ trusted: true, concurrency: { tools } });
    const board = await actors(configuration({ servers: { docs: docsServer }, tools: {} }))("A");
    begin();
    const asked = (): number => seen.filter((each) => each === sessionsUser).length;
    const got = (): number => gotBy(new RegExp(kind));
    const release = server.holdNext();
    const holding = ask(board);
    await eventually(() => got() === 1);
    const next = ask(board);
    await eventually(() => asked() === 2);
    // Whatever does not wait has been sent when another tool has answered.
    expect(await codeOf(look(board))).toBe("ok");
    const others = kind === "call" ? 1 : 0;
    expect(got()).toBe(1 + others);
    release();
    expect([await codeOf(holding), await codeOf(next)]).toEqual(["ok", "ok"]);
    expect(got()).toBe(2 + others);
  });
});

function gotBy(what: RegExp): number {
  return seen.filter((each) => each.startsWith("the server gets") && what.test(each)).length;
}

interface Pinned {
  config?: () => BoardConfig;
  options?: () => Partial<SessionOptions>;
  /** Of the agent's board. */
  start?: BoardOptions["start"];
  who: Who;
  ask: (board: BoardBase) => Promise<unknown>;
  /** Default: it is answered. */
  code?: string;
}

const block =
  (more: object = {}) =>
  (): BoardConfig =>
    only({ rateLimit: 300, ...more });

const PINS: Record<string, Pinned> = {
  "a call on the agent's board": { who: "agent", ask: act, code: "CHANGED_TOOL" },
  "a session's call of a shared server": { who: "A", ask: act, code: "CHANGED_TOOL" },
  "not a session's call of its own server": { options: mine, who: "A", ask: actMine },
  "a session's call of a server that runs once for each session": {
    config: block(eachSession),
    who: "A",
    ask: act,
    code: "CHANGED_TOOL",
  },
  "a session's read of a server that runs once for each session": {
    config: block(eachSession),
    who: "A",
    ask: read,
    code: "CHANGED_TOOL",
  },
  "a call in a person's session, where the agent's board has seen it too": {
    config: block(people),
    who: "anna",
    ask: act,
    code: "CHANGED_TOOL",
  },
  "a call in a person's session, where the agent's board has not seen it": {
    config: block(people),
    start: "none",
    who: "anna",
    ask: act,
    code: "CHANGED_TOOL",
  },
  "a call of a server that a gateway runs": { who: "command", ask: act, code: "CHANGED_TOOL" },
  "a read on the agent's board": { who: "agent", ask: read, code: "CHANGED_TOOL" },
  "a session's read of a shared server": { who: "A", ask: read, code: "CHANGED_TOOL" },
  "not a session's read of its own server": { options: mine, who: "A", ask: readOwn },
  "a read in a person's session": {
    config: block(people),
    who: "anna",
    ask: read,
    code: "CHANGED_TOOL",
  },
  "a read of a server that a gateway runs": { who: "command", ask: read, code: "CHANGED_TOOL" },
  "a prompt on the agent's board": { who: "agent", ask: prompt, code: "CHANGED_TOOL" },
  "a session's prompt of a shared server": { who: "A", ask: prompt, code: "CHANGED_TOOL" },
};

describe("what has changed since it was pinned is refused before any limit counts it", () => {
  it.each(Object.entries(PINS))("%s", async (_, row) => {
    const { config = block(), options, start, who, ask, code = "ok" } = row;
    const pins = memoryPins();
    const earlier = await openWith(config(), { state: notedState(pins) });
    await Promise.all([earlier.resources.list(), earlier.prompts.list()]);
    await earlier.close();
    server.description = "as it has become";
    const board = await actors(config(), options, notedState(pins), start)(who);
    await Promise.all([board.resources.list(), board.prompts.list()]);
    begin();
    expect(await codeOf(ask(board))).toBe(code);
    const isRefused = code !== "ok";
    expect(gotBy(/./)).toBe(isRefused ? 0 : 1);
    if (isRefused) expect(seen.filter((each) => each.includes("limits"))).toEqual([]);
  });
});
