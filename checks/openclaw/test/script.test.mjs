import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { callPrompt, NO_CALL, scriptedTurn, WHAT_WAS_FIRST } from "../lib/script.mjs";

const user = (text) => ({ role: "user", text });
const tool = (text) => ({ role: "tool", text });
/** As OpenClaw writes it: with the time before it and the session after it. */
const prompted = (text) =>
  user(`[Mon 12:00 UTC] ${text}\n\nRuntime: agent=a | session=agent:a:s |`);
const notes = user("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnone");

const calls = [{ name: "a__echo", arguments: { text: "hi {" } }];
const call = prompted(callPrompt("a__echo", { text: "hi {" }));

describe("the scripted model", () => {
  const cases = [
    {
      it: "calls the tool that a prompt names",
      messages: [call, notes],
      turn: { toolCalls: calls },
    },
    {
      it: "tells what it was answered, whatever OpenClaw adds after that",
      messages: [call, tool("hi"), notes],
      turn: { text: "It said: hi" },
    },
    {
      it: "calls again if it is asked again",
      messages: [call, tool("hi"), call, notes],
      turn: { toolCalls: calls },
    },
    { it: "greets without a call", messages: [prompted(NO_CALL)], turn: { text: "Hello." } },
    {
      it: "takes the answer of another agent for no prompt",
      messages: [user(`${callPrompt("a__echo")}\nChild result`)],
      turn: { text: "Thank you." },
    },
    {
      it: "remembers the first prompt",
      messages: [notes, user("I am Ada."), user(WHAT_WAS_FIRST)],
      turn: { text: "You said: I am Ada." },
    },
  ];
  for (const { it: name, messages, turn } of cases) {
    it(name, () => assert.deepEqual(scriptedTurn({ messages }), turn));
  }
});
