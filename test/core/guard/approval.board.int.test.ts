// Calls that somebody has to agree to.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  AskApproval,
} from "../../../src/core/types/approval.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { closeBoards, fixture, openWith, statusOf, textOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";

closeBoards();

/** Answers all questions alike, and keeps them. */
function person(answer: ApprovalAnswer) {
  const asked: ApprovalRequest[] = [];
  const onApproval: AskApproval = (request) => {
    asked.push(request);
    return answer;
  };
  return { asked, onApproval };
}

const asking: BoardConfig = { approval: "ask", servers: { echo: fixture("echo") } };
const hi = { text: "hi" };

describe("the question", () => {
  it("says what is to be called, with what, and why it is asked", async () => {
    const { asked, onApproval } = person("once");
    const board = await openWith(asking, { onApproval });
    expect(textOf(await board.call("mcp__echo__add", { a: 1, b: 2 }))).toBe("3");
    expect(asked).toEqual([
      {
        callId: expect.any(String) as string,
        tool: "echo/add",
        hash: expect.any(String) as string,
        publicName: "mcp__echo__add",
        server: "echo",
        description: "Adds two numbers.",
        args: { a: 1, b: 2 },
        hints: { readOnly: true },
        trusted: false,
        always: "until-closed",
        reason: "every call of this tool needs approval",
        rule: expect.any(String) as string,
      },
    ]);
  });

  it.each<[string, ApprovalAnswer, number]>([
    ["once: before every call", "once", 2],
    ["always: no second time", "always", 1],
  ])("%s", async (_, answer, times) => {
    const { asked, onApproval } = person(answer);
    const board = await openWith(asking, { onApproval });
    expect(textOf(await board.call("echo/echo", hi))).toBe("hi");
    expect(textOf(await board.call("echo/echo", hi))).toBe("hi");
    expect(asked).toHaveLength(times);
  });

  it("refuse: the call is not made", async () => {
    const { onApproval } = person("refuse");
    const board = await openWith(asking, { onApproval });
    const sent: string[] = [];
    board.on("callStart", ({ tool }) => sent.push(tool));
    expect((await board.call("echo/echo", hi)).failure).toEqual({
      code: "NOT_APPROVED",
      message: "echo/echo was not approved",
    });
    expect(sent).toEqual([]);
    expect(statusOf(board, "echo").calls).toMatchObject({ total: 1, failed: 1 });
  });

  it("nobody to ask: the call is refused and says what can be done", async () => {
    const board = await openWith(asking);
    expect((await board.call("echo/echo", hi)).failure).toEqual({
      code: "NOT_APPROVED",
      message:
        "echo/echo must be approved and nobody can be asked (set its approval to never, or answer through onApproval)",
      hint: "set its approval to never, or answer through onApproval",
    });
  });

  it("asking that fails is a refusal", async () => {
    const onApproval = (): never => {
      throw new Error("the window was closed");
    };
    const board = await openWith(asking, { onApproval });
    const { failure } = await board.call("echo/echo", hi);
    expect(failure).toEqual({
      code: "NOT_APPROVED",
      message: "echo/echo was not approved: asking failed: the window was closed",
    });
  });

  it("the time it takes is no part of the call's", async () => {
    const onApproval = (): Promise<ApprovalAnswer> =>
      new Promise((resolve) => setTimeout(() => resolve("once"), 1500));
    const servers = { echo: { ...fixture("echo"), toolTimeout: 1000 } };
    const board = await openWith({ approval: "ask", servers }, { onApproval });
    expect(textOf(await board.call("echo/echo", hi))).toBe("hi");
  });

  it("goes away with the call, and the next one is asked after it", async () => {
    const abort = new AbortController();
    const events: string[] = [];
    const onApproval: AskApproval = ({ args }, gone) => {
      events.push(`asked ${String(args["text"])}`);
      if (args["text"] !== "first") return "once";
      abort.abort();
      return new Promise((resolve) => {
        const end = (): void => {
          events.push("gone");
          resolve("refuse");
        };
        if (gone?.aborted) end();
        else gone?.addEventListener("abort", end);
      });
    };
    const board = await openWith(asking, { onApproval });
    const first = board.call("echo/echo", { text: "first" }, { signal: abort.signal });
    const second = board.call("echo/echo", { text: "second" });
    expect((await first).failure?.code).toBe("CANCELLED");
    expect(textOf(await second)).toBe("second");
    expect(events).toEqual(["asked first", "gone", "asked second"]);
  });
});

describe("which calls are asked about", () => {
  const wipe: NativeTool = {
    name: "wipe",
    description: "Deletes everything.",
    parameters: { type: "object" },
    annotations: { destructiveHint: true },
    execute: () => ({ content: [{ type: "text", text: "wiped" }] }),
  };
  const look: NativeTool = { ...wipe, name: "look", annotations: { readOnlyHint: true } };

  it.each<[string, BoardConfig, string[]]>([
    ["none by default", { servers: { echo: fixture("echo") } }, []],
    [
      "destructive: all that is not said, by one who is believed, to change nothing",
      { approval: "destructive", servers: { echo: fixture("echo") } },
      ["native/wipe", "echo/add", "echo/echo"],
    ],
    [
      "destructive, of a trusted server",
      { approval: "destructive", servers: { echo: { ...fixture("echo"), trusted: true } } },
      ["native/wipe", "echo/echo"],
    ],
    [
      "a server's own mode, with an exception",
      {
        approval: "ask",
        servers: {
          echo: { ...fixture("echo"), approval: { default: "never", tools: { add: "ask" } } },
        },
      },
      ["native/wipe", "native/look", "echo/add"],
    ],
  ])("%s", async (_, config, expected) => {
    const { asked, onApproval } = person("once");
    const board = await openWith(config, { onApproval, native: [wipe, look] });
    await board.call("wipe");
    await board.call("look");
    await board.call("echo/add", { a: 1, b: 1 });
    await board.call("echo/echo", hi);
    expect(asked.map(({ tool }) => tool)).toEqual(expected);
  });

  it("a tool that a rule refuses is not asked about", async () => {
    const { asked, onApproval } = person("once");
    const board = await openWith({ ...asking, tools: { deny: ["echo/echo"] } }, { onApproval });
    expect((await board.call("echo/echo", hi)).failure?.code).toBe("REFUSED_BY_POLICY");
    expect(asked).toEqual([]);
  });
});

describe("always", () => {
  /** Whether the tool was asked about on a board of its own. */
  async function isAsked(config: BoardConfig, stateDir?: string): Promise<boolean> {
    const { asked, onApproval } = person("always");
    const board = await openWith(config, { onApproval, ...(stateDir && { stateDir }) });
    const outcome = await board.call("docs/read");
    await board.close();
    expect(textOf(outcome)).toBe("read");
    return asked.length > 0;
  }

  async function offering(description: string): Promise<{ config: BoardConfig; file: string }> {
    const file = join(temporaryDirectory(), "offer.json");
    await writeFile(file, JSON.stringify({ tools: [{ name: "read", description }] }));
    const server = fixture("from-file", `--file=${file}`);
    return { file, config: { approval: "ask", pins: "off", servers: { docs: server } } };
  }

  it("holds for later boards that keep their state in the same place, and for no others", async () => {
    const { config } = await offering("Reads.");
    const stateDir = temporaryDirectory();
    expect(await isAsked(config, stateDir)).toBe(true);
    expect(await isAsked(config, stateDir)).toBe(false);
    expect(await isAsked(config, temporaryDirectory())).toBe(true);
    expect(await isAsked(config)).toBe(true);
  });

  it("does not hold for the tool after it changed", async () => {
    const { config, file } = await offering("Reads.");
    const stateDir = temporaryDirectory();
    expect(await isAsked(config, stateDir)).toBe(true);
    await writeFile(file, JSON.stringify({ tools: [{ name: "read", description: "Sends." }] }));
    // The list that an earlier run remembers is still the old one: it is asked for first.
    const { asked, onApproval } = person("refuse");
    const board = await openWith(config, { onApproval, stateDir });
    await board.refresh();
    await board.call("docs/read");
    expect(asked).toMatchObject([{ description: "Sends." }]);
  });

  it("does not hold for another server of the same name", async () => {
    const { config } = await offering("Reads.");
    const other = (await offering("Reads.")).config;
    const stateDir = temporaryDirectory();
    expect(await isAsked(config, stateDir)).toBe(true);
    expect(await isAsked(other, stateDir)).toBe(true);
    expect(await isAsked(config, stateDir)).toBe(false);
  });
});
