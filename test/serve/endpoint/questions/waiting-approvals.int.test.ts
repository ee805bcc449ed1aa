// Calls whose client cannot ask its user: they wait until a person answers elsewhere. Over real sockets.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApprovalAnswer } from "../../../../src/core/types/approval.ts";
import type { PendingApproval } from "../../../../src/core/types/shared-state.ts";
import { PendingApprovalFiles } from "../../../../src/core/state/files/pending-approval-files.ts";
import { type Clock, systemClock } from "../../../../src/util/clock.ts";
import { openGateway, type Rig } from "../../gateway/rig.ts";
import { fixture } from "../../../support/boards.ts";
import { MovableClock } from "../../../support/movable-clock.ts";
import { closeServed, connectOld, legacy, modern, post, type RawAnswer } from "../harness.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

closeServed();

async function open(options: { waitMs?: number; clock?: Clock } = {}) {
  const stateDir = temporaryDirectory();
  const secret = "s3cr3t-of-the-board-0123456789";
  const rig = await openGateway(
    {
      servers: {
        docs: { ...fixture("echo"), approval: "ask", env: { DOCS_TOKEN: secret } },
        lib: { ...fixture("library"), approval: { tools: { "resource:*": "ask" } } },
      },
    },
    { stateDir, ...options },
  );
  const pending = new PendingApprovalFiles(stateDir, options.clock ?? systemClock);
  const waiting = async (count: number): Promise<PendingApproval[]> => {
    for (;;) {
      const all = await pending.list();
      if (all.length === count) return all;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const answer = async (which: PendingApproval | undefined, word: ApprovalAnswer) => {
    if (which === undefined || !(await pending.answer(which, word))) throw new Error("nobody asks");
  };
  const left = (): Promise<string[]> => readdir(join(stateDir, "gateway", "approvals"));
  return { ...rig, pending, waiting, answer, left, secret };
}

const echo = (text: string): object => ({ name: "mcp__docs__echo", arguments: { text } });

function callAs({ url }: Pick<Rig, "url">, caller: string, text = "hi", era = "legacy") {
  const headers = { "x-caller": caller };
  if (era === "legacy") return post(url, legacy("tools/call", echo(text)), headers);
  const { body, headers: own } = modern("tools/call", echo(text) as Record<string, unknown>);
  return post(url, body, { ...own, ...headers });
}

const said = ({ message }: RawAnswer): string => message?.["result"].content[0].text;

describe("a call that needs approval, of a client that cannot be asked", () => {
  it.each(["legacy", "modern"])("waits for the answer of a person, %s", async (era) => {
    const approvals = await open();
    const call = callAs(approvals, "ci", `hi ${approvals.secret}`, era);
    const [question] = await approvals.waiting(1);
    expect(question).toMatchObject({
      caller: { id: "token:ci", label: "ci" },
      agent: "default",
      request: { tool: "docs/echo", reason: "every call of this tool needs approval" },
    });
    // What the server was started with is shown to nobody.
    expect(JSON.stringify(question)).not.toContain(approvals.secret);
    await approvals.answer(question, "once");
    expect(said(await call)).toContain("hi");
    const second = callAs(approvals, "ci", "again", era);
    await approvals.answer((await approvals.waiting(1))[0], "refuse");
    expect(said(await second)).toContain("was not approved");
    expect(await approvals.left()).toEqual([]);
  });

  it("may also be a read, in either era", async () => {
    const approvals = await open();
    const read = { uri: "lib:///rules" };
    const { body, headers } = modern("resources/read", read);
    for (const [request, more] of [
      [legacy("resources/read", read), {}] as const,
      [body, headers] as const,
    ]) {
      const call = post(approvals.url, request, { "x-caller": "ci", ...more });
      const [question] = await approvals.waiting(1);
      expect(question?.request.tool).toBe("lib/resource:lib:///rules");
      await approvals.answer(question, "once");
      expect((await call).message?.["result"].contents[0].text).toBe("Be quiet.");
    }
  });

  it("tells what it waits for where the client wants to know", async () => {
    const approvals = await open();
    const client = await connectOld(approvals.url);
    const heard: (string | undefined)[] = [];
    const call = client.callTool(echo("hi") as never, undefined, {
      onprogress: ({ message }) => heard.push(message),
    });
    const [question] = await approvals.waiting(1);
    await approvals.answer(question, "once");
    expect(JSON.stringify((await call).content)).toContain("hi");
    expect(heard).toContain(
      `waits for approval of docs/echo: plugboard approvals allow ${question?.id}`,
    );
  });

  it("is a question of its own for each caller and each arguments, also when it is the same call", async () => {
    const approvals = await open();
    const calls = [
      callAs(approvals, "ci"),
      callAs(approvals, "ann"),
      callAs(approvals, "ci", "other"),
    ];
    const questions = await approvals.waiting(3);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(3);
    const ofCi = questions.find(
      ({ caller, request }) => caller.label === "ci" && request.args["text"] === "hi",
    );
    await approvals.answer(ofCi, "once");
    expect(said(await (calls[0] as Promise<RawAnswer>))).toBe("hi");
    for (const other of await approvals.waiting(2)) await approvals.answer(other, "refuse");
    for (const call of calls.slice(1)) expect(said(await call)).toContain("was not approved");
  });

  it("with the answer always asks the same caller no more, and others still", async () => {
    const approvals = await open();
    const first = callAs(approvals, "ci");
    await approvals.answer((await approvals.waiting(1))[0], "always");
    await first;
    expect(said(await callAs(approvals, "ci", "free"))).toBe("free");
    for (const caller of ["ann", "default"]) {
      const other = callAs(approvals, caller);
      await approvals.answer((await approvals.waiting(1))[0], "refuse");
      expect(said(await other)).toContain("was not approved");
    }
  });

  it("that nobody answers in time is refused, and a late answer counts for nothing", async () => {
    const clock = new MovableClock();
    const approvals = await open({ waitMs: 60_000, clock });
    const call = callAs(approvals, "ci");
    const [question] = await approvals.waiting(1);
    clock.forward(60_000);
    expect(said(await call)).toMatch(/was not approved within 60 s.*plugboard approvals/s);
    expect(await approvals.pending.answer(question as PendingApproval, "once")).toBe(false);
    expect(await approvals.left()).toEqual([]);
  });

  it("is refused at once with the remedy where calls do not wait", async () => {
    const approvals = await open({ waitMs: 0 });
    expect(said(await callAs(approvals, "ci"))).toMatch(/nobody can be asked.*"approval"/s);
  });

  it("is withdrawn when the client cancels it, or is gone", async () => {
    const approvals = await open();
    const client = await connectOld(approvals.url);
    const cancelling = new AbortController();
    const call = client.callTool(echo("hi") as never, undefined, { signal: cancelling.signal });
    call.catch(() => {});
    await approvals.waiting(1);
    cancelling.abort();
    await approvals.waiting(0);
    const { body, headers } = modern("tools/call", echo("hi") as Record<string, unknown>);
    const leaving = new AbortController();
    const gone = fetch(approvals.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    gone.catch(() => {});
    await approvals.waiting(1);
    leaving.abort();
    await approvals.waiting(0);
    expect(await approvals.left()).toEqual([]);
  });

  it("is refused when the gateway stops", async () => {
    const approvals = await open();
    const call = callAs(approvals, "ci");
    await approvals.waiting(1);
    const closing = approvals.close();
    expect(said(await call)).toContain("was not approved before the gateway stopped");
    await closing;
    expect(await approvals.left()).toEqual([]);
  });

  it("is refused where too many of its caller wait already, or nobody could read it", async () => {
    const approvals = await open();
    const calls = Array.from({ length: 33 }, () => callAs(approvals, "ci"));
    const refused = await Promise.race(calls);
    expect(said(refused)).toContain("too many calls wait");
    expect(said(await callAs(approvals, "ann", "x".repeat(1_100_000)))).toContain("this long");
    await approvals.waiting(32);
    await approvals.close();
    expect((await Promise.all(calls)).map(said)).toHaveLength(33);
  });
});
