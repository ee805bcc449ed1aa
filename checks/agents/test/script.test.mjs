import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedTurn, USE_BOTH } from "../lib/script.mjs";

const TOOLS = [{ name: "x_echo__echo" }, { name: "x_demo__convert_time" }];
const asked = [{ role: "user", text: `Context. ${USE_BOTH}` }];
const turn = (messages, tools, ...texts) =>
  scriptedTurn({ messages, tools, toolResults: texts.map((text) => ({ text })) });

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
