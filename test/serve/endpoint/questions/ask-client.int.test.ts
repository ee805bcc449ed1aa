// Approvals that are put to the client as a form: what an answer is good for, in both eras. Over real sockets.

import { describe, expect, it } from "vitest";
import { deferred, type Deferred } from "../../../../src/util/deferred.ts";
import { closeBoards, fixture, open } from "../../../support/boards.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/processes.ts";
import {
  closeServed,
  connectLegacy,
  INITIALIZE,
  legacy,
  modern,
  newKept,
  post,
  type RawAnswer,
  serve,
} from "../harness.ts";

closeBoards();
closeServed();

const FORMS = { elicitation: { form: {} } };
const EXPIRY = 600_000;
const servers = { echo: { ...fixture("echo"), approval: "ask" as const } };
const hi = { name: "mcp__echo__echo", arguments: { text: "hi" } };

const textIn = ({ message }: RawAnswer): string => message?.["result"].content[0].text;

describe("an approval by form, up to 2025-11-25", () => {
  /** A client whose user does not answer until the test does. */
  async function ask() {
    const clock = new ManualClock();
    const board = await open(servers);
    const { url, sessions } = await serve(board, { clock });
    const questions: { answer: Deferred<string>; signal: AbortSignal }[] = [];
    const client = await connectLegacy(url, { capabilities: FORMS }, (each) =>
      each.setRequestHandler("elicitation/create", async (_, { mcpReq }) => {
        const answer = deferred<string>();
        questions.push({ answer, signal: mcpReq.signal });
        return { action: "accept", content: { decision: await answer.promise } };
      }),
    );
    const cancelling = new AbortController();
    const call = client.callTool(hi, { signal: cancelling.signal, timeout: 60_000 });
    call.catch(() => {});
    await eventually(() => questions.length === 1);
    const [question] = questions;
    if (question === undefined) throw new Error("nothing was asked");
    return { url, clock, client, call, cancelling, question, questions, sessions };
  }

  it("is not given by another client, nor by an answer to another question", async () => {
    const { url, call, question } = await ask();
    const yes = { action: "accept", content: { decision: "always" } };
    for (const caller of ["alice", "mallory"]) {
      const headers = { "x-caller": caller };
      const begun = await post(url, legacy("initialize", INITIALIZE), headers);
      const session = { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
      for (const id of ["plugboard-1", "plugboard-2"]) {
        const { status } = await post(url, { jsonrpc: "2.0", id, result: yes }, session);
        expect(status).toBe(202);
      }
      await post(url, { jsonrpc: "2.0", id: "plugboard-1", result: yes }, headers);
    }
    question.answer.resolve("refuse");
    expect(JSON.stringify((await call).content)).toContain("was not approved");
  });

  it("expires: the call is refused, and a late answer counts for nothing", async () => {
    const { clock, client, call, question, questions } = await ask();
    await clock.advance(EXPIRY);
    expect(JSON.stringify((await call).content)).toContain("was not approved");
    await eventually(() => question.signal.aborted);
    question.answer.resolve("always");
    const next = client.callTool(hi, { timeout: 60_000 });
    await eventually(() => questions.length === 2);
    questions[1]?.answer.resolve("once");
    expect(JSON.stringify((await next).content)).toContain("hi");
  });

  it("is not asked any more when the call is cancelled", async () => {
    const { cancelling, question, sessions } = await ask();
    cancelling.abort();
    await eventually(() => question.signal.aborted);
    await eventually(() => sessions.list().every(({ client }) => client.busy === 0));
  });

  it("ends with the session of the client", async () => {
    const { client, sessions } = await ask();
    const [session] = sessions.list();
    await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    await eventually(() => session?.client.busy === 0);
    expect(sessions.size).toBe(0);
  });
});

it("a server's question that nobody answers expires too, and its call gives up its place", async () => {
  const clock = new ManualClock();
  const board = await open(
    { asks: { ...fixture("asks"), concurrency: 1 } },
    { onElicitation: () => ({ action: "decline" }) },
  );
  const { url } = await serve(board, { clock });
  const asked = deferred<AbortSignal>();
  const client = await connectLegacy(url, { capabilities: FORMS }, (each) =>
    each.setRequestHandler("elicitation/create", async (_, { mcpReq }) => {
      asked.resolve(mcpReq.signal);
      return deferred<never>().promise;
    }),
  );
  const params = { message: "Why?", requestedSchema: { type: "object", properties: {} } };
  const call = (method: string) =>
    client.callTool({ name: "mcp__asks__ask", arguments: { method, params } }, { timeout: 60_000 });
  const first = call("elicitation/create");
  const signal = await asked.promise;
  const second = call("ping");
  await clock.advance(EXPIRY);
  expect(JSON.stringify((await first).content)).toContain("decline");
  await eventually(() => signal.aborted);
  expect((await second).isError).toBeUndefined();
});

describe("an approval by form, in 2026-07-28", () => {
  const yes = (decision: string) => ({
    inputResponses: { "question-1": { action: "accept", content: { decision } } },
  });

  /** A call that was answered with the question. */
  async function ask() {
    const clock = new ManualClock();
    const board = await open({ ...servers, other: { ...fixture("echo"), approval: "ask" } });
    const kept = newKept();
    const { url } = await serve(board, { clock, kept, agent: "default" });
    const call = (params: object, caller = "alice", at = url): Promise<RawAnswer> => {
      const { body, headers } = modern("tools/call", { ...hi, ...params }, FORMS);
      return post(at, body, { ...headers, "x-caller": caller });
    };
    const asked = await call({});
    expect(asked.message?.["result"]).toMatchObject({
      resultType: "input_required",
      inputRequests: { "question-1": { method: "elicitation/create" } },
    });
    const requestState: string = asked.message?.["result"].requestState;
    const other = async (): Promise<URL> => (await serve(board, { kept, agent: "coder" })).url;
    return { call, clock, requestState, other };
  }

  it.each<[string, object, string | undefined, number]>([
    ["other arguments", { arguments: { text: "other" } }, undefined, 0],
    ["another tool", { name: "mcp__other__echo" }, undefined, 0],
    ["another caller", {}, "mallory", 0],
    ["a later time", {}, undefined, EXPIRY + 1],
    ["a state that was changed", { requestState: "AAAA" }, undefined, 0],
  ])("is not good for %s", async (_, params, caller, wait) => {
    const { call, clock, requestState } = await ask();
    await clock.advance(wait);
    const { message } = await call({ requestState, ...yes("once"), ...params }, caller);
    expect(message?.["error"]).toMatchObject({ code: -32602 });
  });

  it("is not good for another agent, which may have another server of that name", async () => {
    const { call, requestState, other } = await ask();
    const { message } = await call({ requestState, ...yes("once") }, "alice", await other());
    expect(message?.["error"]).toMatchObject({ code: -32602 });
  });

  it("is good once: a second time it is an error, and nothing runs", async () => {
    const { call, requestState } = await ask();
    expect(textIn(await call({ requestState, ...yes("once") }))).toBe("hi");
    const again = await call({ requestState, ...yes("once") });
    expect(again.message?.["result"].isError).toBe(true);
    expect(textIn(again)).toContain("is lost");
  });

  it("is not given by an answer that was sent before the question", async () => {
    const { call } = await ask();
    const { message } = await call(yes("once"));
    expect(message?.["result"].resultType).toBe("input_required");
  });

  it("with always holds for this caller alone", async () => {
    const { call, requestState } = await ask();
    expect(textIn(await call({ requestState, ...yes("always") }))).toBe("hi");
    expect(textIn(await call({ arguments: { text: "free" } }))).toBe("free");
    expect((await call({}, "bob")).message?.["result"].resultType).toBe("input_required");
    const other = await call({ name: "mcp__other__echo" });
    expect(other.message?.["result"].resultType).toBe("input_required");
  });

  it.each([
    ["without a decision", { action: "accept" }],
    ["with another word", { action: "accept", content: { decision: "sure" } }],
    ["that is cancelled", { action: "cancel" }],
  ])("%s is refused", async (_, response) => {
    const { call, requestState } = await ask();
    const answer = await call({ requestState, inputResponses: { "question-1": response } });
    expect(textIn(answer)).toContain("was not approved");
  });
});
