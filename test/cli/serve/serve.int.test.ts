// `plugboard serve`, as an MCP client sees it: with one server and `toolNames: "{tool}"` it is that server, and a board
// without tools says why.

import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();
const closers: (() => Promise<unknown>)[] = [];
// Before the scratch looks for processes that are left.
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const EVERYTHING = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

/** As the gateway tells every server: some list other tools for others. */
const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};

interface Answer {
  result: { tools: { name: string }[]; content?: unknown };
}

interface Peer {
  /** What the server said when the client began. */
  begun: { instructions?: string; serverInfo: { name: string } };
  ask: (method: string, params?: object) => Promise<Answer>;
  /** Resolves when it has sent such a notification. */
  told: (method: string) => Promise<void>;
}

/** With what it writes for people, and the way to stop it. */
interface Served extends Peer {
  stderr: Sink;
  interrupt: () => void;
  hangUp: () => void;
}

async function begin(input: Writable, output: Readable): Promise<Peer> {
  const waiting = new Map<number, (message: Record<string, unknown>) => void>();
  const notified = new EventEmitter();
  const heard = new Set<string>();
  createInterface({ input: output }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) return waiting.get(message.id)?.(message);
    heard.add(message.method);
    notified.emit(message.method);
    return undefined;
  });
  const told = async (method: string): Promise<void> => {
    if (!heard.has(method)) await once(notified, method);
  };
  let ids = 0;
  const send = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method: string, params: object = {}): Promise<Answer> =>
    new Promise((resolve) => {
      ids += 1;
      waiting.set(ids, ({ result, error }) =>
        resolve((error === undefined ? { result } : { error }) as Answer),
      );
      send({ id: ids, method, params });
    });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: CAPABILITIES, clientInfo };
  const { result } = await ask("initialize", params);
  send({ method: "notifications/initialized" });
  return { begun: result as unknown as Peer["begun"], ask, told };
}

/** The server itself. */
async function direct(args: readonly string[]): Promise<Peer> {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
  closers.push(async () => {
    child.stdin.end();
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
  });
  return begin(child.stdin, child.stdout);
}

/** `plugboard serve` in this process. Ends with the test. */
function serve(...options: string[]): Promise<Served> {
  return start([...options, "serve"]);
}

async function start(argv: readonly string[]): Promise<Served> {
  const stdin = new PassThrough();
  const stdout = new Sink();
  const output = new PassThrough();
  stdout._write = (chunk, _, done) => {
    output.write(chunk);
    done();
  };
  const { done, stderr, events } = scratch.start([...argv], { stdin, stdout });
  let code = 0;
  const interrupt = (): void => {
    code = 130;
    events.emit("SIGINT");
  };
  closers.push(async () => {
    stdin.end();
    expect((await done).code).toBe(code);
  });
  const hangUp = (): void => void events.emit("SIGHUP");
  return { ...(await begin(stdin, output)), stderr, interrupt, hangUp };
}

function configure(settings: object): string {
  return scratch.file("board.json", { agents: { defaults: settings } });
}

interface Item {
  src?: string;
  execution?: { taskSupport?: string };
}

/** Icons that a host could not show without a risk are left out, and so are tools that it could not run. */
function asServed(answer: Answer): unknown {
  const isLeftOut = ({ src, execution }: Item): boolean =>
    src?.startsWith("javascript:") === true || execution?.taskSupport === "required";
  return JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
    Array.isArray(value) ? value.filter((each: Item) => !isLeftOut(each)) : value,
  );
}

type Request = [method: string, params: object];

const LISTS: Request[] = [
  ["tools/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["prompts/list", {}],
];

describe("with --search", () => {
  it("has four tools, which find and call those of the board", async () => {
    const file = configure({
      mcp: { servers: { office: { ...fixture("office"), trusted: true } } },
    });
    const { ask, begun } = await start(["--config", file, "serve", "--search"]);
    expect(begun.instructions).toContain("found with search_tools: office.");
    const { result } = await ask("tools/list");
    expect(result.tools.map(({ name }) => name)).toEqual([
      "search_tools",
      "describe_tool",
      "call_tool",
      "call_changing_tool",
    ]);
    const queries = ["find a badge"];
    const found = await ask("tools/call", {
      name: "search_tools",
      arguments: { queries, limit: 1 },
    });
    expect(JSON.stringify(found.result.content)).toContain("office__find_badge (call_tool)");
    const called = { name: "office__find_badge", arguments: { id: "7" } };
    expect(await ask("tools/call", { name: "call_tool", arguments: called })).toMatchObject({
      result: { structuredContent: { tool: "find_badge", id: "7" } },
    });
  });
});

describe("tools for the owner", () => {
  it.each([
    [[], ["echo__add"]],
    [["--owner"], ["echo__add", "echo__echo", "shout"]],
  ])("with the options %j, the client has %j", async (options, names) => {
    scratch.file(
      "tools.mjs",
      'export default { name: "shout", description: "x", parameters: { type: "object" }, ownerOnly: true, execute: () => ({ content: [] }) };',
    );
    const file = configure({
      tools: { native: ["./tools.mjs"], allow: ["echo/add", "echo/echo", "native/*"] },
      mcp: { servers: { echo: { ...fixture("echo"), tools: { ownerOnly: ["echo"] } } } },
    });
    const { ask } = await serve("--config", file, ...options);
    const { result } = await ask("tools/list");
    expect(result.tools.map(({ name }) => name).sort()).toEqual(names);
    const called = await ask("tools/call", { name: "echo__echo", arguments: { text: "hi" } });
    expect(JSON.stringify(called).includes("reserved for the owner")).toBe(options.length === 0);
  });
});

describe("with one server and its own tool names", () => {
  it.each<[string, string[], Request[]]>([
    [
      "server-everything",
      [EVERYTHING],
      [
        ["tools/call", { name: "echo", arguments: { message: "hi" } }],
        ["tools/call", { name: "get-structured-content", arguments: { location: "Chicago" } }],
        ["tools/call", { name: "get-annotated-message", arguments: { messageType: "error" } }],
        ["tools/call", { name: "get-resource-links", arguments: { count: 2 } }],
        ["tools/call", { name: "get-tiny-image", arguments: {} }],
        ["resources/read", { uri: "demo://resource/static/document/features.md" }],
        ["prompts/get", { name: "args-prompt", arguments: { city: "Rome" } }],
        [
          "completion/complete",
          {
            ref: { type: "ref/prompt", name: "completable-prompt" },
            argument: { name: "department", value: "" },
          },
        ],
        [
          "completion/complete",
          {
            ref: { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" },
            argument: { name: "resourceId", value: "1" },
          },
        ],
      ],
    ],
    [
      "a server that says whatever can be said",
      fixture("faithful").args ?? [],
      [
        ["tools/call", { name: "log", arguments: {} }],
        ["resources/read", { uri: "note:///a" }],
        ["resources/read", { uri: "note:///unlisted" }],
        ["prompts/get", { name: "greet", arguments: { who: "you" } }],
      ],
    ],
  ])("serve is %s, but for its name", async (_, args, requests) => {
    const servers = { only: { command: process.execPath, args } };
    const file = configure({ mcp: { servers, toolNames: "{tool}" } });
    const [own, served] = await Promise.all([direct(args), serve("--config", file)]);
    expect(served.begun.serverInfo.name).toBe("plugboard");
    for (const [method, params] of [...LISTS, ...requests]) {
      const [mine, theirs] = await Promise.all([
        own.ask(method, params),
        served.ask(method, params),
      ]);
      expect(theirs, `${method} ${JSON.stringify(params)}`).toEqual(asServed(mine));
    }
    // Its first `initialize` came before the server had said anything.
    const { result } = await served.ask("server/discover", {
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    });
    expect(result).toMatchObject({ instructions: own.begun.instructions });
  });
});

describe("a client that asks at once", () => {
  it("gets the tools of servers that nobody has ever listed, also if they start slowly", async () => {
    const servers = { slow: fixture("echo", "--start-delay=500"), plain: fixture("faithful") };
    const { ask } = await serve("--config", configure({ mcp: { servers } }));
    const { result } = await ask("tools/list");
    const names = result.tools.map(({ name }) => name);
    expect(names).toContain("slow__echo");
    expect(names).toContain("plain__told");
  });

  it("waits for no server that any command has listed, and is told when one is there", async () => {
    const isTime = scratch.file("is-time", {});
    const slow = fixture("slow-start", `--until=${isTime}`);
    const config = configure({ mcp: { servers: { slow, plain: fixture("echo") } } });
    // This command tells servers of other capabilities than `serve`.
    await scratch.run(["--config", config, "tools"]);
    rmSync(isTime);
    const { begun, ask, told } = await serve("--config", config);
    expect(begun.instructions).toBe(
      "# MCP server slow\n\nBe patient.\n\n# MCP server plain\n\nTools for trying things out.",
    );
    const { result } = await ask("tools/list");
    expect(result.tools.map(({ name }) => name)).toContain("slow__echo");
    expect((await ask("prompts/list")).result).toEqual({ prompts: [] });
    scratch.file("is-time", {});
    await told("notifications/prompts/list_changed");
    expect((await ask("prompts/list")).result).toEqual({ prompts: [{ name: "wait" }] });
  });
});

describe("a board without tools", () => {
  it.each<[string, () => string[], RegExp]>([
    [
      "without a configuration",
      () => [],
      /there is no configuration\. To add servers, list them in .*plugboard\.json/,
    ],
    [
      "with a configuration without servers",
      () => ["--config", configure({})],
      /board\.json has no MCP servers\. To add servers, list them in mcpServers of /,
    ],
    [
      "with servers that are disabled",
      () => ["--config", configure({ mcp: { servers: { a: { command: "x", enabled: false } } } })],
      /every MCP server in .*board\.json is disabled/,
    ],
    [
      "with a file that nobody trusts",
      () => {
        scratch.file("tools.mjs", "throw new Error('it ran');");
        const mcp = { servers: { evil: { command: "evil" } } };
        const defaults = { mcp, tools: { native: ["tools.mjs"] } };
        scratch.file("plugboard.json", { agents: { defaults } });
        return [];
      },
      /plugboard\.json is not trusted; if you trust it, run in its directory: plugboard trust/,
    ],
  ])("%s says what to do", async (name, options, expected) => {
    const { begun, ask, stderr } = await serve(...options());
    expect(stderr.text.replace(/\s+/g, " ")).toMatch(expected);
    expect(begun.instructions).toMatch(/^Plugboard offers no tools, because /);
    expect(begun.instructions).toMatch(expected);
    expect(begun.instructions).toMatch(/[^.]\. Tell the user\.$/);
    // A command is copied as it stands.
    expect(stderr.text).not.toMatch(/^ +plugboard .*\.$/m);
    // A file that was there at the start is watched.
    expect(/restart Plugboard/.test(begun.instructions ?? "")).toBe(
      name === "without a configuration",
    );
    expect(await ask("tools/list")).toEqual({ result: { tools: [] } });
    expect(await ask("resources/list")).toEqual({ result: { resources: [] } });
    expect(await ask("prompts/list")).toEqual({ result: { prompts: [] } });
  });
});

it("a board with your own servers says what is missing while a project's file is not trusted", async () => {
  mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
  scratch.file("home/plugboard.json", { mcpServers: { mine: fixture("echo") } });
  const file = scratch.file("plugboard.json", {
    mcpServers: { evil: { command: "evil" } },
    agents: { defaults: { tools: { allow: [] } } },
  });
  const { begun, ask } = await serve();
  expect(begun.instructions).toContain(
    `Plugboard offers none of the tools of ${file}, because ${file} is not trusted; if you trust it, run in its directory: plugboard trust. Tell the user.`,
  );
  const { tools } = (await ask("tools/list")).result;
  expect(tools.map(({ name }) => name)).toContain("mine__echo");
  await scratch.run(["trust", "--yes"]);
  scratch.file("plugboard.json", {
    mcpServers: { evil: { command: "evil" }, more: { command: "more" } },
    agents: { defaults: { tools: { allow: [] } } },
  });
  expect((await serve()).begun.instructions).toContain(
    `Plugboard offers none of the tools of more, because ${file} has changed since you trusted it;`,
  );
});

describe("an edit of the configuration", () => {
  const servers = (names: Record<string, object>): object => ({ mcp: { servers: names } });
  const listed = async ({ ask }: Pick<Served, "ask">): Promise<string[]> =>
    (await ask("tools/list")).result.tools.map(({ name }) => name);
  const until = async (served: Served, isIt: (names: string[]) => boolean): Promise<void> => {
    while (!isIt(await listed(served))) {
      // Both ends are in this process: without a pause nothing else would get its turn.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const lists = (served: Served, name: string): Promise<void> =>
    until(served, (names) => names.includes(name));

  it("applies once a person approves what it starts, and SIGHUP does not approve it", async () => {
    const file = configure(servers({ echo: fixture("echo") }));
    const served = await serve("--config", file);
    expect(await listed(served)).toContain("echo__echo");
    configure(servers({ echo: fixture("echo"), more: fixture("list-changed") }));
    await served.stderr.until("waits for you");
    served.hangUp();
    expect(await listed(served)).not.toContain("more__swap");
    const { code } = await scratch.run(["--config", file, "trust", "--yes"]);
    expect(code).toBe(0);
    await served.stderr.until("was reloaded; added: more");
    await lists(served, "more__swap");
    // Rules start nothing, so nobody is asked.
    configure({
      ...servers({ echo: fixture("echo"), more: fixture("list-changed") }),
      tools: { deny: ["echo/*"] },
    });
    await until(served, (names) => names.every((name) => !name.startsWith("echo")));
    // A server for each session needs a session, and this client began without one.
    configure(servers({ each: { ...fixture("echo"), scope: "session" } }));
    await scratch.run(["--config", file, "trust", "--yes"]);
    await served.stderr.until(
      'servers of scope "session" will be started when this command is started again',
    );
  });

  it("starts what nobody had trusted at the start, once somebody does", async () => {
    scratch.file("plugboard.json", { agents: { defaults: servers({ echo: fixture("echo") }) } });
    const served = await serve();
    expect(await listed(served)).toEqual([]);
    await scratch.run(["trust", "--yes"]);
    await served.stderr.until("was reloaded");
    await lists(served, "echo__echo");
  });
});

it("tells the client why its call was cancelled when it is stopped", async () => {
  const file = configure({ mcp: { servers: { echo: fixture("echo") } } });
  const { ask, interrupt } = await serve("--config", file);
  await ask("tools/list");
  const slow = ask("tools/call", { name: "echo__sleep", arguments: { ms: 60_000 } });
  await ask("tools/call", { name: "echo__echo", arguments: { text: "behind it" } });
  interrupt();
  expect(JSON.stringify((await slow).result.content)).toMatch(
    /'sleep' may have taken effect.*because Plugboard is stopping/,
  );
});

describe("native tools of the configuration", () => {
  const SOURCE = `export default { name: "today", label: "The date", description: "Which day it is.",
    parameters: { type: "object" }, execute: () => ({ content: [{ type: "text", text: "Monday" }] }) };`;

  it("are served, called and listed", async () => {
    scratch.file("today.mjs", SOURCE);
    const file = configure({ tools: { native: ["./today.mjs"] } });
    const { begun, ask } = await serve("--config", file);
    expect(begun.instructions).toBeUndefined();
    const { result } = await ask("tools/list");
    expect(result.tools).toMatchObject([{ name: "today", title: "The date" }]);
    const called = await ask("tools/call", { name: "today" });
    expect(called.result.content).toEqual([{ type: "text", text: "Monday" }]);
    const options = ["--config", file];
    expect((await scratch.run([...options, "call", "today"])).stdout).toContain("Monday");
    expect((await scratch.run([...options, "tools"])).stdout).toContain("today");
  });

  it("that cannot be loaded are an error that names the file", async () => {
    scratch.file("today.mjs", "export const nothing = 1;");
    const file = configure({ tools: { native: ["./today.mjs"] } });
    const { code, stderr } = await scratch.run(["--config", file, "serve"]);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/tools\.native: \.\/today\.mjs: has no default export/);
  });
});
