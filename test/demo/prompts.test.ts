import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { complete, connect, ERAS, makePackage, removePackage } from "./connect.ts";

let root: string;
let client: Client;

beforeAll(() => {
  root = makePackage();
});

afterAll(() => removePackage(root));

describe.each(ERAS)("the demo's prompts to a %s client", (_, era) => {
  beforeEach(async () => {
    client = await connect(era, root);
  });

  afterEach(() => client.close());

  it.each([
    ["zones", "new yo", ["America/New_York"]],
    ["zones", "Asia/Tokyo,new yo", ["Asia/Tokyo, America/New_York"]],
    ["minutes", "4", ["45"]],
    ["date", "2", []],
  ])("completes the argument %s of meeting-times", async (name, value, values) => {
    const ref = { type: "ref/prompt" as const, name: "meeting-times" };
    expect(await complete(client, ref, name, value)).toEqual(values);
  });

  async function prompt(name: string, args: Record<string, string> = {}) {
    const { messages } = await client.getPrompt({ name, arguments: args });
    return messages.map(({ content }) => (content.type === "text" ? content.text : content));
  }

  it("has prompts to start from", async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      "first-steps",
      "explain-config",
      "meeting-times",
    ]);
    expect(prompts[2]?.arguments).toEqual([
      { name: "zones", description: expect.any(String), required: true },
      { name: "date", description: expect.any(String), required: false },
      { name: "minutes", description: expect.any(String), required: false },
    ]);
    expect((await prompt("first-steps"))[0]).toContain("Plugboard demo");
  });

  it("explains a configuration with the page about it at hand", async () => {
    const [page, ask] = await prompt("explain-config", { config: "{ /* ``` */ }" });
    expect(page).toMatchObject({ resource: { uri: "plugboard://docs/configuration" } });
    expect(ask).toContain("````json\n{ /* ``` */ }\n````");
  });

  it("asks for meeting times with the offsets of that day", async () => {
    const [text] = await prompt("meeting-times", { zones: "Berlin, Tokyo", date: "2026-12-01" });
    expect(text).toContain("on 2026-12-01 for a meeting of 30 minutes");
    expect(text).toContain("- Europe/Berlin: UTC+01:00\n- Asia/Tokyo: UTC+09:00");
    const [today] = await prompt("meeting-times", { zones: "Berlin", minutes: "45" });
    expect(today).toContain("on 2026-07-15 for a meeting of 45 minutes");
  });

  it.each([
    [{ zones: "Berln" }, 'Did you mean "Europe/Berlin"?'],
    [{ zones: "Berlin", date: "soon" }, "Cannot read the time"],
  ])("refuses %j", async (args, words) => {
    await expect(prompt("meeting-times", args)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(words),
    });
  });
});
