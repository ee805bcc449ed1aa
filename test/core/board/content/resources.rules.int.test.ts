// Resources and the configuration, secrets, hostile servers and the audit log.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closeBoards, open, statusOf } from "../../../support/boards.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { hostile, library } from "./content-servers.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

closeBoards();

describe("the configuration allows", () => {
  it("no resources if they are disabled", async () => {
    const board = await open({ lib: { ...library(), resources: false } });
    expect(await board.resources.list()).toEqual([]);
    expect(await board.resources.templates("lib")).toEqual([]);
    expect(await board.resources.context()).toBe("");
    await expect(board.resources.read("lib:///rules", { server: "lib" })).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: "the resources of server 'lib' are disabled",
    });
    await expect(
      board.resources.complete("lib:///shelf/{shelf}", "shelf", "", { server: "lib" }),
    ).rejects.toMatchObject({ code: "UNSUPPORTED" });
    expect(await board.prompts.list()).toHaveLength(1);
  });

  it("only resources that the filter matches, to list and to read", async () => {
    const logger = recordingLogger();
    const board = await open(
      { lib: { ...library(), resourceFilter: ["lib:///r*", "x:*"] } },
      { logger },
    );
    expect((await board.resources.list()).map(({ uri }) => uri)).toEqual(["lib:///rules"]);
    expect(await board.resources.context()).not.toContain("Welcome");
    await expect(board.resources.read("lib:///welcome", { server: "lib" })).rejects.toMatchObject({
      code: "REFUSED_BY_POLICY",
      hint: 'its "resourceFilter" does not allow it: add the URI there to allow it',
    });
    await expect(board.resources.read("lib:///welcome")).rejects.toMatchObject({
      code: "UNKNOWN_RESOURCE",
    });
    const message = 'the entry "x:*" of "resourceFilter" matches no resource of the server';
    const told = logger.lines.filter((line) => line.message === message);
    expect(told.map(({ fields }) => fields)).toMatchObject([{ server: "lib" }]);
    expect(statusOf(board, "lib").diagnostics).toEqual([
      { server: "lib", message, kind: "filter" },
    ]);
  });

  it("every resource whose URI contains an entry without a star", async () => {
    const board = await open({ lib: { ...library(), resourceFilter: ["rule"] } });
    expect((await board.resources.list()).map(({ uri }) => uri)).toEqual(["lib:///rules"]);
    expect((await board.resources.read("lib:///rules")).contents).toHaveLength(1);
  });
});

describe("hostile resources", () => {
  it("are listed without the malformed ones, and can be read", async () => {
    const board = await open({ evil: hostile("--mb=1") });
    const listed = await board.resources.list();
    expect(listed.map(({ uri }) => uri)).toHaveLength(12);
    const found = statusOf(board, "evil").diagnostics.map(({ message }) => message);
    expect(found.filter((message) => message.startsWith("resource left out"))).toHaveLength(9);
    const read = async (uri: string) => (await board.resources.read(`evil:///${uri}`)).contents;
    expect((await read("huge"))[0]?.text).toHaveLength(2 ** 19);
    expect(await read("many")).toHaveLength(1000);
    for (const { text } of await read("neither")) {
      expect(text).toContain("[content that is neither text nor a blob]");
    }
    for (const uri of ["no-contents", "null"]) {
      await expect(read(uri)).rejects.toMatchObject({ code: "PROTOCOL", server: "evil" });
    }
    await expect(board.resources.subscribe("evil:///huge")).rejects.toThrow(
      "server 'evil': cannot subscribe to 'evil:///huge': server 'evil' is disabled",
    );
  });
});

describe("a resource that was read", () => {
  it("contains no secrets, and a URI that had one can still be read", async () => {
    const secret = "hunter2-hunter2";
    const board = await open({
      lib: { ...library("legacy", `--secret=${secret}`), env: { API_TOKEN: secret } },
    });
    const listed = await board.resources.list();
    const uri = listed.at(-1)?.uri ?? "";
    expect(JSON.stringify(listed)).not.toContain(secret);
    expect(uri).toContain("[REDACTED]");
    const reading = await board.resources.read(uri);
    expect(reading.contents[0]?.text).toBe("The key is [REDACTED].");
    expect(JSON.stringify(reading)).not.toContain(secret);
    expect(await board.resources.context()).not.toContain(secret);
  });

  it("is in the audit log", async () => {
    const stateDir = temporaryDirectory();
    const secret = "hunter2-hunter2";
    const lib = { ...library("legacy", `--secret=${secret}`), env: { API_TOKEN: secret } };
    const board = await open({ lib }, { stateDir });
    await board.resources.read("lib:///rules");
    await board.resources.read("lib:///nothing", { server: "lib" }).catch(() => {});
    await board.prompts.get("lib/greet", { who: "Ada" });
    await board.resources.subscribe(`lib:///${secret}/list`);
    await board.close();
    const lines = (await readFile(join(stateDir, "audit.jsonl"), "utf8")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        type: "call",
        server: "lib",
        tool: "resource:lib:///rules",
        decision: "allowed",
        outcome: "ok",
      },
      { type: "call", server: "lib", tool: "resource:lib:///nothing", outcome: "SERVER_ERROR" },
      { type: "call", server: "lib", tool: "prompt:greet", outcome: "ok", bytes: 27 },
      { type: "call", server: "lib", tool: "subscribe:lib:///[REDACTED]/list" },
    ]);
  });
});

describe("a read request", () => {
  it("can be cancelled", async () => {
    const board = await open({ lib: library() });
    const signal = AbortSignal.abort();
    await expect(board.resources.read("lib:///rules", { signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await expect(
      board.resources.read("lib:///rules", { server: "lib", signal }),
    ).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("asks a person if a server of 2026-07-28 needs input", async () => {
    const board = await open(
      { lib: library("modern") },
      { onElicitation: () => ({ action: "accept", content: { key: "brass" } }) },
    );
    const { contents } = await board.resources.read("lib:///locked");
    expect(contents[0]?.text).toBe("opened with brass");
  });
});
