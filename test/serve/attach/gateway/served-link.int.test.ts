import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { AskApproval } from "../../../../src/core/types/approval.ts";
import type { Board, SessionBoard } from "../../../../src/core/types/board.ts";
import type { SessionOptions } from "../../../../src/core/types/board-options.ts";
import type { ElicitationRequest, OnElicitation } from "../../../../src/core/types/elicitation.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { openAttachedBoard } from "../../../support/attached.ts";
import { fixture, textOf } from "../../../support/boards.ts";
import {
  closeChannels,
  counted,
  openChannel,
  type TestChannel,
} from "../../../support/channels.ts";
import { eventually, expectNoProcesses } from "../../../support/processes.ts";

const agent = parseAgentConfig({
  servers: {
    echo: fixture("echo"),
    asks: { ...fixture("asks"), sampling: "allow" },
    apps: fixture("apps"),
    library: fixture("library"),
  },
  tools: { ownerOnly: ["echo/pid"] },
});

let board: Board;
let channel: TestChannel;

beforeAll(async () => {
  board = await openBoard(agent, {
    // As on a gateway's board: questions that belong to nobody are declined.
    onElicitation: () => ({ action: "decline" }),
    onSampling: { tools: true, handler: () => "declined" },
  });
});

afterAll(async () => {
  await board.close();
  expectNoProcesses();
});

beforeEach(async () => {
  channel = await openChannel({ main: board });
});

closeChannels();

/** A session of a command, on a board of its own that shares all servers of the gateway. */
async function session(
  of: Pick<TestChannel, "address" | "connect">,
  options: Partial<SessionOptions> = {},
  agentId = "main",
): Promise<SessionBoard> {
  const attached = await openAttachedBoard({ agent, agentId, channel: of });
  const opened_ = await attached.openSession({ cwd: "/", ...options });
  attachedBoards.push(attached);
  return opened_;
}

const attachedBoards: Board[] = [];
afterEach(async () => {
  await Promise.all(attachedBoards.splice(0).map((each) => each.close()));
});

async function opened(options: Partial<SessionOptions> = {}): Promise<SessionBoard> {
  return session(channel, options);
}

const form = { type: "object", properties: { name: { type: "string" } } };
const question = {
  method: "elicitation/create",
  params: { mode: "form", message: "Who?", requestedSchema: form },
};
const sampling = {
  method: "sampling/createMessage",
  params: { maxTokens: 10, messages: [{ role: "user", content: { type: "text", text: "Say" } }] },
};

describe("calls of several commands", () => {
  it("never get each other's answers, also with the same ids", async () => {
    const commands = await Promise.all([opened(), opened(), opened()]);
    const calls = commands.flatMap((attached, number) =>
      Array.from({ length: 50 }, async (_, at) => {
        const text = `command ${number} call ${at}`;
        const outcome = await attached.call("echo/echo", { text }, { callId: `call-${at}` });
        expect(textOf(outcome)).toContain(text);
      }),
    );
    expect(await Promise.all(calls)).toHaveLength(150);
  });

  it("get their own progress, with the same ids", async () => {
    const [one, other] = await Promise.all([opened(), opened()]);
    const steps = async (attached: SessionBoard, count: number): Promise<number> => {
      let heard = 0;
      const onUpdate = (): void => void (heard += 1);
      await attached.call("echo/progress", { steps: count, ms: 1 }, { callId: "same", onUpdate });
      return heard;
    };
    expect(await Promise.all([steps(one, 2), steps(other, 5)])).toEqual([2, 5]);
  });

  it("are cancelled one by one", async () => {
    const [one, other] = await Promise.all([opened(), opened()]);
    const ending = new AbortController();
    const { signal } = ending;
    const slow = one.call("echo/sleep", { ms: 60_000 }, { callId: "same", signal });
    const quick = other.call("echo/sleep", { ms: 1000 }, { callId: "same" });
    await eventually(() => callsOf("echo") === 2);
    ending.abort();
    expect(await slow).toMatchObject({ failure: { code: "CANCELLED", mayHaveRun: true } });
    expect(textOf(await quick)).toBe("slept 1000 ms");
  });
});

describe("a command that disconnects", () => {
  it("has its calls cancelled and its sessions closed; others go on", async () => {
    const { channel: counting, links } = counted(channel, { pid: 1 });
    const leaving = await session(counting);
    const staying = await opened();
    const call = leaving.call("asks/sleep");
    const other = staying.call("echo/sleep", { ms: 200 });
    await eventually(() => callsOf("asks") === 1);
    for (const link of links) link.close();
    expect(await call).toMatchObject({ failure: { code: "SERVER_UNAVAILABLE" } });
    await eventually(() => callsOf("asks") === 0 && channel.commands.length === 1);
    expect(textOf(await other)).toBe("slept 200 ms");
  });

  it("leaves no approval waiting: the board takes calls as before", async () => {
    const asked = deferred();
    const { channel: counting, links } = counted(channel);
    const leaving = await session(counting, {
      approval: "ask",
      onApproval: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const ended = new Promise<unknown>((resolve) => {
      board.on("call", (event) => {
        if (event.session === undefined) resolve(event);
      });
    });
    void leaving.call("echo/echo", { text: "x" });
    await asked.promise;
    for (const link of links) link.close();
    await eventually(() => channel.commands.length === 0);
    // The board goes on as before.
    await board.call("echo/echo", { text: "x" });
    expect(await ended).toMatchObject({ tool: "mcp__echo__echo", isError: false });
  });
});

it("a gateway that goes away fails the calls in flight, and says that they may have run", async () => {
  const attached = await opened();
  const call = attached.call("echo/sleep", { ms: 60_000 });
  const tool = await attached.find("echo/sleep");
  const executed = tool.execute("id", { ms: 60_000 });
  const read = attached.resources.subscribe("lib:///welcome").then(() => channel.channel.close());
  const failure = { code: "SERVER_UNAVAILABLE", mayHaveRun: true };
  expect(await call).toMatchObject({ isError: true, failure });
  expect(textOf(await call)).toBe("the gateway stopped during the call; it may have run");
  expect(await executed).toMatchObject({ isError: true, details: { failure } });
  await read;
});

it.each([
  ["marked if the session asks for it", "full", true],
  ["as they are otherwise", undefined, false],
] as const)("results are %s", async (_, framing, isFramed) => {
  const attached = await opened({ framing });
  const { content } = await attached.call("echo/echo", { text: "x" }, { framed: true });
  expect(JSON.stringify(content).includes("EXTERNAL_UNTRUSTED_CONTENT")).toBe(isFramed);
});

describe("approvals", () => {
  it.each([
    ["once", undefined],
    ["refuse", "NOT_APPROVED"],
  ] as const)("the answer %s comes from the command", async (answer, code) => {
    const requests: unknown[] = [];
    const attached = await opened({
      approval: "ask",
      onApproval: (request) => {
        requests.push(request);
        return answer;
      },
    });
    const outcome = await attached.call("echo/echo", { text: "x" }, { callId: "mine" });
    expect(outcome.failure?.code).toBe(code);
    expect(requests).toMatchObject([{ callId: "mine", tool: "echo/echo", args: { text: "x" } }]);
  });

  it("go to the handler of the call, if it has one, else to the session's", async () => {
    const asked: string[] = [];
    const ask =
      (who: string): AskApproval =>
      ({ callId }) => {
        asked.push(`${who} ${callId}`);
        return "once";
      };
    const options = { approval: "ask" } as const;
    const [one, other] = await Promise.all([
      opened({ ...options, onApproval: ask("one") }),
      opened({ ...options, onApproval: ask("other") }),
    ]);
    await one.call("echo/echo", { text: "x" }, { callId: "a", onApproval: ask("call") });
    await other.call("echo/echo", { text: "x" }, { callId: "a" });
    await one.call("echo/echo", { text: "x" }, { callId: "b" });
    expect(asked).toEqual(["call a", "other a", "one b"]);
  });

  it("are asked one at a time where one handler answers several calls", async () => {
    let open = 0;
    let most = 0;
    const onApproval: AskApproval = async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open -= 1;
      return "once" as const;
    };
    const attached = await opened({ approval: "ask" });
    const calls = Array.from({ length: 5 }, () =>
      attached.call("echo/echo", { text: "x" }, { onApproval }),
    );
    expect((await Promise.all(calls)).filter(({ isError }) => isError)).toEqual([]);
    expect(most).toBe(1);
  });

  it("end with their call: the handler hears that the answer no longer matters", async () => {
    const ending = new AbortController();
    const aborted = deferred();
    const attached = await opened({
      approval: "ask",
      onApproval: (_, signal) =>
        new Promise(() => {
          signal?.addEventListener("abort", () => aborted.resolve());
          ending.abort();
        }),
    });
    const call = attached.call("echo/echo", { text: "x" }, { signal: ending.signal });
    expect(await call).toMatchObject({ failure: { code: "CANCELLED" } });
    expect(await aborted.promise).toBeUndefined();
  });

  it("that fail refuse the call with the command's own words", async () => {
    const attached = await opened({
      approval: "ask",
      onApproval: () => {
        throw new Error("no terminal");
      },
    });
    expect(await attached.call("echo/echo", { text: "x" })).toMatchObject({
      failure: { code: "NOT_APPROVED", message: expect.stringContaining("no terminal") },
    });
  });

  it("without a handler nobody is asked, and the call is refused", async () => {
    const attached = await opened({ approval: "ask" });
    const outcome = await attached.call("echo/echo", { text: "x" });
    expect(outcome).toMatchObject({ failure: { code: "NOT_APPROVED" } });
  });
});

describe("questions of servers", () => {
  const accept =
    (name: string): OnElicitation =>
    ({ mode, message, server, callId }) => ({
      action: "accept",
      content: { name: `${name}: ${mode} ${message} ${server} ${callId}` },
    });

  it("go to the command, the session and the call that caused them", async () => {
    const attached = await openAttachedBoard({ agent, agentId: "main", channel });
    attachedBoards.push(attached);
    const [one, second, other] = await Promise.all([
      attached.openSession({ cwd: "/", onElicitation: accept("one") }),
      attached.openSession({ cwd: "/", onElicitation: accept("second") }),
      opened({ onElicitation: accept("other") }),
    ]);
    const ask = async (board_: SessionBoard, onElicitation?: OnElicitation): Promise<unknown> => {
      const options = { callId: "same", ...(onElicitation && { onElicitation }) };
      return (await board_.call("asks/ask", question, options)).structuredContent;
    };
    const answered = (name: string): unknown => ({
      value: { action: "accept", content: { name: `${name}: form Who? asks same` } },
    });
    expect(await ask(one)).toEqual(answered("one"));
    expect(await ask(second)).toEqual(answered("second"));
    expect(await ask(other)).toEqual(answered("other"));
    expect(await ask(one, accept("call"))).toEqual(answered("call"));
  });

  it("are declined if the command has no handler", async () => {
    const attached = await opened();
    const { structuredContent } = await attached.call("asks/ask", question);
    expect(structuredContent).toEqual({ value: { action: "decline" } });
  });

  it("show a page, and tell when the person is through with it", async () => {
    const seen: Partial<ElicitationRequest>[] = [];
    const completed = deferred();
    const attached = await opened({
      async onElicitation(request) {
        seen.push(request);
        if (request.mode === "url") await request.completed.then(completed.resolve);
        return { action: "accept" };
      },
    });
    const page = { url: "https://example.com/a", message: "Go", elicitationId: "e1" };
    const outcome = await attached.call("asks/requirePage", {
      key: "remote",
      elicitations: [{ mode: "url", ...page }],
      complete: "e1",
    });
    expect(textOf(outcome)).toBe("let in");
    expect(seen).toMatchObject([{ mode: "url", required: true, ...page }]);
    expect(await completed.promise).toBeUndefined();
  });

  it("for a model go to the command's model", async () => {
    const attached = await opened({
      onSampling: {
        maxTokens: 5,
        handler: ({ messages, maxTokens, signal }) => {
          expect(signal).toBeInstanceOf(AbortSignal);
          const content = { type: "text" as const, text: JSON.stringify([messages, maxTokens]) };
          return { model: "m", content };
        },
      },
    });
    const { structuredContent } = await attached.call("asks/ask", sampling);
    expect(structuredContent).toMatchObject({ value: { role: "assistant", model: "m" } });
    expect(JSON.stringify(structuredContent)).toContain("Say");
  });

  it("in a read and in a prompt take the handlers of the request", async () => {
    const attached = await opened();
    const onApproval: AskApproval = () => "once";
    expect(await attached.resources.read("lib:///rules", { onApproval })).toMatchObject({
      contents: [{ text: "Be quiet." }],
    });
    expect(await attached.prompts.get("greet", { who: "x" }, { onApproval })).toHaveProperty(
      "messages",
    );
  });
});

describe("the options of a session", () => {
  it.each<[string, SessionOptions, string, unknown]>([
    ["the owner may", { cwd: "/", owner: true }, "echo/pid", undefined],
    ["others may not", { cwd: "/", owner: false }, "echo/pid", "REFUSED_BY_POLICY"],
    ["not said: others", { cwd: "/" }, "echo/pid", "REFUSED_BY_POLICY"],
    ["rules", { cwd: "/", tools: { deny: ["echo/*"] } }, "echo/echo", "REFUSED_BY_POLICY"],
    ["the time of a call", { cwd: "/", toolTimeout: 30 }, "asks/sleep", "TIMEOUT"],
    ["the default time of a call", { cwd: "/", defaultToolTimeout: 30 }, "asks/sleep", "TIMEOUT"],
  ])("%s", async (_, options, tool, code) => {
    const attached = await opened(options);
    expect((await attached.call(tool, { text: "x" })).failure?.code).toBe(code);
  });

  it("name the tools as the command wants", async () => {
    const toolNames = { template: "{server}--{tool}", length: 20 };
    const attached = await opened({ toolNames });
    const names = attached.tools().map(({ name }) => name);
    expect(names).toContain("echo--echo");
    expect(Math.max(...names.map(({ length }) => length))).toBeLessThanOrEqual(20);
    expect(await attached.call("echo--echo", { text: "x" })).not.toHaveProperty("failure");
  });

  it("do not let a command bring servers or switch to another agent's board", async () => {
    await expect(session(channel, {}, "other")).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    const servers = { mine: fixture("echo") };
    const options = { cwd: "/", servers };
    const link = await channel.connect();
    await link.request("session/open", ["main"], options);
    const find = link.request("session/find", ["mine/echo"]);
    await expect(find).rejects.toMatchObject({ code: "UNKNOWN_SERVER" });
  });

  it("the shared servers are not stopped by a command that closes its session", async () => {
    const attached = await opened();
    const pid = textOf(await board.call("echo/cwd"));
    await attached.close();
    await attached.close();
    expect(await attached.call("echo/echo")).toMatchObject({
      failure: { code: "SERVER_UNAVAILABLE" },
    });
    expect(textOf(await board.call("echo/cwd"))).toBe(pid);
  });

  it("the counters of a status follow the calls", async () => {
    const attached = await opened();
    const before = total(attached);
    await attached.call("echo/echo", { text: "x" });
    await eventually(() => total(attached) === before + 1);
  });
});

function total(attached: SessionBoard): number {
  return attached.status().find(({ name }) => name === "echo")?.calls.total ?? -1;
}

function callsOf(server: string): number {
  return board.status().find(({ name }) => name === server)?.calls.inFlight ?? -1;
}

afterEach(() => {
  expect(channel.logger.lines.filter(({ level }) => level === "error")).toEqual([]);
});
