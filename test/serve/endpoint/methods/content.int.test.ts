// Resources, prompts and completions through an endpoint, and what clients hear of changes.

import { Shares } from "../../../../src/util/shares.ts";
import { describe, expect, it } from "vitest";
import type { Client as ModernClient } from "@modelcontextprotocol/client";
import { closeBoards, fixture, open } from "../../../support/boards.ts";
import {
  closeServed,
  connectLegacy,
  connectModern,
  INITIALIZE,
  legacy,
  modern,
  newKept,
  post,
  serve,
} from "../harness.ts";

closeBoards();
closeServed();

type Connect = (url: URL) => Promise<ModernClient>;
const ERAS: [string, Connect][] = [
  ["legacy", connectLegacy],
  ["modern", connectModern],
];

/** Resolves with the next value that `push` gets. */
function nextOf<Value>(): { next: Promise<Value>; push: (value: Value) => void } {
  let push: (value: Value) => void = () => {};
  const next = new Promise<Value>((resolve) => {
    push = resolve;
  });
  return { next, push };
}

describe.each(ERAS)("a %s client", (_, connect) => {
  it("lists, reads and completes what servers have", async () => {
    const board = await open({ lib: fixture("library") });
    const { url } = await serve(board);
    const client = await connect(url);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain("lib:///welcome");
    expect(JSON.stringify(resources)).not.toContain("available");
    const { contents } = await client.readResource({ uri: "lib:///welcome" });
    expect(contents).toMatchObject([{ uri: "lib:///welcome", text: "Welcome to the library." }]);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["greet"]);
    const { messages } = await client.getPrompt({ name: "greet", arguments: { who: "you" } });
    expect(messages.length).toBeGreaterThan(0);
  });

  it("reads what the board says about itself, which no list has", async () => {
    const board = await open({ lib: fixture("library"), gone: { command: "/nonexistent/server" } });
    const { url } = await serve(board);
    const client = await connect(url);
    const { resources } = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("plugboard://"))).toEqual([]);
    const textOf = async (uri: string): Promise<string> => {
      const { contents } = await client.readResource({ uri });
      return (contents[0] as { text: string }).text;
    };
    const block = await textOf("plugboard://context");
    expect(block).toBe(await board.resources.context());
    expect(block).toContain("Welcome to the library.");
    const short = await textOf("plugboard://context?maxBytes=900");
    expect(Buffer.byteLength(short)).toBeLessThanOrEqual(900);
    const { servers } = JSON.parse(await textOf("plugboard://status"));
    expect(servers).toMatchObject([
      { name: "lib", state: { kind: "ready" }, available: true },
      { name: "gone", state: { error: { code: expect.any(String), message: expect.any(String) } } },
    ]);
    expect(JSON.stringify(servers)).not.toMatch(/"pid"|"stderr"|"target"/);
    await expect(client.readResource({ uri: "plugboard://context?max=1" })).rejects.toThrow(
      /plugboard:\/\/context\?maxBytes=<number>/,
    );
    // An error does not send a client's megabyte back to it.
    const long = `plugboard://status?${"x".repeat(100_000)}`;
    await expect(client.readResource({ uri: long })).rejects.toThrow(/^.{1,1000}$/s);
  });

  it("reads each of two resources that have the same URI", async () => {
    const board = await open({ one: fixture("library"), two: fixture("library") });
    await board.call("two/write", { uri: "lib:///welcome", text: "The other library." });
    const { url } = await serve(board);
    const client = await connect(url);
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri).filter((uri) => uri.includes("welcome"));
    expect(uris).toHaveLength(2);
    expect(new Set(uris).size).toBe(2);
    const texts = await Promise.all(
      uris.map(async (uri) => {
        const { contents } = await client.readResource({ uri });
        expect(contents[0]?.uri).toBe(uri);
        return contents.map((each) => ("text" in each ? each.text : ""));
      }),
    );
    expect(texts.flat()).toEqual(["Welcome to the library.", "The other library."]);
  });

  it("gets each of two prompts that have the same name", async () => {
    const board = await open({ one: fixture("library"), two: fixture("library") });
    const { url } = await serve(board);
    const client = await connect(url);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["one__greet", "two__greet"]);
    const { messages } = await client.getPrompt({ name: "two__greet", arguments: { who: "x" } });
    expect(messages.length).toBeGreaterThan(0);
  });

  it("learns that a resource is not there", async () => {
    const board = await open({ lib: fixture("library") });
    const { url } = await serve(board);
    const client = await connect(url);
    await expect(client.readResource({ uri: "lib:///nothing" })).rejects.toMatchObject({
      code: -32602,
      data: { uri: "lib:///nothing", code: expect.any(String) },
    });
    await expect(client.getPrompt({ name: "nothing" })).rejects.toMatchObject({
      code: -32602,
      data: { code: "UNKNOWN_PROMPT" },
    });
  });
});

describe("names that a client knows", () => {
  const both = { one: fixture("library"), two: fixture("library") };

  it("work before it has listed anything", async () => {
    const board = await open(both);
    await board.call("two/write", { uri: "lib:///welcome", text: "The other library." });
    const { url } = await serve(board);
    const client = await connectModern(url);
    const { contents } = await client.readResource({ uri: "plugboard://two/lib:///welcome" });
    expect(contents).toMatchObject([
      { uri: "plugboard://two/lib:///welcome", text: "The other library." },
    ]);
    const { messages } = await client.getPrompt({ name: "two__greet", arguments: { who: "x" } });
    expect(messages.length).toBeGreaterThan(0);
  });

  it("complete prompts and templates of the server they name", async () => {
    const board = await open(both);
    const { url } = await serve(board);
    const client = await connectLegacy(url);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "plugboard://one/lib:///shelf/{shelf}",
      "plugboard://two/lib:///shelf/{shelf}",
    ]);
    const [, own] = await board.resources.templates();
    const expected = await board.resources.complete(own?.uriTemplate ?? "", "shelf", "1", {
      server: "two",
    });
    const template = await client.complete({
      ref: { type: "ref/resource", uri: "plugboard://two/lib:///shelf/{shelf}" },
      argument: { name: "shelf", value: "1" },
    });
    expect(template.completion).toEqual(expected);
    const prompt = await client.complete({
      ref: { type: "ref/prompt", name: "two__greet" },
      argument: { name: "who", value: "" },
    });
    expect(prompt.completion).toEqual(await board.prompts.complete("two/greet", "who", ""));
  });
});

it("a long list comes in pages, and a cursor is good for its own list alone", async () => {
  const board = await open({
    lib: fixture("library", "--count=1500"),
    many: fixture("many-tools", "--count=1100"),
  });
  const { url } = await serve(board);
  const page = async (method: string, params: object = {}) =>
    (await post(url, legacy(method, params))).message;
  const first = await page("resources/list");
  const cursor = first?.["result"].nextCursor;
  expect(first?.["result"].resources).toHaveLength(1000);
  const rest = await page("resources/list", { cursor });
  expect(rest?.["result"].resources).toHaveLength(502);
  expect(rest?.["result"]).not.toHaveProperty("nextCursor");
  const tools = await page("tools/list");
  expect(tools?.["result"].tools).toHaveLength(1000);
  for (const [method, other] of [
    ["tools/list", cursor],
    ["prompts/list", cursor],
    ["resources/list", tools?.["result"].nextCursor],
  ]) {
    expect((await page(method, { cursor: other }))?.["error"].code, method).toBe(-32602);
  }
  const changed = new Promise<void>((resolve) => {
    board.on("resources", () => resolve());
  });
  await board.call("lib/add", { name: "lib:///new" });
  await changed;
  expect((await page("resources/list", { cursor }))?.["error"].code).toBe(-32602);
});

it("several clients share one subscription, which ends with the last of them", async () => {
  const board = await open({ lib: fixture("library") });
  const { url } = await serve(board);
  const uri = "lib:///rules";
  const subscriptions = async () => JSON.stringify((await board.call("lib/subscriptions")).content);
  const heard: string[] = [];
  const connect = (name: string, hear: () => void) =>
    connectLegacy(url, {}, (each) =>
      each.setNotificationHandler("notifications/resources/updated", () => {
        heard.push(name);
        hear();
      }),
    );
  const [first, second] = [nextOf<void>(), nextOf<void>()];
  const alice = await connect("alice", first.push);
  const bob = await connect("bob", second.push);
  await alice.subscribeResource({ uri });
  await bob.subscribeResource({ uri });
  await board.call("lib/write", { uri, text: "Talk." });
  await Promise.all([first.next, second.next]);
  expect(heard.toSorted()).toEqual(["alice", "bob"]);
  await alice.unsubscribeResource({ uri });
  expect(await subscriptions()).toContain(uri);
  await bob.unsubscribeResource({ uri });
  expect(await subscriptions()).not.toContain(uri);
});

describe("changes", () => {
  it("of the tools reach every legacy client on its stream", async () => {
    const board = await open({ lists: fixture("list-changed") });
    const { url } = await serve(board);
    const heard = [nextOf<void>(), nextOf<void>()];
    const clients = await Promise.all(
      heard.map(({ push }) =>
        connectLegacy(url, {}, (client) =>
          client.setNotificationHandler("notifications/tools/list_changed", () => push()),
        ),
      ),
    );
    await clients[0]?.callTool({ name: "mcp__lists__swap" });
    await Promise.all(heard.map(({ next }) => next));
    const { tools } = (await clients[1]?.listTools()) ?? { tools: [] };
    expect(tools.map(({ name }) => name)).toContain("mcp__lists__after");
  });

  it("reach a client of 2026-07-28 that listens for them, and only those it wants", async () => {
    const board = await open({ lists: fixture("list-changed"), lib: fixture("library") });
    const { url, endpoint } = await serve(board);
    const client = await connectModern(url);
    const heard = nextOf<void>();
    client.setNotificationHandler("notifications/tools/list_changed", () => heard.push());
    const subscription = await client.listen({ toolsListChanged: true });
    expect(subscription.honoredFilter).toEqual({ toolsListChanged: true });
    await client.callTool({ name: "mcp__lists__swap" });
    await heard.next;
    // Closing the endpoint ends the stream with a result: the client knows that nothing was lost.
    endpoint.close();
    expect(await subscription.closed).toBe("graceful");
  });

  it("of resources are for everybody: nobody takes more than a quarter of the subscriptions", async () => {
    const board = await open({ lib: fixture("library") });
    const { url } = await serve(board, { subscriptionShares: new Shares(8) });
    const begin = async (caller: string): Promise<Record<string, string>> => {
      const who = { "x-caller": caller };
      const { headers } = await post(url, legacy("initialize", INITIALIZE), who);
      return { ...who, "mcp-session-id": headers.get("mcp-session-id") ?? "" };
    };
    const ask = (method: string, uri: string, headers: Record<string, string>) =>
      post(url, legacy(`resources/${method}`, { uri }), headers);
    const uris = ["lib:///rules", "lib:///logo", "lib:///plan"];
    const greedy = await begin("greedy");
    const answers = [];
    for (const uri of uris) answers.push((await ask("subscribe", uri, greedy)).message);
    expect(answers.map((answer) => answer?.["result"])).toEqual([{}, {}, undefined]);
    expect(answers[2]?.["error"].message).toBe(
      "you have 2 subscriptions already, and nobody gets more; end one of them first",
    );
    // Whatever a template would make of it: it is kept as long as the session.
    const long = `lib:///${"x".repeat(8192)}`;
    const tooLong = "of up to 8192 characters";
    const other = await begin("other");
    expect((await ask("subscribe", long, other)).message?.["error"].message).toContain(tooLong);
    const listen = modern("subscriptions/listen", {
      notifications: { resourceSubscriptions: [long] },
    });
    const listening = await post(url, listen.body, listen.headers);
    expect(listening.message?.["error"].message).toContain(tooLong);
    // Another session of theirs has no more of them.
    const again = await ask("subscribe", uris[2] ?? "", await begin("greedy"));
    expect(again.message?.["error"].message).toContain("you have 2 subscriptions already");
    const others = await ask("subscribe", uris[2] ?? "", other);
    expect(others.message?.["result"]).toEqual({});
    await ask("unsubscribe", uris[0] ?? "", greedy);
    expect((await ask("subscribe", uris[2] ?? "", greedy)).message?.["result"]).toEqual({});
    // What ends with its client is free again.
    await post(url, undefined, greedy, "DELETE");
    const later = await ask("subscribe", uris[0] ?? "", await begin("greedy"));
    expect(later.message?.["result"]).toEqual({});
  });

  it("of resources are not counted again for a client that makes the calls of many", async () => {
    const board = await open({ lib: fixture("library") });
    const { url } = await serve(board, { isForMany: true });
    const client = await connectModern(url);
    const uris = Array.from({ length: 1200 }, (_, at) => `lib:///books/${at}`);
    // As a gateway does it: the next stream begins before the one that it replaces has ended.
    for (let at = 0; at < 2; at += 1) {
      const { honoredFilter } = await client.listen({ resourceSubscriptions: uris });
      expect(honoredFilter.resourceSubscriptions).toHaveLength(uris.length);
    }
  });

  it("of a resource reach those who subscribed, also after a restart", async () => {
    const board = await open({ lib: fixture("library") });
    const kept = newKept();
    const before = await serve(board, { kept });
    const begun = await post(before.url, legacy("initialize", INITIALIZE));
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const uri = "lib:///rules";
    const subscribed = await post(before.url, legacy("resources/subscribe", { uri }), session);
    expect(subscribed.message?.["result"]).toEqual({});
    await before.close();
    const { url } = await serve(board, { kept });
    const stream = await fetch(url, { headers: { accept: "text/event-stream", ...session } });
    await board.call("lib/write", { uri, text: "Talk." });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("resources/updated")) text += (await reader?.read())?.value ?? "";
    expect(text).toContain(uri);
    await reader?.cancel();
  });
});
