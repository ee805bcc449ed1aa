// Recordings of real servers in place of the servers, as in somebody's tests. Needs the build.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openBoard } from "../../src/core/board/board.ts";
import type { JsonObject } from "../../src/core/types/json.ts";
import type { ServerConfig } from "../../src/core/types/server-config.ts";
import { useScratch } from "../cli/harness.ts";
import { fixture, statusOf } from "../support/boards.ts";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const manifest = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/package.json",
);

interface Recorded {
  server: ServerConfig;
  tool: string;
  words: string[];
  args: JsonObject;
  version: string;
}

const SERVERS: Record<string, Recorded> = {
  demo: {
    server: {
      command: process.execPath,
      args: [fileURLToPath(new URL("../../dist/cli/demo/server/server.js", import.meta.url))],
    },
    tool: "current_time",
    words: ["zone=Tokyo"],
    args: { zone: "Tokyo" },
    version: "2025-11-25",
  },
  everything: {
    server: {
      command: process.execPath,
      args: [join(dirname(manifest), "dist", "index.js")],
    },
    tool: "trigger-long-running-operation",
    words: ["duration=0.2", "steps=2"],
    args: { duration: 0.2, steps: 2 },
    version: "2025-11-25",
  },
  modern: {
    server: fixture("modern-only"),
    tool: "echo",
    words: ["text=hi"],
    args: { text: "hi" },
    version: "2026-07-28",
  },
};

const scratch = useScratch();

it("a board gets from recordings what it got from the demo, from server-everything and from a server of 2026-07-28", async () => {
  const names = Object.keys(SERVERS);
  scratch.servers(Object.fromEntries(names.map((name) => [name, SERVERS[name]?.server ?? {}])));
  await Promise.all(
    Object.entries(SERVERS).map(async ([name, { tool, words }]) => {
      const recorded = await scratch.run(["record", name, `${name}.jsonl`, tool, ...words]);
      expect([name, recorded.code]).toEqual([name, 0]);
    }),
  );
  const replays = names.map((name): [string, ServerConfig] => {
    const args = [BIN, "replay", join(scratch.directory, `${name}.jsonl`)];
    return [name, { command: process.execPath, args, env: { PLUGBOARD_HOME: scratch.directory } }];
  });
  await using board = await openBoard({ servers: Object.fromEntries(replays) });
  for (const [name, { tool, args, version }] of Object.entries(SERVERS)) {
    const messages = scratch
      .read(`${name}.jsonl`)
      .split("\n")
      .flatMap((line) => (line.includes('"kind":"message"') ? [JSON.parse(line) as Answer] : []));
    const last = (method: string): JsonObject =>
      messages.findLast(({ answers }) => answers === method)?.message.result ?? {};
    expect(statusOf(board, name).state).toMatchObject({ kind: "ready", protocolVersion: version });
    const listed = (last("tools/list")["tools"] as { name: string }[]).map((each) => each.name);
    const replayed = board
      .tools()
      .flatMap(({ source }) =>
        source.kind === "mcp" && source.server === name ? source.tool : [],
      );
    expect(replayed.toSorted()).toEqual(listed.toSorted());
    const steps: unknown[] = [];
    // The first answer may be given any number of times.
    for (let time = 0; time < 2; time += 1) {
      const outcome = await board.call(`${name}/${tool}`, args, {
        onUpdate: ({ progress }) => steps.push(progress?.progress),
      });
      const { content, structuredContent } = last("tools/call");
      expect(outcome).toMatchObject({ content });
      expect(outcome.isError).not.toBe(true);
      expect(outcome.structuredContent).toEqual(structuredContent);
    }
    expect(steps).toEqual(name === "everything" ? [1, 2, 1, 2] : []);
  }
  const unknown = await board.call("modern/echo", { text: "not recorded" });
  expect(unknown).toMatchObject({
    isError: true,
    failure: {
      code: "SERVER_ERROR",
      message: expect.stringContaining(
        'modern.jsonl has no tools/call echo {"text":"not recorded"}',
      ),
    },
  });
});

interface Answer {
  answers?: string;
  message: { result?: JsonObject };
}
