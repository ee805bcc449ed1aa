// A call to a running gateway goes a shorter way. It must not be seen from outside.

import { beforeEach, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { eventually, startedProcesses } from "../../support/processes.ts";
import { type Running, useScratch } from "../harness.ts";

const scratch = useScratch();

let gateway: Running;

beforeEach(async () => {
  scratch.servers({
    echo: { ...fixture("echo"), approval: { default: "never", tools: { add: "ask" } } },
    hidden: { ...fixture("echo"), tools: { deny: ["echo"] } },
    own: { ...fixture("page"), scope: "session", enabled: false },
  });
  gateway = await scratch.up(["--log-level", "info"]);
  // Both servers run, so that what is printed does not depend on it.
  for (const server of ["echo", "hidden"]) await scratch.run(["tools", server]);
});

const CALLS: [what: string, words: string[], stdin?: string][] = [
  ["a result", ["echo/echo", "text=hi"]],
  ["as JSON", ["echo/echo", "text=hi", "--json"]],
  ["by its public name", ["mcp__echo__echo", "text=hi"]],
  ["arguments from stdin", ["echo/echo", "-"], '{"text": "typed"}'],
  ["approved", ["echo/add", "a=1", "b=2", "--yes"]],
  ["not approved", ["echo/add", "a=1", "b=2"]],
  ["not approved, as JSON", ["echo/add", "a=1", "b=2", "--json"]],
  ["refused by a rule", ["hidden/echo", "text=hi"]],
  ["an error of the tool", ["echo/fail", "text=x"]],
  ["a wrong argument", ["echo/echo", "txet=hi"]],
  ["a missing argument", ["echo/add", "a=1", "--yes"]],
  ["a wrong type, as JSON", ["echo/add", "a=one", "b=2", "--json"]],
  ["a tool that does not exist", ["echo/ehco", "text=hi"]],
  ["a server that does not exist", ["ehco/echo", "text=hi"]],
  ["a server that is like no other", ["zzzzzz/echo", "text=hi"]],
  ["with a dot", ["echo.ehco", "text=hi"]],
  ["a server and a tool that do not exist", ["ehco/zzzzzz", "text=hi"]],
  ["a tool of any server that does not exist", ["ehco", "text=hi"]],
  ["with a blank", ["echo", "echo", "text=hi"]],
  ["with a blank and a value", ["echo", "echo", "hi"]],
  ["with a blank, a tool that does not exist", ["echo", "ehco", "text=hi"]],
  ["a name of two tools", ["echo", "text=hi"]],
  ["too late", ["echo/sleep", "ms=60000", "--timeout", "100"]],
];

it("a call to a running gateway prints what any other call prints, and starts nothing", async () => {
  for (const [what, words, stdin = ""] of CALLS) {
    const before = startedProcesses().length;
    const attached = await scratch.run(["call", ...words], { stdin });
    expect(startedProcesses(), what).toHaveLength(before);
    const alone = await scratch.run(["--standalone", "call", ...words], { stdin });
    expect(attached, what).toEqual(alone);
  }
});

it("a call to a server or a tool that the gateway does not have attaches once", async () => {
  for (const name of ["ehco/echo", "echo/ehco"]) await scratch.run(["call", name]);
  const said = (line: string): number => gateway.stderr.text.split(line).length - 1;
  await eventually(() => said("command left: call") >= 2);
  expect(said("command attached: call")).toBe(2);
});
