import assert from "node:assert/strict";
import { test } from "node:test";
import { newerReleases } from "../lib/newer.mjs";
import { scriptedTurn, toolNames, USE_BOTH } from "../lib/script.mjs";

const TOOLS = [{ name: "x_echo__echo" }, { name: "x_demo__convert_time" }];
const asked = [{ role: "user", text: `Context. ${USE_BOTH}` }];
const turn = (messages, tools, ...texts) =>
  scriptedTurn({ messages, tools, toolResults: texts.map((text) => ({ name: "x", text })) });

test("calls one tool after the other, and tells what they said", () => {
  assert.equal(turn(asked, TOOLS).toolCalls[0].name, "x_echo__echo");
  assert.equal(turn(asked, TOOLS, "hello").toolCalls[0].name, "x_demo__convert_time");
  assert.equal(turn(asked, TOOLS, "hello", "16:00").text, "They said: hello and 16:00");
});

test("says which tool is missing", () => {
  assert.equal(turn(asked, [TOOLS[1]]).text, "There is no tool echo__echo.");
});

test("has nothing to say to an agent's own questions", () => {
  const nothing = { text: "I have nothing to say to that." };
  assert.deepEqual(turn(asked, []), nothing);
  assert.deepEqual(turn([{ role: "user", text: "Make a title." }], TOOLS), nothing);
});

test("looks for a tool whose schema the agent keeps back, and calls it then", () => {
  const tools = [{ name: "ToolSearch" }, { name: "Bash" }];
  const told = {
    role: "system",
    text: "The following deferred tools are now available via ToolSearch. Load them first:\nWebFetch\nx_echo__echo\n\nOther\nwords",
  };
  const messages = [...asked, told];
  assert.deepEqual(toolNames({ messages, tools }), [
    "ToolSearch",
    "Bash",
    "WebFetch",
    "x_echo__echo",
  ]);
  const after = (...toolResults) => scriptedTurn({ messages, tools, toolResults }).toolCalls?.[0];
  assert.deepEqual(after(), {
    name: "ToolSearch",
    arguments: { query: "select:x_echo__echo", max_results: 1 },
  });
  const found = { name: "ToolSearch", text: "", content: [{ tool_name: "x_echo__echo" }] };
  assert.deepEqual(after(found), { name: "x_echo__echo", arguments: { text: "hello" } });
  const nothing = { name: "ToolSearch", text: "No matches" };
  assert.deepEqual(after(nothing)?.name, "ToolSearch");
  assert.equal(after(nothing, nothing, nothing), undefined);
});

test("says which agents have a newer release", () => {
  assert.equal(newerReleases(() => undefined).length, 5);
  const lines = newerReleases((name) => (name === "opencode-ai" ? "99.0.0" : undefined));
  assert.match(
    lines.join("\n"),
    /OpenCode: 99\.0\.0 is the newest release, and \d+\.\d+\.\d+ is tested/,
  );
});
