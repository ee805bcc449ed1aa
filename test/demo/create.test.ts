// The demo server as a client sees it, in both eras of the protocol.

import { join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDemoServer } from "../../src/demo/create.ts";
import { connect, ERAS, makePackage, removePackage } from "./connect.ts";

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

  it("introduces itself", () => {
    expect(client.getServerVersion()).toMatchObject({ name: "plugboard-demo", version: "1.2.3" });
    expect(client.getInstructions()).toContain("demo of Plugboard");
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {}, prompts: {} });
  });

  it("describes its tools for people, models and programs", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "current_time",
      "convert_time",
      "find_time_zones",
      "convert_units",
      "text_statistics",
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
      "Wednesday, 2026-07-15 14:00:00 in Europe/Berlin (UTC+02:00, daylight saving time)",
      { zone: "Europe/Berlin", daylightSaving: true },
    ],
    [
      "convert_time",
      { time: "09:00", from: "New York", to: "Tokyo, UTC" },
      "Wednesday, 2026-07-15 09:00:00 in America/New_York (UTC-04:00, daylight saving time) is\n" +
        "- Wednesday, 2026-07-15 22:00:00 in Asia/Tokyo (UTC+09:00)\n" +
        "- Wednesday, 2026-07-15 13:00:00 in UTC (UTC+00:00)",
      { to: [{ zone: "Asia/Tokyo" }, { iso: "2026-07-15T13:00:00+00:00" }] },
    ],
    [
      "convert_time",
      { time: "2026-10-25T02:30", from: "Europe/Berlin", to: "UTC" },
      "Sunday, 2026-10-25 02:30:00 in Europe/Berlin (UTC+02:00, daylight saving time) is\n" +
        "- Sunday, 2026-10-25 00:30:00 in UTC (UTC+00:00)\n" +
        "Note: Clocks in Europe/Berlin show that time twice; the first one was taken.",
      { note: expect.stringContaining("twice") },
    ],
    [
      "find_time_zones",
      { query: "york" },
      "1 zone found.\nAmerica/New_York (UTC-04:00)",
      { total: 1, zones: [{ zone: "America/New_York", offset: "-04:00" }] },
    ],
    [
      "find_time_zones",
      { query: "UTC+5:45" },
      "1 zone found.\nAsia/Kathmandu (UTC+05:45)",
      { total: 1 },
    ],
    [
      "find_time_zones",
      { query: "argentina", limit: 1 },
      expect.stringMatching(/^\d+ zones found\. The first 1:\nAmerica\/Argentina\//u),
      { zones: [{ offset: "-03:00" }] },
    ],
    ["convert_units", { value: 98.6, from: "F", to: "C" }, "98.6 °F = 37 °C", { result: 37 }],
    [
      "text_statistics",
      { text: "Plug it in. Plug it out." },
      "Words: 6, sentences: 2, paragraphs: 1, characters: 24.\nReading time: 2 s.\nMost frequent: plug (2).",
      { words: 6, topWords: [{ word: "plug", count: 2 }] },
    ],
    [
      "text_statistics",
      { text: "" },
      "Words: 0, sentences: 0, paragraphs: 0, characters: 0.\nReading time: 0 ms.",
      { words: 0 },
    ],
    [
      "search_docs",
      { query: "timeout" },
      "## Configuration > Timeouts\nConfiguration, plugboard://docs/configuration\n\nA call may take 60 s.",
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
    ["convert_units", { value: 1, from: "kg", to: "m" }, "Cannot convert kilogram (mass)"],
    ["countdown", { from: 100, intervalMs: 101 }, "more than 10 seconds"],
    ["convert_units", { value: "much", from: "kg", to: "g" }, "value"],
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
});

describe("without its documentation", () => {
  it("says so, and works otherwise", async () => {
    client = await connect("legacy", join(root, "nowhere"));
    expect(client.getServerVersion()?.version).toBe("unknown");
    const { content, isError } = await client.callTool({
      name: "search_docs",
      arguments: { query: "timeout" },
    });
    expect(content).toEqual([
      { type: "text", text: "This installation came without its documentation." },
    ]);
    expect(isError).toBe(true);
    const { messages } = await client.getPrompt({
      name: "explain-config",
      arguments: { config: "{}" },
    });
    expect(messages).toHaveLength(1);
    await client.close();
  });
});

describe("by default", () => {
  it("reads the package it is part of", async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const server = createDemoServer();
    await server.connect(far);
    client = new Client({ name: "test", version: "1" });
    await client.connect(near);
    expect(client.getServerVersion()?.version).toMatch(/^\d+\.\d+\.\d+/u);
    await client.close();
  });
});
