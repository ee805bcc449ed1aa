import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scriptedTurn, USE_BOTH, WHAT_WAS_FIRST } from "../lib/script.mjs";

const user = (text) => ({ role: "user", text, toolCalls: [] });
const tools = [{ name: "mcp__files__read_text_file" }, { name: "mcp__web__echo" }];

describe("the scripted model", () => {
  it("asks for both tools, and then tells what they said", () => {
    const asked = { messages: [user(USE_BOTH)], tools, toolResults: [] };
    assert.deepEqual(
      scriptedTurn(asked).toolCalls.map(({ name }) => name),
      ["mcp__files__read_text_file", "mcp__web__echo"],
    );
    const messages = [...asked.messages, { role: "tool", text: "" }];
    const toolResults = [{ text: "a" }, { text: "b" }];
    assert.deepEqual(scriptedTurn({ messages, tools, toolResults }), {
      text: "They said: a and b",
    });
  });

  it("remembers what it was told, and nothing else", () => {
    const messages = [user("Hello"), user(WHAT_WAS_FIRST)];
    assert.deepEqual(scriptedTurn({ messages, tools, toolResults: [] }), {
      text: "You said: Hello",
    });
    assert.match(scriptedTurn({ messages: [user("Hm")], tools, toolResults: [] }).text, /nothing/);
  });
});
