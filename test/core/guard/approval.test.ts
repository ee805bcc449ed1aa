import { describe, expect, it } from "vitest";
import { approvalStage, GivenApprovals } from "../../../src/core/guard/approval.ts";
import { serverGuards } from "../../../src/core/guard/server-guards.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  AskApproval,
} from "../../../src/core/types/approval.ts";
import type { ApprovalMode, ServerGuard } from "../../../src/core/types/guard-settings.ts";
import type { GuardedCall, Subject } from "../../../src/core/types/guard.ts";
import { settle } from "../../support/manual-clock.ts";
import { callOf, contentOf, OUTCOME, pass, refusal, subject } from "./subjects.ts";

interface Setting {
  agent?: ApprovalMode;
  server?: ServerGuard;
  ask?: AskApproval;
}

function stageOf({ agent, server, ask }: Setting) {
  const store = new GivenApprovals({ agent: { agent: "default" } });
  const servers = serverGuards([{ name: "docs", origin: "agent", guard: server }]);
  return approvalStage({ servers, agentMode: agent, ask, store });
}

/** Keeps each question until the test answers it. */
function desk() {
  const questions: {
    request: ApprovalRequest;
    signal: AbortSignal | undefined;
    answer: (answer: ApprovalAnswer) => void;
    fail: (error: Error) => void;
  }[] = [];
  const ask: AskApproval = (request, signal) =>
    new Promise((resolve, reject) => {
      questions.push({ request, signal, answer: resolve, fail: reject });
    });
  const only = () => {
    const question = questions.shift();
    if (question === undefined || questions.length > 0) throw new Error("not one question");
    return question;
  };
  return { ask, questions, only };
}

describe("whether a call is asked about", () => {
  const readOnly = { annotations: { readOnlyHint: true } };
  const harmless = { annotations: { destructiveHint: false } };
  const destructive = { annotations: { destructiveHint: true } };
  const trusted: ServerGuard = { trusted: true };

  it.each<[string, Setting, Subject, boolean]>([
    ["never by default", {}, subject("docs/read"), false],
    ["as the agent says", { agent: "ask" }, subject("docs/read"), true],
    [
      "as the server says",
      { server: { approval: { default: "ask" } } },
      subject("docs/read"),
      true,
    ],
    [
      "as the server says, not the agent",
      { agent: "ask", server: { approval: { default: "never" } } },
      subject("docs/read"),
      false,
    ],
    [
      "as is said of the tool",
      { server: { approval: { default: "never", tools: { read: "ask" } } } },
      subject("docs/read"),
      true,
    ],
    [
      "as is said of the tool, not the server",
      { server: { approval: { default: "ask", tools: { read: "never" } } } },
      subject("docs/read"),
      false,
    ],
    [
      "as the agent says, beside exceptions",
      { agent: "ask", server: { approval: { tools: { write: "never" } } } },
      subject("docs/read"),
      true,
    ],
    [
      "not by an inherited name",
      { server: { approval: { tools: {} } } },
      subject("docs/constructor"),
      false,
    ],
    [
      "as the agent says of another server",
      { server: { approval: { default: "ask" } } },
      subject("files/read"),
      false,
    ],
    ["of the host's tools as the agent says", { agent: "ask" }, subject("native/read"), true],
    [
      "with ask, whatever the hints",
      { agent: "ask", server: trusted },
      subject("docs/read", readOnly),
      true,
    ],
    [
      "of what may destroy, without a hint",
      { agent: "destructive", server: trusted },
      subject("docs/read"),
      true,
    ],
    [
      "of what destroys",
      { agent: "destructive", server: trusted },
      subject("docs/read", destructive),
      true,
    ],
    [
      "not of what only reads",
      { agent: "destructive", server: trusted },
      subject("docs/read", readOnly),
      false,
    ],
    [
      "not of what destroys nothing",
      { agent: "destructive", server: trusted },
      subject("docs/read", harmless),
      false,
    ],
    [
      "with a hint that is not a boolean",
      { agent: "destructive", server: trusted },
      subject("docs/read", { annotations: { readOnlyHint: "true" } }),
      true,
    ],
    [
      "of what an untrusted server calls reading",
      { agent: "destructive" },
      subject("docs/read", readOnly),
      true,
    ],
    [
      "of what an untrusted server calls harmless",
      { agent: "destructive" },
      subject("docs/read", harmless),
      true,
    ],
    [
      "not of the host's tool that only reads",
      { agent: "destructive" },
      subject("native/read", readOnly),
      false,
    ],
    ["of the host's tool without a hint", { agent: "destructive" }, subject("native/read"), true],
    [
      "of a session's server as of an untrusted one",
      { agent: "destructive", server: trusted },
      subject("docs/read", { ...readOnly, origin: "session" }),
      true,
    ],
    [
      "of a session's server as the agent says",
      { agent: "ask", server: { approval: { default: "never" } } },
      subject("docs/read", { origin: "session" }),
      true,
    ],
  ])("%s", (_, setting, of, expected) => {
    expect(stageOf(setting)(of) !== undefined).toBe(expected);
  });
});

describe("a question", () => {
  it("has everything it takes to answer it", async () => {
    const { ask, only } = desk();
    const of = subject("docs/write", {
      title: "Write",
      description: "Writes a page.",
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: "?" },
    });
    const made = pass(stageOf({ agent: "destructive", ask }), callOf(of, { args: { page: 1 } }));
    await settle();
    const { request, answer } = only();
    expect(request).toEqual({
      callId: "call_1",
      tool: "docs/write",
      hash: "h1",
      publicName: "mcp__docs__write",
      server: "docs",
      title: "Write",
      description: "Writes a page.",
      args: { page: 1 },
      hints: { destructive: true, idempotent: false },
      trusted: false,
      always: "until-closed",
      reason: "the tool may change or delete something",
      rule: "approval of the agent",
    });
    answer("once");
    expect(await made).toBe(OUTCOME);
  });

  it.each<[Setting, Subject, object]>([
    [
      { agent: "ask" },
      subject("native/wipe"),
      {
        tool: "native/wipe",
        trusted: true,
        hints: {},
        reason: "every call of this tool needs approval",
      },
    ],
    [
      { agent: "destructive", server: { trusted: true } },
      subject("docs/write"),
      { trusted: true, reason: "the tool may change or delete something" },
    ],
  ])("says why it is asked: %j", async (setting, of, expected) => {
    const { ask, only } = desk();
    const made = pass(stageOf({ ...setting, ask }), callOf(of));
    await settle();
    const { request, answer } = only();
    expect(request).toMatchObject(expected);
    answer("once");
    await made;
  });

  it.each<[ApprovalAnswer, GuardedCall["decision"], number]>([
    ["once", { verdict: "approved", rule: "approval: once" }, 1],
    ["always", { verdict: "approved", rule: "approval: always" }, 1],
    ["refuse", { verdict: "refused", rule: "approval" }, 0],
  ])("answered %s is a decision", async (answer, decision, calls) => {
    let made = 0;
    const call = callOf(subject("docs/read"));
    const stage = stageOf({ agent: "ask", ask: () => answer });
    await pass(stage, call, async () => {
      made += 1;
      return OUTCOME;
    }).catch(() => {});
    expect(call.decision).toEqual(decision);
    expect(made).toBe(calls);
  });

  it("is asked again after once, not after always, and again for a changed tool", async () => {
    const answers: ApprovalAnswer[] = ["once", "always", "refuse"];
    let asked = 0;
    const ask: AskApproval = () => answers[asked++] ?? "refuse";
    const stage = stageOf({ agent: "ask", ask });
    const of = subject("docs/read");
    await pass(stage, callOf(of));
    await pass(stage, callOf(of));
    await pass(stage, callOf(of));
    expect(asked).toBe(2);
    await refusal(pass(stage, callOf({ ...of, hash: "h2" })));
    expect(asked).toBe(3);
  });
});

describe("a refusal", () => {
  it.each<[string, Setting, object]>([
    ["is the answer", { ask: () => "refuse" }, { message: "docs/read was not approved" }],
    [
      "is all there is where nobody can be asked",
      {},
      {
        message: "docs/read must be approved and nobody can be asked",
        hint: "set its approval to never, or answer through onApproval",
      },
    ],
    [
      "is what a failed question comes to",
      { ask: () => Promise.reject(new Error("the window\nis gone")) },
      { message: "docs/read was not approved: asking failed: the window is gone" },
    ],
    [
      "is what a callback that throws comes to",
      {
        ask: () => {
          // oxlint-disable-next-line no-throw-literal
          throw "nope";
        },
      },
      { message: "docs/read was not approved: asking failed: nope", cause: "nope" },
    ],
    [
      "is what any unknown answer counts as",
      { ask: (() => true) as unknown as AskApproval },
      { message: "docs/read was not approved: the answer must be once, always or refuse" },
    ],
  ])("%s", async (_, setting, expected) => {
    const stage = stageOf({ agent: "ask", ...setting });
    const error = await refusal(pass(stage, callOf(subject("docs/read"))));
    expect(error).toMatchObject({ code: "NOT_APPROVED", server: "docs", ...expected });
  });

  it("is told as it stands where there was nothing to ask about", async () => {
    const outside = new PlugboardError("REFUSED_BY_POLICY", "that is outside");
    const stage = stageOf({ agent: "ask", ask: () => Promise.reject(outside) });
    const error = await refusal(pass(stage, callOf(subject("docs/read"))));
    expect(error).toMatchObject({ code: "REFUSED_BY_POLICY", message: "that is outside" });
  });

  it("does not stop the next question", async () => {
    const answers: ApprovalAnswer[] = ["refuse", "once"];
    const stage = stageOf({ agent: "ask", ask: () => answers.shift() ?? "refuse" });
    await refusal(pass(stage, callOf(subject("native/a"))));
    expect(await pass(stage, callOf(subject("native/a")))).toBe(OUTCOME);
  });
});

describe("several questions at once", () => {
  it("are asked one at a time, in order, each with its arguments", async () => {
    const { ask, only } = desk();
    const stage = stageOf({ agent: "ask", ask });
    const made = ["docs/a", "docs/a", "docs/b"].map((name, index) =>
      pass(stage, callOf(subject(name), { args: { index } })),
    );
    for (const index of [0, 1, 2]) {
      await settle();
      const { request, answer } = only();
      expect(request.args).toEqual({ index });
      answer("once");
    }
    expect(await Promise.all(made)).toEqual([OUTCOME, OUTCOME, OUTCOME]);
  });

  it("are not asked any more after an always for that tool", async () => {
    const { ask, only, questions } = desk();
    const stage = stageOf({ agent: "ask", ask });
    const same = [1, 2, 3].map((n) => pass(stage, callOf(subject("docs/a"), { args: { n } })));
    const other = pass(stage, callOf(subject("docs/b")));
    await settle();
    only().answer("always");
    expect(await Promise.all(same)).toEqual([OUTCOME, OUTCOME, OUTCOME]);
    await settle();
    const { request, answer } = only();
    expect(request.tool).toBe("docs/b");
    answer("once");
    await other;
    expect(questions).toEqual([]);
  });

  it("leave the line when their call is cancelled", async () => {
    const { ask, only } = desk();
    const stage = stageOf({ agent: "ask", ask });
    const controller = new AbortController();
    const first = pass(stage, callOf(subject("docs/a")));
    const second = pass(stage, callOf(subject("docs/b"), { signal: controller.signal }));
    const third = pass(stage, callOf(subject("docs/c")));
    await settle();
    controller.abort();
    expect((await refusal(second)).code).toBe("CANCELLED");
    only().answer("once");
    await first;
    await settle();
    const { request, answer } = only();
    expect(request.tool).toBe("docs/c");
    answer("once");
    await third;
  });
});

describe("a call that is cancelled while its question is shown", () => {
  it("ends at once, tells the one who asks, and keeps the next question back until then", async () => {
    const { ask, only, questions } = desk();
    const stage = stageOf({ agent: "ask", ask });
    const controller = new AbortController();
    const first = pass(stage, callOf(subject("docs/a"), { signal: controller.signal }));
    const second = pass(stage, callOf(subject("docs/b")));
    await settle();
    const shown = only();
    controller.abort();
    expect((await refusal(first)).code).toBe("CANCELLED");
    expect(shown.signal?.aborted).toBe(true);
    await settle();
    expect(questions).toEqual([]);
    shown.fail(new Error("taken down"));
    await settle();
    only().answer("once");
    expect(await second).toBe(OUTCOME);
  });

  it("is not asked about at all when it is cancelled before", async () => {
    const { ask, questions } = desk();
    const call = callOf(subject("docs/a"), { signal: AbortSignal.abort() });
    expect((await refusal(pass(stageOf({ agent: "ask", ask }), call))).code).toBe("CANCELLED");
    expect(questions).toEqual([]);
  });
});

describe("a resource or prompt is asked about", () => {
  const RULES = contentOf("docs/resource:docs:///rules", { annotations: { readOnlyHint: true } });
  const asking = { approval: { tools: { "resource:*": "ask" } } } as const;
  const careful = { approval: { tools: { "resource:*": "destructive" } } } as const;

  it.each<[string, Setting, Subject, string | undefined]>([
    [
      "not because tools are",
      { agent: "ask", server: { approval: { default: "ask" } } },
      RULES,
      undefined,
    ],
    [
      "where a pattern names it",
      { server: asking },
      RULES,
      "every read of this resource needs approval",
    ],
    ["not if it is of another kind", { server: asking }, contentOf("docs/prompt:greet"), undefined],
    [
      "not if its own name is an exception",
      {
        server: { approval: { tools: { "resource:*": "ask", "resource:docs:///rules": "never" } } },
      },
      RULES,
      undefined,
    ],
    [
      "with destructive, unless its server is trusted",
      { server: careful },
      RULES,
      "the labels of its server are not believed, so reading its resources may change something",
    ],
    ["not with destructive if it is", { server: { ...careful, trusted: true } }, RULES, undefined],
  ])("%s", async (_, setting, of, reason) => {
    const reasons: string[] = [];
    const ask: AskApproval = (request) => {
      reasons.push(request.reason);
      expect(request.content).toBe("resource");
      return "once";
    };
    await pass(stageOf({ ...setting, ask }), callOf(of));
    expect(reasons).toEqual(reason === undefined ? [] : [reason]);
  });
});

describe("a call with an asker of its own", () => {
  const ours = (ask: AskApproval, caller?: string): GuardedCall => ({
    ...callOf(subject("docs/read")),
    onApproval: ask,
    caller,
  });

  it("asks there and not at the board, and says who calls", async () => {
    const board = desk();
    const own = desk();
    const stage = stageOf({ agent: "ask", ask: board.ask });
    const call = pass(stage, ours(own.ask, "laptop"));
    await settle();
    const { request, answer } = own.only();
    expect(request).toMatchObject({ tool: "docs/read", caller: "laptop" });
    answer("once");
    expect(await call).toBe(OUTCOME);
    expect(board.questions).toEqual([]);
  });

  it("can ask though the board can ask nobody", async () => {
    const own = desk();
    const stage = stageOf({ agent: "ask" });
    const call = pass(stage, ours(own.ask));
    await settle();
    own.only().answer("once");
    expect(await call).toBe(OUTCOME);
  });

  it("does not wait for the answer of somebody else, and asks one question at a time", async () => {
    const [first, second] = [desk(), desk()];
    const stage = stageOf({ agent: "ask" });
    const calls = [first, first, second].map(({ ask }) => pass(stage, ours(ask)));
    await settle();
    expect([first.questions.length, second.questions.length]).toEqual([1, 1]);
    first.only().answer("once");
    await settle();
    first.only().answer("once");
    second.only().answer("once");
    expect(await Promise.all(calls)).toEqual([OUTCOME, OUTCOME, OUTCOME]);
  });

  it("is not asked where the answer was `always`, and its `always` counts for the board", async () => {
    const [board, own] = [desk(), desk()];
    const stage = stageOf({ agent: "ask", ask: board.ask });
    const call = pass(stage, ours(own.ask));
    await settle();
    own.only().answer("always");
    await call;
    await pass(stage, ours(own.ask));
    await pass(stage, callOf(subject("docs/read")));
    expect([...own.questions, ...board.questions]).toEqual([]);
  });
});
