// The servers people run, from npm, side by side on one board.

import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBoard } from "../src/core/board/board.ts";
import type { ServerConfig } from "../src/core/types/server-config.ts";
import type { Board } from "../src/core/types/board.ts";
import { canonicalName, type ToolUpdate } from "../src/core/types/tool.ts";
import { statusOf, textOf } from "./support/boards.ts";
import { expectNoProcesses } from "./support/processes.ts";

const require = createRequire(import.meta.url);

function fromNpm(name: string, ...args: string[]): ServerConfig {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = require(manifest) as { bin: Record<string, string> };
  const [entry] = Object.values(bin);
  return { command: process.execPath, args: [join(dirname(manifest), entry ?? ""), ...args] };
}

let directory: string;
let board: Board;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "plugboard-real-")));
  await writeFile(join(directory, "hello.txt"), "hello from disk");
  const servers = {
    everything: fromNpm("@modelcontextprotocol/server-everything"),
    filesystem: fromNpm("@modelcontextprotocol/server-filesystem", directory),
    memory: {
      ...fromNpm("@modelcontextprotocol/server-memory"),
      env: { MEMORY_FILE_PATH: join(directory, "memory.jsonl") },
    },
  };
  // Another directory than the one that server-filesystem is started for: roots would replace that.
  board = await openBoard({ servers }, { workspaceDir: dirname(directory) });
});

afterAll(async () => {
  await board.close();
  await rm(directory, { recursive: true });
  expectNoProcesses();
});

it("all are ready, with all their tools under distinct safe names", () => {
  expect(board.status().map(({ name, state, tools }) => [name, state.kind, tools])).toEqual([
    ["everything", "ready", 13],
    ["filesystem", "ready", 14],
    ["memory", "ready", 9],
  ]);
  const names = board.tools().map(({ name }) => name);
  expect(new Set(names).size).toBe(36);
  expect(names.every((name) => /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))).toBe(true);
});

describe("a search", () => {
  interface Question {
    query: string;
    tools: string[];
  }
  const questions = (name: string): Question[] =>
    require(`../checks/bench/search/${name}.json`) as Question[];

  /** The share of the wanted tools that are among the first `place`. */
  async function recall(asked: readonly Question[], place: number): Promise<number> {
    let found = 0;
    for (const { query, tools } of asked) {
      const hits = await board.search(query, { limit: place, all: true });
      const names = new Set(hits.map(({ tool }) => canonicalName(tool)));
      found += tools.filter((tool) => names.has(tool)).length;
    }
    return found / asked.flatMap(({ tools }) => tools).length;
  }

  it.each([
    ["single", 1, 0.75],
    ["single", 5, 0.95],
    ["single", 10, 0.97],
    ["multi", 5, 0.85],
    ["multi", 10, 0.95],
  ])("finds what is asked for in people's words: %s @%i", async (name, place, share) => {
    expect(await recall(questions(name), place)).toBeGreaterThanOrEqual(share);
  });

  it("asks about tools that there are", () => {
    const names = new Set(board.tools().map((tool) => canonicalName(tool)));
    const asked = [...questions("single"), ...questions("multi")].flatMap(({ tools }) => tools);
    expect(asked.filter((tool) => !names.has(tool))).toEqual([]);
  });

  it("knows what each server takes of a prompt", () => {
    const sum = board.status().reduce((tokens, server) => tokens + server.promptTokens, 0);
    // Counted with OpenAI's o200k: 3916.
    expect(sum).toBeGreaterThan(3916 * 0.9);
    expect(sum).toBeLessThan(3916 * 1.1);
  });
});

describe("server-everything", () => {
  it.each([
    ["echo", { message: "hi" }, "Echo: hi"],
    ["get-sum", { a: 2, b: 40 }, "The sum of 2 and 40 is 42."],
  ])("%s", async (tool, args, expected) => {
    expect(textOf(await board.call(`everything/${tool}`, args))).toBe(expected);
  });

  it("an image comes as an image, links as links, structured content as such", async () => {
    const image = await board.call("everything/get-tiny-image");
    expect(image.content.map(({ type }) => type)).toContain("image");
    const links = await board.call("everything/get-resource-links", { count: 3 });
    expect(links.content.filter(({ type }) => type === "resource_link")).toHaveLength(3);
    const weather = await board.call("everything/get-structured-content", { location: "Chicago" });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  });

  it("a long operation reports its progress and can be cancelled", async () => {
    const updates: ToolUpdate[] = [];
    const args = { duration: 1, steps: 4 };
    await board.call("everything/trigger-long-running-operation", args, {
      onUpdate: (each) => updates.push(each),
    });
    expect(updates.map(({ progress }) => progress?.progress)).toEqual([1, 2, 3, 4]);
    const abort = new AbortController();
    const long = board.call(
      "everything/trigger-long-running-operation",
      { duration: 60, steps: 60 },
      { signal: abort.signal },
    );
    setTimeout(() => abort.abort(), 100);
    expect((await long).failure?.code).toBe("CANCELLED");
  });

  it("sees the baseline environment alone", async () => {
    const env = JSON.parse(textOf(await board.call("everything/get-env"))) as object;
    expect(env).toHaveProperty("PATH");
    expect(env).not.toHaveProperty("VITEST");
  });

  it("reports bad arguments as an error result that says what is wrong", async () => {
    const outcome = await board.call("everything/get-sum", { a: "x" });
    expect(outcome.isError).toBe(true);
    expect(textOf(outcome)).toMatch(/invalid/i);
  });
});

describe("server-filesystem", () => {
  it("reads and writes inside its directory and nowhere else", async () => {
    const file = join(directory, "hello.txt");
    expect(textOf(await board.call("filesystem/read_text_file", { path: file }))).toBe(
      "hello from disk",
    );
    const target = join(directory, "new.txt");
    const written = await board.call("filesystem/write_file", { path: target, content: "grüße" });
    expect(written.isError).toBeUndefined();
    expect(await readFile(target, "utf8")).toBe("grüße");
    const outside = await board.call("filesystem/read_text_file", { path: "/etc/hostname" });
    expect(outside).toMatchObject({ isError: true });
    expect(outside.failure).toBeUndefined();
    const allowed = await board.call("filesystem/list_allowed_directories");
    expect(textOf(allowed)).toBe(`Allowed directories:\n${directory}`);
  });
});

describe("server-memory", () => {
  it("keeps what it is told, across a restart", async () => {
    const entities = [{ name: "Plugboard", entityType: "project", observations: ["has a board"] }];
    await board.call("memory/create_entities", { entities });
    const status = await board.restart("memory");
    expect(status.state.kind).toBe("ready");
    const graph = await board.call("memory/search_nodes", { query: "board" });
    expect(textOf(graph)).toContain("has a board");
    expect(statusOf(board, "memory").restarts).toBe(0);
  });
});
