// A server that asks during `plugboard call`, and the person at the terminal.

import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const FORM = {
  method: "elicitation/create",
  params: {
    message: "Who are\u001b[31m you?",
    requestedSchema: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 2 },
        size: { type: "integer", default: 3 },
        sure: { type: "boolean" },
      },
      required: ["name"],
    },
  },
};
const URL = "https://example.com/a?b=1";
const PAGE = {
  method: "elicitation/create",
  params: { mode: "url", message: "Sign here", url: URL, elicitationId: "e1" },
};

/** Calls a tool at a terminal where somebody types these lines, each after its prompt. */
async function call(tool: string, args: object, lines: [prompt: string, line: string][], env = {}) {
  scratch.servers({ s: fixture("asks") });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Sink({ columns: 100 });
  const running = scratch.start(["call", `s/${tool}`, JSON.stringify(args)], {
    stdin,
    stderr,
    env: { CI: "1", ...env },
  });
  let seen = 0;
  for (const [prompt, line] of lines) {
    while (!stderr.text.slice(seen).includes(prompt)) {
      await new Promise((resolve) => stderr.once("said", resolve));
    }
    seen = stderr.text.length;
    stdin.write(`${line}\n`);
  }
  return running.done;
}

describe("a form", () => {
  it("is filled in field by field", async () => {
    const { code, stdout, stderr } = await call("ask", FORM, [
      ["name *", "A"],
      ["is shorter than 2", "Ada"],
      ["size", ""],
      ["sure", "y"],
      ["Send it to s?", ""],
    ]);
    expect(stderr).toContain("s asks during ask: Who are you?");
    expect(stderr).toContain("do not enter passwords");
    expect(stderr).toContain("name is shorter than 2");
    expect(JSON.parse(stdout)).toEqual({
      action: "accept",
      content: { name: "Ada", size: 3, sure: true },
    });
    expect(code).toBe(0);
  });

  it.each<[string, [string, string][], string]>([
    ["cancelled with -", [["name *", "-"]], "cancel"],
    [
      "left after three empty lines",
      [
        ["name *", ""],
        ["is required", ""],
        ["is required", ""],
      ],
      "cancel",
    ],
    [
      "not sent",
      [
        ["name *", "Ada"],
        ["size", ""],
        ["sure", ""],
        ["Send it", "n"],
      ],
      "decline",
    ],
  ])("may be %s", async (_, lines, action) => {
    const { stdout } = await call("ask", FORM, lines);
    expect(JSON.parse(stdout)).toEqual({ action });
  });

  it("without fields is a yes-or-no question", async () => {
    const params = { message: "Go on?", requestedSchema: { type: "object", properties: {} } };
    const args = { method: "elicitation/create", params };
    const { stdout, stderr } = await call("ask", args, [["Send it", "y"]]);
    expect(JSON.parse(stdout)).toEqual({ action: "accept", content: {} });
    expect(stderr).not.toContain("is required");
  });
});

describe("a page", () => {
  it.each<[string, string, string, string]>([
    ["opened in the browser", "y", "accept", "true"],
    ["opened in a browser that cannot be started", "y", "accept", "/no/such/browser"],
    ["opened by the person", "m", "accept", "/no/such/browser"],
    ["not opened", "", "decline", "true"],
  ])("is shown in full, and may be %s", async (what, line, action, BROWSER) => {
    const { stdout, stderr } = await call("ask", PAGE, [["Open it?", line]], { BROWSER });
    expect(stderr).toContain(`  ${URL}\n`);
    expect(JSON.parse(stdout)).toEqual({ action });
    expect(stderr.includes("Could not start a browser")).toBe(what.includes("cannot"));
  });

  it.each<[string, object, [string, string][], number, string]>([
    [
      "Enter",
      {},
      [
        ["Open it?", "m"],
        ["Press Enter", ""],
      ],
      0,
      "let in",
    ],
    ["the server", { complete: "e1" }, [["Open it?", "m"]], 0, "let in"],
    [
      "- for never",
      {},
      [
        ["Open it?", "m"],
        ["Press Enter", "-"],
      ],
      1,
      "",
    ],
  ])("that a call needs is awaited until %s", async (_, more, lines, code, text) => {
    const args = { key: "k", elicitations: [PAGE.params], ...more };
    const outcome = await call("requirePage", args, lines);
    expect(outcome.stdout.trim()).toBe(text);
    expect(outcome.code).toBe(code);
  });
});

describe("no question is asked", () => {
  it("where there is no terminal", async () => {
    scratch.servers({ s: fixture("asks") });
    const { stdout } = await scratch.run(["call", "s/ask", JSON.stringify(FORM)]);
    expect(JSON.parse(stdout)).toMatchObject({ code: -32601 });
  });

  it("where the arguments were read from stdin", async () => {
    scratch.servers({ s: fixture("asks") });
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.end(JSON.stringify(FORM));
    const { stdout } = await scratch.run(["call", "s/ask", "-"], {
      stdin,
      stderr: new Sink({ columns: 100 }),
    });
    expect(JSON.parse(stdout)).toEqual({ action: "cancel" });
  });

  it("after the command was interrupted", async () => {
    scratch.servers({ s: fixture("asks") });
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new Sink({ columns: 100 });
    const running = scratch.start(["call", "s/ask", JSON.stringify(FORM)], { stdin, stderr });
    await stderr.until("name *");
    running.events.emit("SIGINT");
    expect((await running.done).code).toBe(130);
  });
});

it("servers are told the directory as their root where the configuration says so", async () => {
  scratch.servers({ s: { ...fixture("asks"), roots: true } });
  const { stdout } = await scratch.run(["call", "s/ask", "method=roots/list", "params={}"]);
  expect(stdout).toContain(scratch.directory);
});
