// A program without types can give anything to the library. It gets a PlugboardError that names what is wrong, or a failed
// outcome, and never a TypeError from deep within.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toAiSdkTools } from "../src/adapters/ai-sdk.ts";
import { toAnthropicTools } from "../src/adapters/anthropic.ts";
import { loadMCPServers } from "../src/adapters/clawtools.ts";
import { toLangChainTools } from "../src/adapters/langchain.ts";
import { toOpenAiTools } from "../src/adapters/openai.ts";
import { toPiTools } from "../src/adapters/pi.ts";
import {
  degradeContent,
  loadConfig,
  normalizeSchema,
  openBoard,
  PlugboardError,
  serveMcp,
} from "../src/index.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- what a program without types has
type Any = any;

const WRONG: readonly (readonly [string, unknown])[] = [
  ["a number", 7],
  ["null", null],
  ["undefined", undefined],
  ["a list", [7]],
  ["a function", () => 7],
  ["a symbol", Symbol("x")],
  ["a flag", true],
  ["a string", "x"],
  ["an object", { a: 1 }],
  ["a bigint", 7n],
  ["an empty list", []],
  ["an object that contains itself", circular()],
];
/** Those whose getters throw. */
const UNREADABLE: readonly (readonly [string, unknown])[] = [
  ["an object that throws", throwing()],
  ["a proxy that throws", new Proxy({}, { get: fail, ownKeys: fail, has: fail })],
  ["a proxy that is gone", gone()],
];

function fail(): never {
  throw new TypeError("cannot be read");
}

function circular(): object {
  const made: Any = {};
  made.itself = made;
  return made;
}

function throwing(): object {
  return Object.defineProperty({ cwd: "/" }, "servers", { enumerable: true, get: fail });
}

function gone(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const NATIVE = {
  name: "echo",
  description: "Echoes.",
  parameters: { type: "object" },
  execute: () => ({ content: [] }),
};

let board: Any;
let session: Any;
/** What the native tool `gives` gives. */
let result: Any;

beforeAll(async () => {
  const gives = { ...NATIVE, name: "gives", execute: () => result };
  board = await openBoard({ servers: {} }, { native: [NATIVE, gives] });
  session = await board.openSession({ cwd: process.cwd() });
});

afterAll(() => board.close());

type Member = readonly [name: string, use: (value: Any) => unknown];

/** One member for each key of its options. */
function each(name: string, keys: string, use: (options: Any) => unknown): Member[] {
  return keys
    .split(" ")
    .map((key) => [`${name} with ${key}`, (value) => use({ [key]: value })] as const);
}

async function closed(opening: Promise<Any>): Promise<void> {
  await (await opening).close();
}

const ENDED = AbortSignal.abort();
const served = (options: object): unknown => serveMcp(board, { signal: ENDED, ...options });

const FUNCTIONS: Member[] = [
  ["openBoard", (value) => closed(openBoard(value))],
  ["openBoard's options", (value) => closed(openBoard({ servers: {} }, value))],
  ...each("openBoard", "servers toolSearch", (config) => closed(openBoard(config))),
  ...each(
    "openBoard",
    "native workspaceDir stateDir state start onAuthorization restartHint onApproval onElicitation onSampling roots " +
      "embed onToolsChanged signal logger secretProviders env programPath clock random defaultToolTimeout",
    (options) => closed(openBoard({ servers: {} }, { ...options, ...withoutFiles(options) })),
  ),
  ...each("a native tool", "name description parameters execute label annotations", (given) =>
    closed(openBoard({ servers: {} }, { native: [{ ...NATIVE, ...given }] })),
  ),
  ["loadConfig", (value) => loadConfig(value)],
  ["loadConfig's agent", (value) => loadConfig("/no/file", value)],
  ["loadConfig's options", (value) => loadConfig("/no/file", undefined, value)],
  ["normalizeSchema", (value) => normalizeSchema(value, "openai")],
  ["normalizeSchema's members", (value) => normalizeSchema({ not: value, enum: value }, "openai")],
  ["normalizeSchema's provider", (value) => normalizeSchema({}, value)],
  ["degradeContent", (value) => degradeContent(value)],
  ["degradeContent's kinds", (value) => degradeContent([], value)],
  ["serveMcp", (value) => serveMcp(value, { signal: ENDED })],
  ["serveMcp's options", (value) => isOptions(value) || serveMcp(board, value)],
  ...each("serveMcp", "input output onClient about keepsApps search clock logger", served),
  ...each("serveMcp", "signal", ({ signal }) => signal === undefined || served({ signal })),
];

/** Serving with these options is not wrong, and goes on until stdin ends. */
function isOptions(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && !!value && !Array.isArray(value));
}

/** A string is a directory where state is kept. */
function withoutFiles({ stateDir }: { stateDir?: unknown }): object {
  return typeof stateDir === "string" ? { stateDir: undefined } : {};
}

function membersOf(of: () => Any): Member[] {
  const call = (options: object): unknown => of().call("echo", {}, options);
  return [
    ["call", (value) => of().call(value)],
    ["call's arguments", (value) => of().call("echo", value)],
    ["call's options", (value) => of().call("echo", {}, value)],
    ...each("call", "signal onUpdate callId caller onApproval onElicitation input", call),
    ["find", (value) => of().find(value)],
    ["find's options", (value) => of().find("echo", value)],
    ["find's signal", (value) => of().find("nope", { signal: value })],
    ["tools", (value) => of().tools(value)],
    ["include", (value) => of().include(value)],
    ["exclude", (value) => of().exclude(value)],
    ["search", (value) => of().search(value)],
    ["search's options", (value) => of().search("x", value)],
    ...each("search", "limit servers", (options) => of().search("x", options)),
    ["on", (value) => of().on("tools", value)()],
    ["on's event", (value) => of().on(value, () => {})()],
    ["setLogLevel", (value) => of().setLogLevel(value)],
    ["setRoots", (value) => of().setRoots(value)],
    ["restart", (value) => of().restart(value)],
    ["stop", (value) => of().stop(value)],
    ["setEnabled", (value) => of().setEnabled(value, true)],
    ["redactor.text", (value) => of().redactor.text(value)],
    ["redactor.value", (value) => of().redactor.value(value)],
    ["redactor.stream", (value) => of().redactor.stream().push(value)],
    ["resources.list", (value) => of().resources.list(value)],
    ["resources.list's options", (value) => of().resources.list(undefined, value)],
    ["resources.templates", (value) => of().resources.templates(value)],
    ["resources.read", (value) => of().resources.read(value)],
    ["resources.read's options", (value) => of().resources.read("a:b", value)],
    ...each("resources.read", "signal server", (options) => of().resources.read("a:b", options)),
    ["resources.subscribe", (value) => of().resources.subscribe(value)],
    ["resources.subscribe's options", (value) => of().resources.subscribe("a:b", value)],
    ["resources.unsubscribe", (value) => of().resources.unsubscribe(value)],
    ["resources.unsubscribe's options", (value) => of().resources.unsubscribe("a:b", value)],
    ["resources.complete", (value) => of().resources.complete(value, "a", "b")],
    ["resources.complete's argument", (value) => of().resources.complete("a:{b}", value, "b")],
    ["resources.complete's options", (value) => of().resources.complete("a:{b}", "b", "", value)],
    ["resources.context", (value) => of().resources.context(value)],
    ["resources.block", (value) => of().resources.block(value)],
    ["prompts.list", (value) => of().prompts.list(value)],
    ["prompts.list's options", (value) => of().prompts.list(undefined, value)],
    ["prompts.get", (value) => of().prompts.get(value)],
    ["prompts.get's arguments", (value) => of().prompts.get("a", value)],
    ["prompts.get's options", (value) => of().prompts.get("a", {}, value)],
    ["prompts.forModel", (value) => of().prompts.forModel(value)],
    ["prompts.complete", (value) => of().prompts.complete(value, "a", "b")],
    ["prompts.complete's value", (value) => of().prompts.complete("a", "b", value)],
    ["prompts.complete's options", (value) => of().prompts.complete("a", "b", "", value)],
  ];
}

const OF_AGENT: Member[] = [
  ["openSession", (value) => closed(board.openSession(value))],
  ...each(
    "openSession",
    "cwd servers additionalDirectories id native onApproval approval tools rateLimit roots startupWait toolNames",
    (options) => closed(board.openSession({ cwd: process.cwd(), ...options })),
  ),
  ["reload", (value) => board.reload(value)],
  ["signIn", (value) => board.signIn(value)],
  ["signOut", (value) => board.signOut(value)],
  ["secrets.check", (value) => board.secrets.check(value)],
  ["trace", (value) => board.trace(value)()],
  ["trace's options", (value) => board.trace(() => {}, value)()],
];

const OF_SESSION: Member[] = [
  ["add", (value) => session.add(value, {})],
  ["add's configuration", (value) => session.add("n", value)],
  ["remove", (value) => session.remove(value)],
];

const LANGCHAIN = { DynamicStructuredTool: Object, ToolMessage: Object } as Any;
const registry = { register: () => {} };

const ADAPTERS: Member[] = [
  ...Object.entries<(given: Any, options?: Any) => Any>({
    toOpenAiTools: (given, options = { api: "chat" }) => toOpenAiTools(given, options),
    toAnthropicTools,
    toAiSdkTools,
    toPiTools,
    toLangChainTools: (given, options) => toLangChainTools(given, LANGCHAIN, options),
  }).flatMap(([name, make]): Member[] => {
    const listed = (given: Any, options?: Any): unknown => Object.values(make(given, options));
    return [
      [name, (value) => listed(value)],
      [`${name}'s options`, (value) => listed(board, value)],
      ...each(name, "toolSearch onDiagnostic contextWindow provider", (options) =>
        listed(board, { api: "chat", ...options }),
      ),
    ];
  }),
  ["toLangChainTools' classes", (value) => toLangChainTools(board, value)],
  ["loadMCPServers", (value) => closed(loadMCPServers(value, registry))],
  ["loadMCPServers' registry", (value) => closed(loadMCPServers({ servers: {} }, value))],
  ["loadMCPServers' options", (value) => closed(loadMCPServers({ servers: {} }, registry, value))],
  ...["chat", "responses", "anthropic"].flatMap((api): Member[] => {
    const made = (): Any =>
      api === "anthropic" ? toAnthropicTools(board) : toOpenAiTools(board, { api } as Any);
    return [
      [`execute of ${api}`, (value) => made().execute(value)],
      [`execute's options of ${api}`, (value) => made().execute({ id: "1", name: "echo" }, value)],
      [`executeAll of ${api}`, (value) => made().executeAll(value)],
      [
        `executeAll's calls of ${api}`,
        (value) => made().executeAll({ content: value, output: value, tool_calls: value }),
      ],
      [`preselect of ${api}`, (value) => made().preselect(value)],
    ];
  }),
  ["execute's options of the AI SDK", (value) => toAiSdkTools(board).echo?.execute({}, value)],
];

const MEMBERS = [
  ...FUNCTIONS,
  ...membersOf(() => board).map(([name, use]) => [`board.${name}`, use] as const),
  ...OF_AGENT.map(([name, use]) => [`board.${name}`, use] as const),
  ...membersOf(() => session).map(([name, use]) => [`session.${name}`, use] as const),
  ...OF_SESSION.map(([name, use]) => [`session.${name}`, use] as const),
  ...ADAPTERS,
];

describe("whatever is given", () => {
  it.each(MEMBERS)("%s never throws anything but a PlugboardError", async (_, use) => {
    const raw: string[] = [];
    for (const [what, value] of WRONG) {
      try {
        await use(value);
      } catch (error) {
        if (!(error instanceof PlugboardError)) raw.push(`${what}: ${String(error)}`);
      }
    }
    expect(raw).toEqual([]);
  });
});

describe("what cannot be read", () => {
  const members: Member[] = [
    ["openBoard", (value) => openBoard(value)],
    ["openBoard's servers", (value) => openBoard({ servers: value })],
    [
      "a server's variables",
      (value) => openBoard({ servers: { a: { command: "x", env: value } } }),
    ],
    ["reload", (value) => board.reload(value)],
    ["openSession", (value) => board.openSession(value)],
    ["openSession's servers", (value) => board.openSession({ cwd: "/", servers: value })],
    ["add's configuration", (value) => session.add("n", value)],
    ["normalizeSchema", (value) => normalizeSchema(value, "openai")],
    ["loadConfig", (value) => loadConfig(value)],
  ];
  it.each(members)("is refused by %s", async (_, use) => {
    const answers = UNREADABLE.map(async ([, value]): Promise<unknown> => use(value));
    for (const { status, reason } of (await Promise.allSettled(
      answers,
    )) as PromiseRejectedResult[]) {
      expect(status).toBe("rejected");
      expect(reason).toBeInstanceOf(PlugboardError);
    }
  });
});

it.each([
  ["find", () => board.find(7), "the name of the tool must be a string, not this number"],
  ["resources.read", () => board.resources.read(null), "the URI must be a string, not null"],
  [
    "prompts.get",
    () => board.prompts.get([]),
    "the name of the prompt must be a string, not this list",
  ],
  [
    "openBoard",
    () => openBoard(undefined as Any),
    "the configuration must be an object, not undefined",
  ],
  [
    "an option",
    () => openBoard({ servers: {} }, { signal: 7 } as Any),
    "options.signal must be an AbortSignal, not this number",
  ],
  ["serveMcp", () => serveMcp({} as Any), "the board must be a board, not this object"],
  [
    "an option of several words",
    () => openBoard({ servers: {} }, { start: "now" } as Any),
    "options.start must be eager, unknown, stale or none, not this string",
  ],
  [
    "a session",
    () => board.openSession({ cwd: 5 }),
    "the cwd of a session must be a string, not this number",
  ],
])("%s says what is wrong", async (_, use, message) => {
  await expect(use()).rejects.toMatchObject({ code: "INVALID_ARGUMENTS", message });
});

it.each([
  ["name", [Symbol("x")], "the name of the tool must be a string, not this symbol"],
  ["arguments", ["echo", 7], "the arguments must be an object, not this number"],
  ["options", ["echo", {}, null], "options must be an object, not null"],
])("a call with a wrong %s is a failed outcome", async (_, given, message) => {
  const outcome = await board.call(...given);
  expect(outcome).toMatchObject({ isError: true, failure: { code: "INVALID_ARGUMENTS" } });
  expect(JSON.stringify(outcome.content)).toContain(message);
});

it.each([
  ["nothing", undefined, "the result of the native tool 'gives' must be an object, not undefined"],
  ["a text", "done", "the result of the native tool 'gives' must be an object, not this string"],
  [
    "a result without content",
    { text: "done" },
    "content in the result of the native tool 'gives' must be a list of objects, not undefined",
  ],
  [
    "content that is no list of blocks",
    { content: ["done"] },
    "content in the result of the native tool 'gives' must be a list of objects, not this list",
  ],
])("a native tool that gives %s has failed", async (_, given, message) => {
  result = given;
  const outcome = await board.call("gives", {});
  expect(outcome).toMatchObject({ isError: true, failure: { code: "TOOL_FAILED", message } });
});
