// Resources and prompts of real servers: server-everything over stdio and HTTP, and a server that is built with
// the SDK, over HTTP in both eras.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import type { Board } from "../../../src/core/types/board.ts";
import { npmServer } from "../../support/npm-servers.ts";
import { closeBoards, open, statusOf } from "../../support/boards.ts";
import { next } from "./content/content-servers.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
// Registered last, so that it runs first.
closeBoards();

const entry = await npmServer("server-everything");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves to the server's URL when it answers. */
async function everythingOverHttp(): Promise<string> {
  const port = await freePort();
  const env = { PATH: process.env["PATH"], PORT: String(port) };
  const child = spawn(process.execPath, [entry, "streamableHttp"], { env, stdio: "ignore" });
  closers.push(async () => {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await expect
    .poll(
      () =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);
  return url;
}

describe.each(["stdio", "http"])("server-everything over %s", (transport) => {
  async function everything(): Promise<Board> {
    return open({
      everything:
        transport === "stdio"
          ? { command: process.execPath, args: [entry] }
          : { url: await everythingOverHttp() },
    });
  }

  it("lists, reads and completes resources", async () => {
    const board = await everything();
    const listed = await board.resources.list();
    expect(listed.length).toBeGreaterThan(3);
    const [first] = listed;
    const { contents } = await board.resources.read(first?.uri ?? "");
    expect(contents[0]?.text?.length).toBeGreaterThan(100);
    const templates = await board.resources.templates();
    const template = "demo://resource/dynamic/text/{resourceId}";
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain(template);
    const blob = await board.resources.read("demo://resource/dynamic/blob/2");
    expect(Buffer.from(blob.contents[0]?.blob ?? "", "base64").toString()).toContain("Resource 2");
    expect((await board.resources.complete(template, "resourceId", "7")).values).toEqual(["7"]);
    const block = await board.resources.context();
    expect(block).toContain(`URI: ${first?.uri}`);
    expect(Buffer.byteLength(block)).toBeLessThan(160 * 1024);
  });

  it("reports updates", async () => {
    const board = await everything();
    const uri = "demo://resource/dynamic/text/1";
    await board.resources.subscribe(uri);
    const updated = next(board, "resources");
    await board.call("everything/toggle-subscriber-updates");
    expect(await updated).toEqual({ server: "everything", change: "updated", uris: [uri] });
    await board.resources.unsubscribe(uri);
  });

  it("lists, fills in and completes prompts", async () => {
    const board = await everything();
    const names = (await board.prompts.list()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["simple-prompt", "args-prompt", "completable-prompt"]),
    );
    const { messages } = await board.prompts.get("everything/args-prompt", { city: "Oslo" });
    expect(JSON.stringify(messages)).toContain("Oslo");
    const known = { department: "Sales" };
    const { values } = await board.prompts.complete("completable-prompt", "name", "", { known });
    expect(values).toEqual(["David", "Eve", "Frank"]);
    await expect(board.prompts.get("everything/args-prompt")).rejects.toMatchObject({
      code: "SERVER_ERROR",
    });
  });
});

/** A server that is built with the SDK, for one era, and a function that reports changes to its clients. */
async function sdkOverHttp(): Promise<{
  url: string;
  notify: ReturnType<typeof createMcpHandler>["notify"];
}> {
  const texts = new Map([["notes:///size", "first"]]);
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: "notes", version: "1" },
      { capabilities: { resources: { subscribe: true, listChanged: true } } },
    );
    for (const [uri, text] of texts) {
      server.registerResource(uri, uri, {}, () => ({ contents: [{ uri, text }] }));
    }
    server.registerPrompt("grüße", { description: "Says hello." }, () => ({
      messages: [{ role: "user", content: { type: "text", text: "Hello." } }],
    }));
    return server;
  });
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answered = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? "POST",
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        signal: gone.signal,
      }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (answered.body === null) return void response.end();
    const body = Readable.fromWeb(answered.body);
    response.once("close", () => body.destroy());
    body.on("error", () => response.destroy()).pipe(response);
  }
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, notify: handler.notify };
}

async function listen(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
}

describe("a server that is built with the SDK, over HTTP", () => {
  it.each(["legacy", "2026-07-28"] as const)("can be read in %s", async (protocol) => {
    const { url } = await sdkOverHttp();
    const board = await open({ notes: { url, protocol } });
    expect(statusOf(board, "notes").identity?.era).toBe(
      protocol === "legacy" ? "legacy" : "modern",
    );
    const [resource] = await board.resources.list();
    const { contents } = await board.resources.read(resource?.uri ?? "");
    expect(contents[0]?.text).toBe("first");
    const { messages } = await board.prompts.get("grüße");
    expect(messages).toHaveLength(1);
    expect(await board.resources.context()).toContain("first");
  });

  it("reports updates and changed lists in 2026-07-28", async () => {
    const { url, notify } = await sdkOverHttp();
    const board = await open({ notes: { url, protocol: "2026-07-28" } });
    const [resource] = await board.resources.list();
    await board.resources.subscribe(resource?.uri ?? "");
    const updated = next(board, "resources");
    notify.resourceUpdated(resource?.uri ?? "");
    expect(await updated).toMatchObject({ change: "updated", uris: [resource?.uri] });
    const changed = next(board, "prompts");
    notify.promptsChanged();
    expect(await changed).toEqual({ server: "notes" });
  });
});
