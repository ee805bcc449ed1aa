// The demo server as a client sees it, in both eras of the protocol.

import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect, ERAS, makePackage, removePackage } from "./connect.ts";

type Ref = Parameters<Client["complete"]>[0]["ref"];

const MEETING: Ref = { type: "ref/prompt", name: "meeting-times" };

let root: string;
let client: Client;

beforeAll(() => {
  root = makePackage();
});

afterAll(() => removePackage(root));

describe.each(ERAS)("the demo server to a %s client", (_, era) => {
  beforeEach(async () => {
    client = await connect(era, root);
  });

  afterEach(() => client.close());

  async function call(name: string, args: Record<string, unknown> = {}) {
    const { content, structuredContent, isError } = await client.callTool({
      name,
      arguments: args,
    });
    const [first] = content;
    return {
      text: first?.type === "text" ? first.text : undefined,
      data: structuredContent,
      isError: isError ?? false,
    };
  }

  async function prompt(name: string, args: Record<string, string> = {}) {
    const { messages } = await client.getPrompt({ name, arguments: args });
    const content = messages[0]?.content;
    return content?.type === "text" ? content.text : undefined;
  }

  it("introduces itself", () => {
    expect(client.getServerVersion()).toMatchObject({
      name: "plugboard-demo",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(client.getInstructions()).toContain("demo of Plugboard");
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {}, prompts: {} });
  });

  it("describes its tools for people, models and programs", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "current_time",
      "convert_time",
      "search_docs",
      "countdown",
    ]);
    for (const tool of tools) {
      expect(tool).toMatchObject({
        title: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: "object", properties: expect.any(Object) },
        outputSchema: { type: "object" },
        annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
      });
    }
  });

  it.each([
    [
      "current_time",
      {},
      "Wednesday, 2026-07-15 12:00:00 in UTC (UTC+00:00)",
      { iso: "2026-07-15T12:00:00+00:00" },
    ],
    [
      "current_time",
      { zone: "berlin" },
      "Wednesday, 2026-07-15 14:00:00 in Europe/Berlin (UTC+02:00)",
      { zone: "Europe/Berlin", offset: "+02:00" },
    ],
    [
      "convert_time",
      { time: "09:00", from: "New York", to: "Tokyo, UTC" },
      "Wednesday, 2026-07-15 09:00:00 in America/New_York (UTC-04:00) is\n" +
        "- Wednesday, 2026-07-15 22:00:00 in Asia/Tokyo (UTC+09:00)\n" +
        "- Wednesday, 2026-07-15 13:00:00 in UTC (UTC+00:00)",
      { to: [{ zone: "Asia/Tokyo" }, { iso: "2026-07-15T13:00:00+00:00" }] },
    ],
    [
      "search_docs",
      { query: "timeout" },
      "## Timeouts\nConfiguration, plugboard://docs/configuration\n\nA call may take 60 s.",
      { hits: [{ uri: "plugboard://docs/configuration" }] },
    ],
    [
      "search_docs",
      { query: "zebra" },
      'Nothing found for "zebra". Pages: Plugboard, Configuration.',
      { hits: [] },
    ],
  ])("%s %j", async (name, args, text, data) => {
    expect(await call(name, args)).toMatchObject({ text, data, isError: false });
  });

  it.each([
    ["current_time", { zone: "Berln" }, 'Unknown time zone "Berln". Did you mean "Europe/Berlin"?'],
    ["convert_time", { time: "noon", to: "UTC" }, 'Cannot read the time "noon".'],
    ["convert_time", { time: "now", from: "Pariss", to: "UTC" }, 'Did you mean "Europe/Paris"?'],
    ["convert_time", { time: "now", to: "UTC,,Rome" }, 'Unknown time zone "".'],
    ["countdown", { from: 100, intervalMs: 101 }, "more than 10 seconds"],
    ["countdown", { from: "many" }, "from"],
  ])("%s %j is refused with a remedy", async (name, args, words) => {
    const { text, isError } = await call(name, args);
    expect(isError).toBe(true);
    expect(text).toContain(words);
  });

  it("counts down with progress", async () => {
    const steps: unknown[] = [];
    const result = await client.callTool(
      { name: "countdown", arguments: { from: 3, intervalMs: 1 } },
      { onprogress: ({ progress, total, message }) => steps.push([progress, total, message]) },
    );
    expect(result.structuredContent).toMatchObject({ steps: 3 });
    expect(steps).toEqual([
      [1, 3, "2 to go"],
      [2, 3, "1 to go"],
      [3, 3, "Lift-off"],
    ]);
    expect((await call("countdown", { from: 1, intervalMs: 0 })).text).toBe(
      "Lift-off after 1 step.",
    );
  });

  it("stops the countdown when it is cancelled", async () => {
    const abort = new AbortController();
    let steps = 0;
    const counting = client.callTool(
      { name: "countdown", arguments: { from: 2, intervalMs: 5000 } },
      { signal: abort.signal, onprogress: () => (steps += 1) },
    );
    abort.abort(new Error("enough"));
    await expect(counting).rejects.toThrow("enough");
    expect((await call("current_time")).isError).toBe(false);
    expect(steps).toBe(0);
  });

  it("has the documentation to read", async () => {
    const { resources } = await client.listResources();
    const uris = ["plugboard://docs/readme", "plugboard://docs/configuration"];
    expect(resources.map(({ uri }) => uri)).toEqual(uris);
    expect((await client.readResource({ uri: "plugboard://docs/readme" })).contents).toEqual([
      {
        uri: "plugboard://docs/readme",
        mimeType: "text/markdown",
        text: "# Plugboard\n\nPlug any server into any agent.\n",
      },
    ]);
    const missing = client.readResource({ uri: "plugboard://docs/nothing" });
    await expect(missing).rejects.toMatchObject({ code: -32602 });
  });

  it("has prompts to start from", async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["first-steps", "meeting-times"]);
    expect(prompts[1]?.arguments).toEqual([
      { name: "zones", description: expect.any(String), required: true },
      { name: "date", description: expect.any(String), required: false },
      { name: "minutes", description: expect.any(String), required: false },
    ]);
    expect(await prompt("first-steps")).toContain("Plugboard demo");
  });

  it("asks for meeting times with the offsets of that day", async () => {
    const text = await prompt("meeting-times", { zones: "Berlin, Tokyo", date: "2026-12-01" });
    expect(text).toContain("on 2026-12-01 for a meeting of 30 minutes");
    expect(text).toContain("- Europe/Berlin: UTC+01:00\n- Asia/Tokyo: UTC+09:00");
    const today = await prompt("meeting-times", { zones: "Berlin", minutes: "45" });
    expect(today).toContain("on 2026-07-15 for a meeting of 45 minutes");
  });

  it.each([
    [{ zones: "Berln" }, 'Did you mean "Europe/Berlin"?'],
    [{ zones: "Berlin", date: "soon" }, "Cannot read the time"],
  ])("refuses meeting times for %j", async (args, words) => {
    await expect(prompt("meeting-times", args)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(words),
    });
  });

  it.each<[Ref, string, string, string[]]>([
    [MEETING, "zones", "new yo", ["America/New_York"]],
    [MEETING, "zones", "Asia/Tokyo,new yo", ["Asia/Tokyo, America/New_York"]],
    [MEETING, "minutes", "4", ["45"]],
    [MEETING, "date", "2", []],
    [{ type: "ref/resource", uri: "plugboard://docs/{name}" }, "name", "CONF", ["configuration"]],
  ])("completes %j: %s", async (ref, name, value, values) => {
    const { completion } = await client.complete({ ref, argument: { name, value } });
    expect(completion.values).toEqual(values);
  });
});

describe("without its documentation", () => {
  it("says so, and works otherwise", async () => {
    client = await connect("legacy", join(root, "nowhere"));
    const { content, isError } = await client.callTool({
      name: "search_docs",
      arguments: { query: "timeout" },
    });
    expect(content).toEqual([
      { type: "text", text: "This installation came without its documentation." },
    ]);
    expect(isError).toBe(true);
    expect((await client.listResources()).resources).toEqual([]);
    await client.close();
  });
});
