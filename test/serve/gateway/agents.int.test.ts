// Which board answers whom: servers of one session, and what a token may do. Over real sockets.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionBoard } from "../../../src/core/types/board.ts";
import type { TokenPolicy } from "../../../src/core/types/caller.ts";
import {
  closeServed,
  connectOld,
  INITIALIZE,
  legacy,
  modern,
  newKept,
  post,
  type RawAnswer,
} from "../endpoint/harness.ts";
import { startOAuth } from "../../fixtures/oauth/oauth.ts";
import { fixture } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { eventually, isAlive, startedProcesses } from "../../support/processes.ts";
import { openGateway, type Rig, workspace } from "./rig.ts";

closeServed();

const SERVERS = {
  shared: fixture("echo"),
  own: { ...fixture("echo"), scope: "session" as const },
};

type Headers = Record<string, string>;

/** Begins a legacy session; its headers. */
async function begin(url: URL, headers: Headers = {}): Promise<Headers> {
  const { headers: got } = await post(url, legacy("initialize", INITIALIZE), headers);
  return { ...headers, "mcp-session-id": got.get("mcp-session-id") ?? "" };
}

const call = (name: string, args: object = {}): object =>
  legacy("tools/call", { name: `mcp__${name}`, arguments: args });

const textIn = ({ message }: RawAnswer): string => message?.["result"].content[0].text;

async function pidOf(url: URL, headers: Headers, server = "own"): Promise<number> {
  return Number(textIn(await post(url, call(`${server}__pid`), headers)));
}

/** The servers whose tools are listed. */
function serversIn({ message }: RawAnswer): string[] {
  const names = message?.["result"].tools.map(({ name }: { name: string }) => name);
  return [...new Set<string>(names.map((name: string) => name.split("__")[1]))];
}

describe("servers of one session", () => {
  it("run once for each session, until DELETE", async () => {
    const { url, board } = await openGateway({ servers: SERVERS });
    const [one, two] = await Promise.all([begin(url), begin(url)]);
    const pids = await Promise.all([pidOf(url, one), pidOf(url, two)]);
    expect(new Set(pids).size).toBe(2);
    expect(await pidOf(url, one)).toBe(pids[0]);
    const shared = await Promise.all([pidOf(url, one, "shared"), pidOf(url, two, "shared")]);
    expect(shared[0]).toBe(shared[1]);
    const diagnostics = () => board.status().find(({ name }) => name === "own")?.diagnostics;
    expect(diagnostics()?.[0]?.message).toContain("there are 2 now");

    expect((await post(url, undefined, one, "DELETE")).status).toBe(204);
    await eventually(() => !isAlive(pids[0] ?? 0));
    expect(await pidOf(url, two)).toBe(pids[1]);
    await eventually(() => diagnostics()?.[0]?.message.includes("there is 1 now") ?? false);
  });

  it("are for everybody: one caller gets a quarter of them", async () => {
    const { url } = await openGateway({ servers: SERVERS }, { sessionServers: 4 });
    const greedy = { "x-caller": "greedy" };
    const [first, second] = [await begin(url, greedy), await begin(url, greedy)];
    const servers = async (session: Headers): Promise<string[]> =>
      serversIn(await post(url, legacy("tools/list"), session)).toSorted();
    expect(await servers(first)).toEqual(["own", "shared"]);
    expect(await servers(second)).toEqual(["shared"]);
    expect(await servers(await begin(url, { "x-caller": "other" }))).toEqual(["own", "shared"]);
    await post(url, undefined, first, "DELETE");
    expect(await servers(await begin(url, greedy))).toEqual(["own", "shared"]);
  });

  it("are not offered to clients without a session, of either era", async () => {
    const { url } = await openGateway({ servers: SERVERS });
    const [list, discover] = [modern("tools/list"), modern("server/discover")];
    expect(serversIn(await post(url, list.body, list.headers))).toEqual(["shared"]);
    const told = await post(url, discover.body, discover.headers);
    expect(told.message?.["result"].instructions).toMatch(
      /^The tools of these MCP servers are not offered: own\. .* once for each session.* Tell the user/,
    );
    expect(serversIn(await post(url, legacy("tools/list")))).toEqual(["shared"]);
    const { message } = await post(url, call("own__echo", { text: "hi" }));
    expect(message?.["error"].message).toContain("mcp__own__echo");
    expect(startedProcesses()).toHaveLength(1);
    const begun = await post(url, legacy("initialize", INITIALIZE));
    expect(begun.message?.["result"].instructions).not.toContain("not offered");
    expect(serversIn(await post(url, legacy("tools/list"), await begin(url)))).toEqual([
      "shared",
      "own",
    ]);
  });

  it("end when the session is idle, and start anew when it comes back", async () => {
    const clock = new ManualClock();
    const { url, sessions } = await openGateway({ servers: SERVERS }, { clock, idleMs: 60_000 });
    const session = await begin(url);
    const before = await pidOf(url, session);
    await clock.advance(200_000);
    expect(sessions.size).toBe(0);
    await eventually(() => !isAlive(before));
    const after = await pidOf(url, session);
    expect([after === before, isAlive(after)]).toEqual([false, true]);
  });

  it("end with the token of their caller, also while the client listens", async () => {
    const clock = new ManualClock();
    const revoked = new Set<string>();
    const isGone = (caller: string): boolean => revoked.has(caller);
    const { url, sessions } = await openGateway({ servers: SERVERS }, { clock, isGone });
    const [ci, ann] = await Promise.all(
      ["ci", "ann"].map((each) => begin(url, { "x-caller": each })),
    );
    const pids = await Promise.all([pidOf(url, ci ?? {}), pidOf(url, ann ?? {})]);
    const stream = await fetch(url, { headers: { accept: "text/event-stream", ...ci } });
    revoked.add("token:ci");
    await clock.advance(60_000);
    await stream.text();
    await eventually(() => !isAlive(pids[0] ?? 0));
    expect([isAlive(pids[1] ?? 0), sessions.size]).toEqual([true, 1]);
  });

  it("start anew after a restart of the gateway, for the same session", async () => {
    const kept = newKept();
    const first = await openGateway({ servers: SERVERS }, { kept });
    const session = await begin(first.url);
    const before = await pidOf(first.url, session);
    await first.close();
    expect([isAlive(before), startedProcesses()]).toEqual([false, []]);
    const port = Number(first.url.port);
    const { url } = await openGateway({ servers: SERVERS }, { kept, port });
    // The first result of each says so, and that of a shared server does not.
    const textsOf = async (name: string): Promise<string[]> => {
      const { message } = await post(url, call(name), session);
      return message?.["result"].content.map(({ text }: { text: string }) => text);
    };
    expect(await textsOf("shared__pid")).toHaveLength(1);
    const [pid, said] = await textsOf("own__pid");
    expect(isAlive(Number(pid))).toBe(true);
    expect(said).toContain("the server 'own' was started anew for this session");
    expect(await textsOf("own__pid")).toEqual([pid]);
  });

  it("get the roots of their client, and shared servers those of the agent", async () => {
    const { url } = await openGateway({
      servers: {
        shared: { ...fixture("asks"), roots: true },
        own: { ...fixture("asks"), scope: "session" },
      },
    });
    let roots = [{ uri: "file:///home/me/one" }, { uri: "https://example.com/not-a-directory" }];
    let asked = 0;
    const client = await connectOld(
      url,
      { capabilities: { roots: { listChanged: true } } },
      (each) =>
        each.setRequestHandler(ListRootsRequestSchema, () => {
          asked += 1;
          return { roots };
        }),
    );
    const rootsOf = async (server: string): Promise<string> => {
      const result = await client.callTool({
        name: `mcp__${server}__ask`,
        arguments: { method: "roots/list", params: {} },
      });
      return JSON.stringify(result.content);
    };
    const until = async (text: string): Promise<void> => {
      while (!(await rootsOf("own")).includes(text)) await new Promise((go) => setTimeout(go, 20));
    };
    await until("file:///home/me/one");
    expect(await rootsOf("own")).not.toContain("example.com");
    const before = asked;
    roots = [{ uri: "file:///home/me/two" }];
    await client.sendRootsListChanged();
    await until("file:///home/me/two");
    expect(asked).toBe(before + 1);
    expect(await rootsOf("own")).not.toContain("/one");
    expect(await rootsOf("shared")).toContain(workspace);
    expect(await rootsOf("shared")).not.toContain("/two");
  });
});

const OF_TRACKER = ["tracker/*", "tracker/resource:*", "tracker/prompt:*"];

describe("what a token may do", () => {
  const config = {
    servers: { docs: { ...fixture("echo"), tools: { ownerOnly: ["env"], deny: ["crash"] } } },
    tools: { allow: ["docs/echo", "docs/add", "docs/env", "docs/crash"] },
  };
  const toolsOf = async (rig: Rig, headers: Headers): Promise<string[]> => {
    const { message } = await post(rig.url, legacy("tools/list"), headers);
    return message?.["result"].tools.map(({ name }: { name: string }) => name.slice(11));
  };

  const CASES: [string, string, TokenPolicy | undefined, string[]][] = [
    ["the token of the gateway is the owner's", "default", undefined, ["echo", "add", "env"]],
    ["a named token is not", "ci", undefined, ["echo", "add"]],
    ["a policy can make it the owner's", "ci", { owner: true }, ["echo", "add", "env"]],
    ["or take that away", "default", { owner: false }, ["echo", "add"]],
    ["allow restricts", "ci", { tools: { allow: ["docs/add", "docs/env"] } }, ["add"]],
    ["and permits nothing more", "ci", { tools: { allow: ["*"] } }, ["echo", "add"]],
    ["deny restricts", "ci", { owner: true, tools: { deny: ["docs/e*"] } }, ["add"]],
  ];

  it("is what the configuration and its policy both allow", async () => {
    const rig = await openGateway(config);
    for (const [what, caller, policy, expected] of CASES) {
      const headers = {
        "x-caller": caller,
        ...(policy && { "x-policy": JSON.stringify(policy) }),
      };
      for (const each of [headers, await begin(rig.url, headers)]) {
        expect(await toolsOf(rig, each), what).toEqual(expected);
        for (const tool of ["echo", "add", "env", "crash"]) {
          const args = { text: "hi", a: 1, b: 2, name: "HOME" };
          const { message } = await post(rig.url, call(`docs__${tool}`, args), each);
          const isError = message?.["result"]?.isError ?? message?.["error"] !== undefined;
          expect(isError, `${what}: ${tool}`).toBe(!expected.includes(tool));
        }
      }
      const list = modern("tools/list");
      const { message } = await post(rig.url, list.body, { ...list.headers, ...headers });
      expect(message?.["result"].tools, what).toHaveLength(expected.length);
    }
  });

  it("tells nobody else the names of the tools that it hides", async () => {
    const file = join(temporaryDirectory(), "audit.jsonl");
    const rig = await openGateway({ ...config, audit: { file } });
    const callers: [Headers, boolean][] = [
      [{ "x-caller": "ci" }, true],
      [{ "x-caller": "ci", "x-policy": JSON.stringify({ tools: { allow: ["docs/add"] } }) }, true],
      [{ "x-caller": "default" }, false],
    ];
    const hidden = ["mcp__docs__crash", "docs/crash", "mcp__docs__sleep", "docs/sleep"];
    for (const [headers, isHidden] of callers) {
      for (const each of [headers, await begin(rig.url, headers)]) {
        for (const name of hidden) {
          const told = async (asked: string): Promise<string> => {
            const request = legacy("tools/call", { name: asked, arguments: {} });
            const { message, status } = await post(rig.url, request, each);
            const { id: _, ...answer } = message ?? {};
            return JSON.stringify([status, answer]).replaceAll(asked, "NAME");
          };
          const isTheSame = (await told(name)) === (await told(`${name}x`));
          expect(isTheSame, `${name} for ${JSON.stringify(each)}`).toBe(isHidden);
        }
      }
    }
    await rig.board.close();
    const lines = readFileSync(file, "utf8").trim().split("\n");
    const refused = lines.filter((line) => line.includes("REFUSED_BY_POLICY"));
    expect(refused).toHaveLength(hidden.length * callers.length * 2);
    // The audit names who called, and not the board that callers with equal rights share.
    for (const line of refused) {
      const { caller, session } = JSON.parse(line);
      expect([caller, session]).toEqual([expect.stringMatching(/^(?:ci|default)$/), undefined]);
    }
  });

  it("tells nobody else the resources and prompts that it hides", async () => {
    const rig = await openGateway({
      servers: {
        one: fixture("library", "--scheme=one"),
        two: fixture("library", "--scheme=two"),
      },
    });
    const limited = JSON.stringify({
      tools: { allow: ["one/write", "two/resource:two:///rules", "two/prompt:other"] },
    });
    const callers: [Headers, boolean][] = [
      [{ "x-caller": "ci", "x-policy": limited }, true],
      [{ "x-caller": "default" }, false],
    ];
    const prompt = (name: string): object => ({ ref: { type: "ref/prompt", name } });
    const template = (uri: string): object => ({ ref: { type: "ref/resource", uri } });
    const argument = { argument: { name: "shelf", value: "a" } };
    const requests: [method: string, name: string, params: (name: string) => object][] = [
      ["resources/read", "one:///welcome", (uri) => ({ uri })],
      ["resources/read", "two:///welcome", (uri) => ({ uri })],
      ["resources/subscribe", "one:///welcome", (uri) => ({ uri })],
      ["resources/subscribe", "two:///welcome", (uri) => ({ uri })],
      ["prompts/get", "one/greet", (name) => ({ name, arguments: { name: "a" } })],
      ["prompts/get", "greet", (name) => ({ name, arguments: { name: "a" } })],
      ["completion/complete", "two/greet", (name) => ({ ...prompt(name), ...argument })],
      ["completion/complete", "one:///shelf/{shelf}", (uri) => ({ ...template(uri), ...argument })],
    ];
    for (const [headers, isHidden] of callers) {
      const session = await begin(rig.url, headers);
      for (const [method, name, params] of requests) {
        const told = async (asked: string): Promise<string> => {
          const { message, status } = await post(rig.url, legacy(method, params(asked)), session);
          const { id: _, ...answer } = message ?? {};
          return JSON.stringify([status, answer]).replaceAll(asked, "NAME");
        };
        const answers = [await told(name), await told(`${name}x`)] as const;
        expect(answers[0] === answers[1], `${method} ${name}: ${answers.join(" ")}`).toBe(isHidden);
        if (isHidden) expect(answers[0]).toContain('"error"');
      }
    }
  });

  describe("says nothing of a server that its rules hide", () => {
    const tracker = { tools: { allow: ["docs/*", "native/*"] } };
    const limited = { "x-policy": JSON.stringify(tracker) };
    const HIDING: [string, { tools?: object; tracker?: object; headers?: Headers }][] = [
      ["the token's allow", { headers: limited }],
      ["the token's deny", { headers: { "x-policy": '{"tools":{"deny":["tracker/*"]}}' } }],
      ["the agent's deny, of tools and content", { tools: { deny: OF_TRACKER } }],
      ["the agent's allow", { tools: { allow: ["docs/*", "docs/resource:*", "docs/prompt:*"] } }],
      ["the agent's ownerOnly", { tools: { ownerOnly: OF_TRACKER } }],
      ["the server's deny", { tracker: { deny: ["*", "resource:*", "prompt:*"] } }],
      [
        "the server's ownerOnly",
        { tracker: { ownerOnly: true, deny: ["resource:*", "prompt:*"] } },
      ],
    ];
    const tool = (name: string, args = {}): object =>
      legacy("tools/call", { name, arguments: args });
    const argument = { name: "a", value: "b" };
    const REQUESTS: [string, (server: string) => object][] = [
      ["an unknown tool", () => tool("nothing")],
      ["an unknown tool of another server", () => tool("docs/nothing")],
      ["a tool of a server with a similar name", () => tool("trackr/create")],
      ["a tool of it", (server) => tool(`${server}/create`)],
      ["a tool of it as other programs write it", (server) => tool(`${server}.create`)],
      ["a tool of it by its public name", (server) => tool(`mcp__${server}__create`)],
      ["a sign-in to it", (server) => tool("sign_in", { server })],
      ["an unknown resource", () => legacy("resources/read", { uri: "x:///y" })],
      ["a resource of it", (server) => legacy("resources/read", { uri: uriOf(server) })],
      ["a subscription", (server) => legacy("resources/subscribe", { uri: uriOf(server) })],
      ["the state of servers", () => legacy("resources/read", { uri: "plugboard://status" })],
      ["a prompt of it", (server) => legacy("prompts/get", { name: `${server}/a` })],
      ["an unknown prompt", () => legacy("prompts/get", { name: "a" })],
      [
        "a completion",
        (server) => {
          const ref = { type: "ref/prompt", name: `${server}/a` };
          return legacy("completion/complete", { ref, argument });
        },
      ],
      ["the resources that a model lists", (server) => tool("list_resources", { server })],
      [
        "a resource that a model reads",
        (server) => tool("read_resource", { uri: "x:///y", server }),
      ],
      ["an unknown resource that a model reads", () => tool("read_resource", { uri: "x:///y" })],
      ["its tools", () => legacy("tools/list")],
      ["its prompts", () => legacy("prompts/list")],
      ["its resources", () => legacy("resources/list")],
      ["its templates", () => legacy("resources/templates/list")],
      ["initialize", () => legacy("initialize", INITIALIZE)],
    ];
    const uriOf = (server: string): string => `plugboard://${server}/x:///y`;

    it.each(HIDING)("%s", async (_rule, { tools, tracker: rules, headers }) => {
      const oauth = await startOAuth();
      onTestFinished(() => oauth.close());
      const { url } = await openGateway({
        servers: {
          docs: fixture("echo"),
          tracker: { url: oauth.url, oauth: { per: "user" }, ...(rules && { tools: rules }) },
        },
        resourceTools: true,
        ...(tools && { tools }),
      });
      const session = await begin(url, { "x-caller": "ci", ...headers });
      for (const [what, about] of REQUESTS) {
        const told = async (server: string): Promise<string> => {
          const { message } = await post(url, about(server), session);
          const { id: _, ...answer } = message ?? {};
          return JSON.stringify(answer)
            .replace(/id=\\"[^"]*"/g, "")
            .replaceAll(server, "NAME");
        };
        const answer = await told("nowhere");
        expect(answer, what).not.toContain("tracker");
        expect(await told("tracker"), what).toBe(answer);
      }
    });
  });

  it("can need more approval than the configuration asks for", async () => {
    const { url } = await openGateway(config);
    const policy = JSON.stringify({ tools: { approval: "ask" } });
    const echo = call("docs__echo", { text: "hi" });
    const asked = await post(url, echo, { "x-caller": "ci", "x-policy": policy });
    expect(textIn(asked)).toContain("must be approved");
    expect(textIn(await post(url, echo, { "x-caller": "ci" }))).toBe("hi");
  });

  it("holds for the servers of a session, too", async () => {
    const { url } = await openGateway({ servers: SERVERS });
    const policy = JSON.stringify({ tools: { deny: ["own/echo", "shared/*"] } });
    const session = await begin(url, { "x-caller": "ci", "x-policy": policy });
    const list = await post(url, legacy("tools/list"), session);
    expect(serversIn(list)).toEqual(["own"]);
    const { message } = await post(url, call("own__echo", { text: "hi" }), session);
    expect(message?.["error"].message).toBe("there is no tool named 'mcp__own__echo'");
    expect(await pidOf(url, session)).toBeGreaterThan(0);
  });

  it("takes one board for all who may do the same, closed when nobody uses it", async () => {
    const clock = new ManualClock();
    const { url, board } = await openGateway(config, { clock, idleMs: 60_000 });
    const opened: SessionBoard[] = [];
    const openSession = board.openSession.bind(board);
    board.openSession = async (options) => {
      const session = await openSession(options);
      opened.push(session);
      return session;
    };
    const ask = (caller: string): Promise<RawAnswer> =>
      post(url, legacy("tools/list"), { "x-caller": caller });
    await Promise.all([ask("ci"), ask("ann"), ask("ci")]);
    expect(opened).toHaveLength(1);
    // As long as a call may be held for the answers of its client.
    await clock.advance(601_000);
    await eventually(() => opened.length === 1);
    expect((await opened[0]?.call("docs/echo", { text: "hi" }))?.failure?.message).toBe(
      "the session is closed",
    );
    await ask("ci");
    expect(opened).toHaveLength(2);
  });
});

describe("what a token may read", () => {
  const LIBRARIES = {
    servers: {
      one: fixture("library", "--scheme=one"),
      two: fixture("library", "--scheme=two"),
    },
  };
  const of = (allow: string[]): Headers => ({
    "x-caller": "ci",
    "x-policy": JSON.stringify({ tools: { allow } }),
  });

  /** Sends one request in the era. */
  type Ask = (method: string, params?: Record<string, unknown>) => Promise<RawAnswer>;
  const ERAS: [string, (url: URL, headers: Headers) => Promise<Ask>][] = [
    [
      "legacy",
      async (url, headers) => {
        const session = await begin(url, headers);
        return (method, params = {}) => post(url, legacy(method, params), session);
      },
    ],
    [
      "modern",
      async (url, headers) => (method, params) => {
        const asked = modern(method, params);
        return post(url, asked.body, { ...asked.headers, ...headers });
      },
    ],
  ];

  it.each(ERAS)("is what its list names, for a %s client", async (_, connect) => {
    const { url } = await openGateway(LIBRARIES);
    const cases: [string[], string[], string[]][] = [
      [["one/asked"], [], ["one"]],
      [["one/*"], ["one:///welcome", "one:///rules", "greet"], ["one"]],
      [["one/asked", "two/resource:two:///rules"], ["two:///rules"], ["one", "two"]],
    ];
    for (const [allow, expected, servers] of cases) {
      const ask = await connect(url, of(allow));
      const lists = await Promise.all(["resources", "prompts"].map((kind) => ask(`${kind}/list`)));
      const [resources, prompts] = lists.map(({ message }) => message?.["result"]);
      const listed = [...resources.resources, ...prompts.prompts];
      expect(listed.map(({ uri, name }) => uri ?? name)).toEqual(expected);
      for (const uri of ["one:///welcome", "two:///welcome", "plugboard://two/two:///welcome"]) {
        const { message } = await ask("resources/read", { uri });
        expect(message?.["error"] === undefined, uri).toBe(expected.includes(uri));
      }
      const { message } = await ask("resources/read", { uri: "plugboard://status" });
      const status = JSON.parse(message?.["result"].contents[0].text);
      expect(status.servers.map(({ name }: { name: string }) => name)).toEqual(servers);
      const ref = { type: "ref/prompt", name: "two__greet" };
      const argument = { name: "who", value: "a" };
      const completed = await ask("completion/complete", { ref, argument });
      expect(completed.message?.["error"]).toBeDefined();
    }
  });

  it("is looked at again when its token is narrowed, subscriptions included", async () => {
    const { url, board } = await openGateway(LIBRARIES);
    const session = await begin(url, of(["one/*", "two/*"]));
    const listen = (headers: Headers): Promise<Response> =>
      fetch(url, { headers: { ...headers, accept: "text/event-stream" } });
    for (const uri of ["one:///rules", "two:///rules"]) {
      const { message } = await post(url, legacy("resources/subscribe", { uri }), session);
      expect(message?.["error"]).toBeUndefined();
    }
    const before = await listen(session);
    const narrowed = { ...session, ...of(["one/*"]) };
    const { message } = await post(url, legacy("resources/list"), narrowed);
    expect(message?.["result"].resources).toHaveLength(2);
    // The stream from before ends with what it was opened for.
    expect(await before.text()).not.toContain("updated");
    const now = await listen(narrowed);
    for (const server of ["two", "one"]) {
      await board.call(`${server}/write`, { uri: `${server}:///rules`, text: "Be loud." });
    }
    const reader = now.body?.getReader();
    let heard = "";
    while (!heard.includes("updated")) {
      heard += new TextDecoder().decode((await reader?.read())?.value);
    }
    expect(heard).toContain("one:///rules");
    expect(heard).not.toContain("two:///rules");
    await reader?.cancel();
  });
});

it("what a shared server logs without saying about which call is not told to a token that is not the owner's", async () => {
  const { url } = await openGateway({ servers: { one: fixture("faithful") } });
  const listen = async (headers: Headers) => {
    const session = await begin(url, headers);
    await post(url, legacy("logging/setLevel", { level: "debug" }), session);
    const stream = await fetch(url, { headers: { ...session, accept: "text/event-stream" } });
    const text = stream.text();
    const end = async (): Promise<string> => {
      await post(url, undefined, session, "DELETE");
      return text;
    };
    return { session, end };
  };
  const owner = await listen({ "x-caller": "default" });
  const other = await listen({ "x-caller": "ci" });
  const messages = [{ level: "info", data: "what the owner asked for" }];
  await post(url, call("one__log", { messages }), owner.session);
  expect(await owner.end()).toContain("what the owner asked for");
  expect(await other.end()).not.toContain("what the owner asked for");
});

it("a limit on people with servers of their own: somebody who does not use theirs makes room, and nobody gets another's", async () => {
  const oauth = await startOAuth();
  onTestFinished(() => oauth.close());
  const server = { url: oauth.url, oauth: { per: "user" } } as const;
  const rig = await openGateway({ servers: { personal: server } }, { people: 1 });
  const agent = await rig.agents.find("default");
  const lease = async (id: string) => {
    const found = await agent?.useBoard({ caller: { id: `token:${id}`, label: id } });
    const servers = found?.board.status().map(({ name }) => name);
    return { servers, isPersons: found?.isPersons, release: () => found?.release() };
  };
  const ann = await lease("ann");
  expect(ann).toMatchObject({ isPersons: true, servers: ["personal"] });
  // Hers is in use: bob goes on without, and does not get that of the agent's own user.
  const bob = await lease("bob");
  expect(bob).toMatchObject({ isPersons: false, servers: [] });
  expect(rig.board.status().map(({ name }) => name)).toEqual(["personal"]);
  ann.release();
  const again = await lease("bob");
  expect(again).toMatchObject({ isPersons: true, servers: ["personal"] });
  for (const each of [bob, again]) each.release();
});

it("a server to which people sign in for themselves, and that is added while somebody has a session, is not theirs by it", async () => {
  const oauth = await startOAuth();
  onTestFinished(() => oauth.close());
  const rig = await openGateway({ servers: {} });
  const agent = await rig.agents.find("default");
  const caller = { id: "token:ci", label: "ci" };
  const before = await Promise.all(
    [{}, { policy: { owner: true } }].map(async (more) => agent?.useBoard({ caller, ...more })),
  );
  const server = { url: oauth.url, oauth: { per: "user" } } as const;
  await rig.board.reload({ servers: { personal: server } });
  expect(rig.board.status().map(({ name }) => name)).toEqual(["personal"]);
  for (const each of before) {
    expect(each?.board.status()).toEqual([]);
    each?.release();
  }
});
