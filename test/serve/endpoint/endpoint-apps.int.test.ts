// MCP Apps through an endpoint: the URIs of apps say whose they are, tools go only to those who may call them, and
// nothing else changes.

import { describe, expect, it } from "vitest";
import { closeBoards, fixture, open } from "../../support/boards.ts";
import { closeServed, connectLegacy, connectModern, serve } from "./harness.ts";

closeBoards();
closeServed();

const URI = "ui://view/app.html";
const SERVED = "ui://one/view/app.html";
const APPS = {
  capabilities: {
    extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
  },
};
const SERVERS = { one: fixture("apps"), two: fixture("apps") };

describe.each([
  ["legacy", connectLegacy],
  ["modern", connectModern],
])("a %s client", (_, connect) => {
  it("sees and reads the app of each server, with all that the server says about it", async () => {
    const board = await open(SERVERS, { showsApps: true });
    const { url } = await serve(board);
    const client = await connect(url, APPS);
    const { tools } = await client.listTools();
    const show = tools.find(({ name }) => name === "mcp__one__show");
    expect(show?._meta).toEqual({
      ui: { resourceUri: SERVED },
      "ui/resourceUri": SERVED,
      "example.com/kept": "show",
    });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([SERVED, "ui://two/view/app.html"]);
    expect(resources[0]?._meta).toMatchObject({
      ui: { csp: { connectDomains: expect.anything() } },
    });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "ui://one/view/{page}",
      "ui://two/view/{page}",
    ]);
    for (const [served, own] of [
      [SERVED, URI],
      ["ui://two/view/other.html", "ui://view/other.html"],
      // A server's own URI, which a result may have told the client.
      [URI, URI],
    ]) {
      const { contents } = await client.readResource({ uri: served ?? "" });
      expect(contents).toEqual([
        {
          uri: served,
          mimeType: "text/html;profile=mcp-app",
          text: `<!doctype html>${own}`,
          _meta: resources[0]?._meta,
        },
      ]);
    }
  });

  it("that shows apps gets the tools of apps too, and can call them; results stay as they are", async () => {
    const board = await open({ one: fixture("apps") }, { showsApps: true });
    const { url } = await serve(board);
    const client = await connect(url, APPS);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "mcp__one__show",
      "mcp__one__poll",
      "mcp__one__write",
      "mcp__one__add",
      "mcp__one__advertised",
    ]);
    const result = await client.callTool({ name: "mcp__one__poll" });
    expect(result).toMatchObject({
      content: [{ type: "text", text: `called poll, see ${URI}` }],
      structuredContent: { resourceUri: URI },
      _meta: { ui: { resourceUri: URI } },
    });
  });

  it("that shows none gets no tools that only apps may call, under any name", async () => {
    const board = await open({ one: fixture("apps") }, { showsApps: true });
    const { url } = await serve(board);
    const client = await connect(url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("mcp__one__poll");
    for (const name of ["mcp__one__poll", "one/poll", "mcp__one__nothing"]) {
      await expect(client.callTool({ name })).rejects.toMatchObject({
        code: -32602,
        data: { code: "UNKNOWN_TOOL" },
      });
    }
    expect((await client.callTool({ name: "mcp__one__show" })).isError ?? false).toBe(false);
  });
});

it("servers are not told of apps where nobody shows them", async () => {
  const board = await open({ one: fixture("apps") });
  expect(board.tools({ all: true }).map(({ name }) => name)).not.toContain("mcp__one__advertised");
});

it("a tool that only apps may call changes the list of those who show them", async () => {
  const board = await open({ one: fixture("apps") }, { showsApps: true });
  const { url } = await serve(board);
  let hear: () => void = () => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const client = await connectLegacy(url, APPS, (each) =>
    each.setNotificationHandler("notifications/tools/list_changed", () => hear()),
  );
  await client.listTools();
  await client.callTool({ name: "mcp__one__add" });
  await heard;
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("mcp__one__more");
});

it("a change of an app reaches those who subscribed, under the URI that they use", async () => {
  const board = await open(SERVERS, { showsApps: true });
  const { url } = await serve(board);
  let hear: (uri: string) => void = () => {};
  const heard = new Promise<string>((resolve) => {
    hear = resolve;
  });
  const client = await connectLegacy(url, APPS, (each) =>
    each.setNotificationHandler("notifications/resources/updated", ({ params }) =>
      hear(params.uri),
    ),
  );
  await client.subscribeResource({ uri: "ui://two/view/app.html" });
  expect(await heard).toBe("ui://two/view/app.html");
});

it("the URIs of apps stay where the gateway stands for one server", async () => {
  const board = await open({ one: fixture("apps") }, { showsApps: true });
  const { url } = await serve(board, { keepsApps: () => true });
  const client = await connectLegacy(url, APPS);
  const { tools } = await client.listTools();
  expect(tools[0]?._meta).toMatchObject({ ui: { resourceUri: URI }, "ui/resourceUri": URI });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual([URI]);
  const { contents } = await client.readResource({ uri: URI });
  expect(contents[0]?.uri).toBe(URI);
});
