// `plugboard serve` as a client on stdio sees it.

import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

interface Message {
  id?: number | string;
  method?: string;
  params?: { message?: string };
  result?: { content?: { text: string }[] };
}

/** A client by hand, with messages as lines. */
function startServe() {
  const stdin = new PassThrough();
  const stdout = new Sink();
  const running = scratch.start(["serve"], { stdin, stdout });
  const send = (message: object): boolean =>
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const messages = (): Message[] =>
    stdout.text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Message);
  let ids = 0;
  const until = async (isWanted: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const found = messages().find(isWanted);
      if (found !== undefined) return found;
      await new Promise((resolve) => stdout.once("said", resolve));
    }
  };
  const request = async (
    method: string,
    params: object = {},
  ): Promise<NonNullable<Message["result"]>> => {
    ids += 1;
    const id = ids;
    send({ id, method, params });
    return (await until((each) => each.id === id && each.method === undefined)).result ?? {};
  };
  const begin = (capabilities: object): Promise<unknown> =>
    request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities,
      clientInfo: { name: "test", version: "0" },
    });
  const end = async (): Promise<number> => {
    stdin.end();
    return (await running.done).code;
  };
  return { send, request, until, begin, end };
}

describe("plugboard serve", () => {
  it("runs the servers of one session, which get the client's roots", async () => {
    scratch.servers({
      shared: { ...fixture("asks"), roots: true },
      own: { ...fixture("asks"), scope: "session" },
    });
    const { begin, send, request, until, end } = startServe();
    await begin({ roots: {} });
    send({ method: "notifications/initialized" });
    const question = await until((each) => each.method === "roots/list");
    send({ id: question.id, result: { roots: [{ uri: "file:///home/me/project" }] } });
    const rootsOf = async (server: string): Promise<string> => {
      const ask = { method: "roots/list", params: {} };
      const { content } = await request("tools/call", { name: `${server}__ask`, arguments: ask });
      return JSON.stringify(content);
    };
    expect(await rootsOf("own")).toContain("file:///home/me/project");
    expect(await rootsOf("shared")).toContain(scratch.directory);
    expect(await end()).toBe(0);
  });

  it("leaves calls to plugboard approvals where its client cannot ask", async () => {
    scratch.servers({ docs: { ...fixture("echo"), approval: "ask" } });
    const { begin, request, until, end } = startServe();
    await begin({});
    const call = request("tools/call", {
      name: "docs__echo",
      arguments: { text: "hi" },
      _meta: { progressToken: 1 },
    });
    const told = await until(
      ({ params }) => params?.message?.includes("plugboard approvals") ?? false,
    );
    const id = told.params?.message?.split(" ").at(-1) ?? "";
    expect((await scratch.run(["approvals", "allow", id])).stdout).toContain("for stdio");
    expect((await call).content?.[0]?.text).toBe("hi");
    expect(await end()).toBe(0);
  });
});
