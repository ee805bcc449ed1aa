// Prompts of real servers: listed, filled in, completed, in both eras.

import { describe, expect, it } from "vitest";
import { closeBoards, fixture, open, statusOf } from "../../../support/boards.ts";
import { ERAS, hostile, library, next, tell } from "./content-servers.ts";

closeBoards();

describe.each(ERAS)("a library (%s)", (era) => {
  it("lists its prompts", async () => {
    const board = await open({ lib: library(era) });
    expect(await board.prompts.list()).toEqual([
      {
        name: "greet",
        description: "Says greet.",
        arguments: [{ name: "who", required: true }, { name: "tone" }],
        server: "lib",
        available: true,
      },
    ]);
  });

  it.each(["lib/greet", "greet"])("fills in %s", async (name) => {
    const board = await open({ lib: library(era), none: fixture("no-tools") });
    expect(await board.prompts.get(name, { who: "Ada" })).toEqual({
      server: "lib",
      prompt: "greet",
      description: "A greet.",
      messages: [
        { role: "user", content: { type: "text", text: "Please greet Ada." } },
        { role: "assistant", content: { type: "text", text: "Hello Ada!" } },
      ],
    });
  });

  it("reports that its list has changed", async () => {
    const board = await open({ lib: library(era) });
    let changed = next(board, "prompts");
    await tell(board, "add", { name: "praise", prompt: true });
    expect(await changed).toEqual({ server: "lib" });
    expect(await board.prompts.list("lib")).toHaveLength(2);
    changed = next(board, "prompts");
    await tell(board, "add", { name: "blame", prompt: true });
    await changed;
    expect((await board.prompts.list()).map(({ name }) => name)).toEqual([
      "greet",
      "praise",
      "blame",
    ]);
  });

  it("completes arguments", async () => {
    const board = await open({ lib: library(era) });
    const known = { tone: "warm" };
    expect(await board.prompts.complete("greet", "who", "A", { known })).toEqual({
      values: ["A!", "greet", '{"tone":"warm"}'],
      total: 3,
    });
  });
});

describe("a name", () => {
  it("that several servers have means the first one, with a warning", async () => {
    const board = await open({ one: library(), two: library() });
    expect((await board.prompts.get("greet")).server).toBe("one");
    expect((await board.prompts.get("two/greet")).server).toBe("two");
    expect(statusOf(board, "one").diagnostics.map(({ message }) => message)).toEqual([
      "the prompt is also on 'two'; without a server this one is used",
    ]);
  });

  it("that no server has is rejected", async () => {
    const board = await open({ lib: library() });
    await expect(board.prompts.get("gret")).rejects.toMatchObject({
      code: "UNKNOWN_PROMPT",
      message: "there is no prompt named 'gret'",
      hint: "did you mean 'greet'?",
    });
    await expect(board.prompts.get("zzzzzzzzz")).rejects.toMatchObject({
      hint: expect.stringMatching(/^the prompts are: lib\/\w/),
    });
    await expect(board.prompts.get("lib/gret")).rejects.toMatchObject({
      code: "SERVER_ERROR",
      message: "server 'lib': cannot get the prompt 'gret': Unknown prompt: gret (-32602)",
    });
  });

  it("is rejected if the server has no prompts or completions", async () => {
    const board = await open({ echo: fixture("echo") });
    await expect(board.prompts.get("echo/x")).rejects.toMatchObject({
      message: "server 'echo': cannot get the prompt 'x': the server does not support prompts",
    });
    await expect(board.prompts.complete("echo/x", "a", "")).rejects.toMatchObject({
      message:
        "server 'echo': cannot complete an argument of 'x': the server does not support completions",
    });
  });
});

describe("hostile prompts", () => {
  it("are listed without the malformed ones", async () => {
    const board = await open({ evil: hostile() });
    expect((await board.prompts.list()).map(({ name }) => name)).toEqual(["forged", "odd"]);
    await expect(board.prompts.get("odd")).rejects.toMatchObject({ code: "PROTOCOL" });
    const { values, hasMore } = await board.prompts.complete("forged", "a", "");
    expect([values.length, hasMore]).toEqual([100, true]);
  });

  it("stay between the markers for a model", async () => {
    const board = await open({ evil: hostile() });
    const result = await board.prompts.get("forged");
    expect(result.messages.map(({ role }) => role)).toEqual([
      "user",
      "user",
      "user",
      "assistant",
      "user",
    ]);
    const messages = board.prompts.forModel(result);
    const text = messages
      .map(({ content }) => (content.type === "text" ? content.text : content.type))
      .join("\n");
    expect(text.match(/<<<EXTERNAL_UNTRUSTED_CONTENT id="[0-9a-f]{16}">>>/g)).toHaveLength(3);
    expect(text.match(/<<<END_EXTERNAL_UNTRUSTED_CONTENT id="[0-9a-f]{16}">>>/g)).toHaveLength(3);
    expect(text).not.toContain("0123456789abcdef");
  });
});
