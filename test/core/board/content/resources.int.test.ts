// Resources of real servers: listed, found, read, subscribed to, completed, in both eras.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Board } from "../../../../src/core/types/board.ts";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";
import { closeBoards, fixture, open, reaches, statusOf } from "../../../support/boards.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ERAS, hostile, library, next, tell } from "./content-servers.ts";

closeBoards();

describe.each(ERAS)("a library (%s)", (era) => {
  it("lists its resources and templates", async () => {
    const board = await open({ lib: library(era) });
    expect(await board.resources.list()).toEqual([
      {
        uri: "lib:///welcome",
        name: "welcome",
        mimeType: "text/plain",
        server: "lib",
        available: true,
      },
      {
        uri: "lib:///rules",
        name: "rules",
        mimeType: "text/plain",
        server: "lib",
        available: true,
      },
    ]);
    expect(await board.resources.templates("lib")).toEqual([
      { uriTemplate: "lib:///shelf/{shelf}", name: "shelf", server: "lib", available: true },
    ]);
  });

  it("reads by URI, by template, and what is not listed", async () => {
    const board = await open({ lib: library(era), none: fixture("no-tools") });
    expect(await board.resources.read("lib:///rules")).toEqual({
      server: "lib",
      uri: "lib:///rules",
      contents: [{ uri: "lib:///rules", mimeType: "text/plain", text: "Be quiet." }],
    });
    const shelf = await board.resources.read("lib:///shelf/7");
    expect(shelf.contents[0]?.text).toBe("Shelf 7.");
    const picture = await board.resources.read("lib:///picture");
    expect(picture.contents).toEqual([
      { uri: "lib:///picture", mimeType: "image/png", blob: "aGVsbG8=" },
    ]);
    await expect(board.resources.read("lib:///nothing", { server: "lib" })).rejects.toMatchObject({
      code: "SERVER_ERROR",
      server: "lib",
      message: "server 'lib': cannot read 'lib:///nothing': Resource not found (-32002)",
    });
  });

  it("reports updates of subscribed resources, and of no others", async () => {
    const board = await open({ lib: library(era) });
    const events: unknown[] = [];
    board.on("resources", (event) => events.push(event));
    await board.resources.subscribe("lib:///rules");
    await tell(board, "write", { uri: "lib:///welcome", text: "unheard" });
    const heard = next(board, "resources");
    await tell(board, "write", { uri: "lib:///rules", text: "Be loud." });
    expect(await heard).toEqual({ server: "lib", change: "updated", uris: ["lib:///rules"] });
    const part = next(board, "resources");
    await tell(board, "touch", { uri: "lib:///rules", part: "lib:///rules#2" });
    expect((await part).uris).toEqual(["lib:///rules#2"]);
    await board.resources.unsubscribe("lib:///rules");
    await board.resources.unsubscribe("lib:///rules", { server: "lib" });
    expect(await tell(board, "subscriptions")).toBe("");
    expect(events).toHaveLength(2);
  });

  it("reports updates also after a crash, and a possible one for the time in between", async () => {
    const board = await open({ lib: library(era) });
    await board.resources.subscribe("lib:///rules");
    const renewed = next(board, "resources");
    await board.restart("lib");
    expect(await renewed).toEqual({ server: "lib", change: "updated", uris: ["lib:///rules"] });
    await expect.poll(() => tell(board, "subscriptions")).toBe("lib:///rules");
    const heard = next(board, "resources");
    await tell(board, "write", { uri: "lib:///rules", text: "x" });
    expect((await heard).uris).toEqual(["lib:///rules"]);
  });

  it("reports that its list has changed, also if nobody has asked for it", async () => {
    const board = await open({ lib: library(era) });
    let changed = next(board, "resources");
    await tell(board, "add", { name: "lib:///first" });
    expect(await changed).toEqual({ server: "lib", change: "list", uris: [] });
    expect(await board.resources.list()).toHaveLength(3);
    changed = next(board, "resources");
    await tell(board, "add", { name: "lib:///second" });
    await changed;
    expect(await board.resources.list()).toHaveLength(4);
  });

  it("completes the arguments of a template", async () => {
    const board = await open({ lib: library(era) });
    const template = "lib:///shelf/{shelf}";
    expect(await board.resources.complete(template, "shelf", "s")).toEqual({
      values: ["s!", template, "{}"],
      total: 3,
    });
    const known = { room: "1" };
    const { values } = await board.resources.complete(template, "shelf", "", {
      server: "lib",
      known,
    });
    expect(values[2]).toBe('{"room":"1"}');
    await expect(board.resources.complete("lib:///{x}", "x", "")).rejects.toMatchObject({
      code: "UNKNOWN_RESOURCE",
    });
  });
});

describe("the server of a URI", () => {
  it("is the first in the configuration, with one warning", async () => {
    const logger = recordingLogger();
    const board = await open({ one: library(), two: library() }, { logger });
    expect((await board.resources.read("lib:///rules")).server).toBe("one");
    expect((await board.resources.read("lib:///rules")).server).toBe("one");
    expect((await board.resources.read("lib:///rules", { server: "two" })).server).toBe("two");
    const message = "the resource is also on 'two'; without a server this one is used";
    expect(logger.lines.filter((line) => line.message === message)).toHaveLength(1);
    expect(statusOf(board, "one").diagnostics).toEqual([
      { server: "one", subject: "lib:///rules", message },
    ]);
  });

  it("is the one with the most specific template", async () => {
    const board = await open({ evil: hostile(), lib: library("legacy", "--scheme=evil") });
    expect((await board.resources.read("evil:///shelf/xx")).server).toBe("lib");
  });

  it("may be unknown", async () => {
    const board = await open({ one: library(), two: library() });
    await expect(board.resources.read("lib:///rulez")).rejects.toMatchObject({
      code: "UNKNOWN_RESOURCE",
      message: "no server lists 'lib:///rulez'",
      hint: "did you mean 'lib:///rules'?",
    });
    await expect(board.resources.read("zzz")).rejects.toMatchObject({
      hint: "if a server has it without listing it, name the server",
    });
    const down = await open({
      one: library(),
      broken: { command: "no-such-command-anywhere" },
      two: library(),
    });
    await expect(down.resources.read("zzz")).rejects.toMatchObject({
      hint: "these servers did not list their resources: broken",
    });
    await expect(board.resources.read("lib:///rules", { server: "tow" })).rejects.toMatchObject({
      code: "UNKNOWN_SERVER",
      hint: "did you mean 'two'?",
    });
  });
});

describe("a server", () => {
  it("without resources gets no requests", async () => {
    const board = await open({ echo: fixture("echo") });
    expect(await board.resources.list("echo")).toEqual([]);
    await expect(board.resources.read("a:1", { server: "echo" })).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: "server 'echo': cannot read 'a:1': the server does not support resources",
    });
    await expect(board.resources.subscribe("a:1", { server: "echo" })).rejects.toMatchObject({
      code: "UNSUPPORTED",
    });
    await expect(
      board.resources.complete("a:{b}", "b", "", { server: "echo" }),
    ).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  it("that advertises resources but cannot list them has none", async () => {
    const board = await open({ liar: fixture("advertises-then-refuses"), lib: library() });
    expect(await board.resources.list()).toHaveLength(2);
    expect(await board.prompts.list()).toHaveLength(1);
    expect(statusOf(board, "liar").diagnostics.map(({ message }) => message)).toEqual([
      "the server advertises tools but does not know tools/list",
      "the server advertises resources but does not know resources/list",
      "the server advertises prompts but does not know prompts/list",
    ]);
  });

  it.each([
    ["resources/list", ["listing resources: Unauthorized (-32603)"], 0, 1, 1],
    ["resources/templates/list", ["listing resource templates: Unauthorized (-32603)"], 1, 0, 1],
    ["prompts/list", ["listing prompts: Unauthorized (-32603)"], 1, 1, 0],
  ])(
    "whose %s fails has the other lists, and its status says so",
    async (refuses, said, ...counts) => {
      const server = fixture("advertises-then-refuses", `--refuses=${refuses}`);
      const board = await open({ part: server });
      const listed = [
        await board.resources.list(),
        await board.resources.templates(),
        await board.prompts.list(),
      ];
      expect(listed.map(({ length }) => length)).toEqual(counts);
      expect(statusOf(board, "part").diagnostics.map(({ message }) => message)).toEqual(said);
    },
  );

  it("that is lazy starts when it is read", async () => {
    const board = await open({ lib: { ...library(), lazy: true } }, { start: "none" });
    expect(statusOf(board, "lib").state.kind).toBe("idle");
    const { contents } = await board.resources.read("lib:///rules", { server: "lib" });
    expect(contents[0]?.text).toBe("Be quiet.");
    expect(statusOf(board, "lib").state.kind).toBe("ready");
  });

  it("that is down keeps its list, marked as not available", async () => {
    const board = await open({ lib: { ...library(), restartOnCrash: false } });
    await board.resources.list();
    await board.call("lib/crash");
    const failed = await reaches(board, "lib", "failed");
    expect(failed.available).toBe(true);
    expect(await board.resources.list()).toHaveLength(2);
    await board.close();
    expect((await board.resources.list()).map(({ available }) => available)).toEqual([
      false,
      false,
    ]);
  });

  it("that cannot be asked is left out, or rejects if it is named", async () => {
    const board = await open({ gone: { command: "/nowhere/at/all" }, lib: library() });
    expect(await board.resources.list()).toHaveLength(2);
    await expect(board.resources.list("gone")).rejects.toMatchObject({
      code: "SPAWN_FAILED",
    });
  });

  it("is asked each time if resourceRefreshMs is 0", async () => {
    const board = await open({ lib: { ...library("legacy", "--quiet"), resourceRefreshMs: 0 } });
    expect(await board.resources.list()).toHaveLength(2);
    await tell(board, "add", { name: "lib:///new" });
    expect(await board.resources.list()).toHaveLength(3);
  });

  it("with 10 000 resources lists 5000, and all can be read", async () => {
    const board = await open({ lib: library("legacy", "--count=10000") });
    const listed = await board.resources.list();
    expect(listed).toHaveLength(5000);
    expect(statusOf(board, "lib").diagnostics).toEqual([
      { server: "lib", message: "the resource list is cut at 5000 resources" },
    ]);
    const { contents } = await board.resources.read("lib:///book/9999");
    expect(contents[0]?.text).toBe("Book 9999.");
  });
});

describe("what a server listed in an earlier run", () => {
  const SECRET = "s3cret-value-of-this-test";
  const lists = async (board: Board): Promise<string[]> => {
    const unwaited = { wait: false };
    const [resources, templates, prompts] = await Promise.all([
      board.resources.list(undefined, unwaited),
      board.resources.templates(undefined, unwaited),
      board.prompts.list(undefined, unwaited),
    ]);
    return [
      ...resources.map(({ uri }) => uri),
      ...templates.map(({ uriTemplate }) => uriTemplate),
      ...prompts.map(({ name }) => name),
    ];
  };
  const LISTED = ["lib:///welcome", "lib:///rules", "lib:///shelf/{shelf}", "greet"];

  it("is listed at once, before the server has started, and what it lists now after that", async () => {
    const stateDir = temporaryDirectory();
    const lib = { ...fixture("library", `--secret=${SECRET}`), env: { API_TOKEN: SECRET } };
    const first = await open({ lib }, { stateDir });
    await Promise.all([first.resources.list(), first.prompts.list()]);
    await first.close();
    const directory = join(stateDir, "content");
    const saved = readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
    expect(saved).toHaveLength(1);
    expect(saved.join()).not.toContain(SECRET);

    const board = await open({ lib }, { stateDir, start: "none" });
    expect(await lists(board)).toEqual(LISTED);
    expect(statusOf(board, "lib").state.kind).toBe("starting");
    const told: string[] = [];
    board.on("resources", ({ change }) => told.push(change));
    await reaches(board, "lib", "ready");
    // The one with a secret in it was not saved.
    await expect.poll(() => told).toEqual(["list"]);
    expect(await lists(board)).toHaveLength(LISTED.length + 1);
    expect(await board.resources.list("lib")).toHaveLength(3);
  });

  it.each<[string, Partial<ServerConfig>]>([
    ["where pins block what has changed", { pins: "block" }],
    ["of another definition", { env: { OTHER: "1" } }],
  ])("is not listed %s", async (_, more) => {
    const stateDir = temporaryDirectory();
    const before = await open({ lib: library() }, { stateDir });
    await Promise.all([before.resources.list(), before.prompts.list()]);
    await before.close();
    const board = await open({ lib: { ...library(), ...more } }, { stateDir, start: "none" });
    expect(await lists(board)).toEqual([]);
  });

  it("is not enough for whoever waits, and a file that cannot be read is as none", async () => {
    const stateDir = temporaryDirectory();
    const first = await open({ lib: library() }, { stateDir });
    await first.resources.list();
    await first.close();
    const file = join(stateDir, "content", readdirSync(join(stateDir, "content"))[0] ?? "");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("lib:///rules", "lib:///old"));
    const uris = async (board: Board): Promise<string[]> =>
      (await board.resources.list()).map(({ uri }) => uri);
    const board = await open({ lib: library() }, { stateDir, start: "none" });
    expect(await uris(board)).toEqual(["lib:///welcome", "lib:///rules"]);
    await board.close();
    writeFileSync(file, "[]");
    const anew = await open({ lib: library() }, { stateDir, start: "none" });
    expect(await lists(anew)).toEqual([]);
  });
});
